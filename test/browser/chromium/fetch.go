// SPDX-License-Identifier: Apache-2.0

package chromium

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// packages are what is fetched, also where this machine has some of them, with all that they depend on and this machine lacks. The first two share a
// directory, in which the browser looks for its files.
var packages = []string{"chromium-headless-shell", "chromium-common", "fonts-dejavu-core"}

const (
	// program is the browser in the packages.
	program = "usr/lib/chromium/chromium-headless-shell"
	// data is the file of chromium-common without which the browser prints its version, but opens no page.
	data = "usr/lib/chromium/icudtl.dat"
)

// errCannotFetch begins the errors of Fetch, which say what else there is to do.
const errCannotFetch = "fetching Debian's chromium-headless-shell: %w; use Chromium or Google Chrome of this machine with " + Variable + "=" + Found +
	", name one with " + Variable + "=path, or leave the browser tests out: make test " + Variable + "=" + None

// Ensure returns the browser that Find finds, and fetches one before if there is none.
func Ensure(ctx context.Context, root string, out io.Writer) (Browser, error) {
	found, err := Find(ctx, root)
	if !errors.Is(err, ErrNone) {
		return found, err
	}
	return Fetch(ctx, root, out)
}

// Fetch fetches a browser into bin/browser of the checkout, unless one that works is there. A lock serialises processes that fetch.
func Fetch(ctx context.Context, root string, out io.Writer) (browser Browser, err error) {
	target := directory(root)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return Browser{}, fmt.Errorf(errCannotFetch, err)
	}
	unlock, err := lock(ctx, target+".lock", out)
	if err != nil {
		return Browser{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if browser, err := fetched(ctx, root); err == nil {
		return browser, nil // Another process has fetched it, or it was here before.
	}
	for _, name := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(name); err != nil {
			return Browser{}, fmt.Errorf(errCannotFetch, err)
		}
	}
	temporary, err := os.MkdirTemp(filepath.Dir(target), ".browser-")
	if err != nil {
		return Browser{}, fmt.Errorf(errCannotFetch, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	fmt.Fprintln(out, "fetching Debian's chromium-headless-shell with the libraries that this machine lacks (100 MB, 300 MB unpacked)")
	unpacked, err := unpack(ctx, temporary, out)
	if err != nil {
		return Browser{}, fmt.Errorf(errCannotFetch, err)
	}
	if _, err := try(ctx, startScript(unpacked)); err != nil {
		return Browser{}, fmt.Errorf(errCannotFetch, err)
	}
	if err := errors.Join(os.RemoveAll(target), os.Rename(unpacked, target)); err != nil {
		return Browser{}, fmt.Errorf(errCannotFetch, err)
	}
	return fetched(ctx, root)
}

// unpack downloads the packages and unpacks them into a directory below the given one, which it returns.
func unpack(ctx context.Context, temporary string, out io.Writer) (unpacked string, err error) {
	archives, err := download(ctx, filepath.Join(temporary, "apt"), out)
	if err != nil {
		return "", err
	}
	unpacked = filepath.Join(temporary, "browser")
	root := filepath.Join(unpacked, "root")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	for _, archive := range archives {
		if err := run(ctx, out, "dpkg-deb", "-x", archive, root); err != nil {
			return "", err
		}
	}
	if err := checkFiles(unpacked); err != nil {
		return "", err
	}
	libraries, err := libraryDirectories(root)
	if err != nil {
		return "", err
	}
	return unpacked, errors.Join(
		os.WriteFile(startScript(unpacked), script(libraries), 0o755),
		os.WriteFile(filepath.Join(unpacked, fontsName), []byte(fonts), 0o644),
	)
}

// checkFiles returns an error if a directory does not have what the browser needs from its packages.
func checkFiles(directory string) error {
	for _, file := range []string{program, data} {
		if _, err := os.Stat(filepath.Join(directory, "root", filepath.FromSlash(file))); err != nil {
			return fmt.Errorf("the packages have no browser where it is expected: %w", err)
		}
	}
	return nil
}

// download downloads the packages with all that they depend on and this machine lacks, and returns the paths of their archives. The lists of
// packages and the archives are in a directory of their own: those of the machine may be empty or old, and belong to root.
func download(ctx context.Context, directory string, out io.Writer) ([]string, error) {
	archives := filepath.Join(directory, "cache", "archives")
	for _, partial := range []string{filepath.Join(directory, "state", "lists"), archives} {
		if err := os.MkdirAll(filepath.Join(partial, "partial"), 0o755); err != nil {
			return nil, err
		}
	}
	options := aptOptions(directory)
	if err := run(ctx, out, "apt-get", append(slices.Clone(options), "update")...); err != nil {
		return nil, err
	}
	install := slices.Concat(options, []string{"install", "--yes", "--download-only", "--reinstall", "--no-install-recommends"}, packages)
	if err := run(ctx, out, "apt-get", install...); err != nil {
		return nil, err
	}
	found, err := filepath.Glob(filepath.Join(archives, "*.deb"))
	if err == nil && len(found) == 0 {
		err = errors.New("apt-get has downloaded nothing")
	}
	return found, err
}

// aptOptions returns the options with which apt-get works below a directory, for everybody. It reads which packages are installed, and asks for
// the lists of packages alone.
func aptOptions(directory string) []string {
	return []string{
		"--quiet",
		"--option=Dir::State=" + filepath.Join(directory, "state"),
		"--option=Dir::State::status=/var/lib/dpkg/status",
		"--option=Dir::Cache=" + filepath.Join(directory, "cache"),
		"--option=Debug::NoLocking=true",
		"--option=APT::Sandbox::User=",
		"--option=Acquire::Languages=none",
		"--option=Acquire::Retries=3",
		"--option=Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
	}
}

// run runs a command. The error has the end of what it has printed.
func run(ctx context.Context, out io.Writer, name string, arguments ...string) error {
	var output strings.Builder
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	cmd.Stdout = io.MultiWriter(out, &output)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(output.String()), "\n")
		return fmt.Errorf("%s: %w: %s", name, err, strings.Join(lines[max(0, len(lines)-3):], "; "))
	}
	return nil
}

// libraryDirectories returns the directories below root with shared libraries, except that of the browser, sorted.
func libraryDirectories(root string) ([]string, error) {
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(entry.Name(), ".so") {
			return err
		}
		relative := strings.TrimPrefix(filepath.Dir(path), root+string(filepath.Separator))
		if slash := filepath.ToSlash(relative); strings.Contains(slash, "lib") && !strings.HasPrefix(program, slash+"/") {
			found[slash] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for libraries: %w", err)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// script returns the script that starts the browser with the libraries and fonts beside it, wherever the checkout is.
func script(libraries []string) []byte {
	paths := make([]string, 0, len(libraries))
	for _, library := range libraries {
		paths = append(paths, "$here/root/"+library)
	}
	return []byte(`#!/bin/sh
# Starts the browser that make browser has fetched, with the libraries and fonts beside it.
here=$(CDPATH='' cd -- "${0%/*}" && pwd) || exit 1
LD_LIBRARY_PATH="` + strings.Join(paths, ":") + `${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
FONTCONFIG_FILE=$here/` + fontsName + `
export LD_LIBRARY_PATH FONTCONFIG_FILE
exec "$here/root/` + program + `" "$@"
`)
}

// fontsName is the name of the configuration of fonts beside the script.
const fontsName = "fonts.conf"

// fonts is the configuration of fonts: those of the machine, and those that were unpacked.
const fonts = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir>/usr/local/share/fonts</dir>
  <dir prefix="relative">root/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`
