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
	// None is the value of Variable with which `make test` leaves the browser tests out.
	None = "none"
)

var (
	// ErrNone means that no browser was found.
	ErrNone = errors.New("no Chromium found: run `make browser` (it fetches Debian's, without installing it), install Chromium or Google Chrome, " +
		"or name one with " + Variable + "=path; `make test " + Variable + "=none` leaves the browser tests out")
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

// Find returns the browser for tests in the checkout with this root: the one that $CHROMIUM names, the first of this machine that works, or the
// one in bin/browser. The error wraps ErrNone, with the places and why none counts, or ErrLeftOut.
func Find(ctx context.Context, root string) (Browser, error) {
	switch named := os.Getenv(Variable); named {
	case "":
	case None:
		return Browser{}, ErrLeftOut
	default:
		browser, err := try(ctx, named)
		if err != nil {
			return Browser{}, fmt.Errorf("$%s: %w", Variable, err)
		}
		browser.Source = "$" + Variable
		return browser, nil
	}
	var skipped []string
	for _, name := range usual {
		browser, err := try(ctx, name)
		if err == nil {
			browser.Source = "found on this machine"
			return browser, nil
		}
		if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, os.ErrNotExist) {
			skipped = append(skipped, err.Error())
		}
	}
	browser, err := fetched(ctx, root)
	if err == nil {
		return browser, nil
	}
	skipped = append(skipped, err.Error())
	return Browser{}, fmt.Errorf("%w (%s)", ErrNone, strings.Join(skipped, "; "))
}

// fetched returns the browser in bin/browser.
func fetched(ctx context.Context, root string) (Browser, error) {
	browser, err := try(ctx, startScript(directory(root)))
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
	output, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	line := strings.TrimSpace(string(output))
	if err != nil {
		return Browser{}, fmt.Errorf("%s --version: %w: %s", path, err, line)
	}
	if !versionPattern.MatchString(line) {
		return Browser{}, fmt.Errorf("%s --version prints no version: %q", path, line)
	}
	return Browser{Path: path, Version: line}, nil
}
