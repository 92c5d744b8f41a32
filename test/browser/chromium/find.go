// SPDX-License-Identifier: Apache-2.0

package chromium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const (
	// Variable is the environment variable with the path of the browser.
	Variable = "CHROMIUM"
	// Found is the value of Variable with which the tests use Chromium or Google Chrome of this machine.
	Found = "found"
	// None is the value of Variable with which `make test` leaves the browser tests out.
	None = "none"
)

var (
	// ErrNone means that no browser was found.
	ErrNone = errors.New("no Chromium in bin/browser: run `make browser`, which fetches Debian's without installing it; or use Chromium or Google " +
		"Chrome of this machine with " + Variable + "=" + Found + ", or another one with " + Variable + "=path; `make test " + Variable + "=" + None +
		"` leaves the browser tests out")
	// errNoneFound means that this machine has no browser.
	errNoneFound = errors.New(Variable + "=" + Found + ": this machine has no Chromium or Google Chrome: install one, name it with " + Variable +
		"=path, or leave the variable empty, so that Debian's is fetched")
	// ErrLeftOut means that the variable is None.
	ErrLeftOut = errors.New(Variable + "=" + None + " leaves the browser tests out")
)

// usual are the names under which Chromium and Google Chrome are installed, and their paths where no PATH has them.
var usual = []string{
	"chromium", "chromium-browser", "chromium-headless-shell", "chrome-headless-shell", "headless-shell", "google-chrome", "google-chrome-stable",
	"/usr/lib/chromium/chromium", "/opt/google/chrome/chrome", "/headless-shell/headless-shell",
	"/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// versionTimeout is how long a browser may take to print its version on a loaded machine.
const versionTimeout = time.Minute

// versionPattern matches the version of a browser in the line that it prints.
var versionPattern = regexp.MustCompile(`\d+\.\d+\.\d+`)

// Browser is a browser that has told its version.
type Browser struct {
	Path    string // absolute
	Version string // as it prints it
	Source  string // why it was chosen, for messages
}

// Find returns the browser for tests in the checkout with this root: the one in bin/browser, which is of the same kind on every machine, unless
// $CHROMIUM names another one or asks for that of this machine. The error wraps ErrNone or ErrLeftOut.
func Find(ctx context.Context, root string) (Browser, error) {
	switch named := os.Getenv(Variable); named {
	case "":
	case None:
		return Browser{}, ErrLeftOut
	case Found:
		return found(ctx)
	default:
		browser, err := try(ctx, named)
		if err != nil {
			return Browser{}, fmt.Errorf("$%s: %w", Variable, err)
		}
		browser.Source = "$" + Variable
		return browser, nil
	}
	browser, err := fetched(ctx, root)
	if err != nil {
		return Browser{}, fmt.Errorf("%w (%w)", ErrNone, err)
	}
	return browser, nil
}

// found returns the first browser of this machine that works. The error says why others do not count.
func found(ctx context.Context) (Browser, error) {
	var skipped []error
	for _, name := range usual {
		browser, err := try(ctx, name)
		if err == nil {
			browser.Source = "found on this machine"
			return browser, nil
		}
		if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, os.ErrNotExist) {
			skipped = append(skipped, err)
		}
	}
	return Browser{}, errors.Join(append([]error{errNoneFound}, skipped...)...)
}

// fetched returns the browser in bin/browser.
func fetched(ctx context.Context, root string) (Browser, error) {
	browser, err := try(ctx, startScript(directory(root)))
	if err == nil {
		err = checkFiles(directory(root))
	}
	if err != nil {
		return Browser{}, err
	}
	browser.Source = "fetched by make browser"
	return browser, nil
}

// directory returns where a checkout has the browser that was fetched.
func directory(root string) string { return filepath.Join(root, "bin", "browser") }

// startScript returns the path of the script that starts the browser that was fetched into a directory.
func startScript(directory string) string { return filepath.Join(directory, "chromium") }

// try returns the browser with a name or a path if it prints its version. Other programs have these names too, for example one that only says
// how to install Chromium.
func try(ctx context.Context, name string) (Browser, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return Browser{}, fmt.Errorf("looking for a browser: %w", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return Browser{}, fmt.Errorf("looking for a browser: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	var warnings strings.Builder // of the script that starts it
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Stderr = &warnings
	output, err := cmd.Output()
	line := strings.TrimSpace(string(output))
	if err != nil {
		return Browser{}, fmt.Errorf("%s --version: %w: %s", path, err, strings.TrimSpace(line+" "+warnings.String()))
	}
	if !versionPattern.MatchString(line) {
		return Browser{}, fmt.Errorf("%s --version prints no version: %q", path, line)
	}
	return Browser{Path: path, Version: line}, nil
}
