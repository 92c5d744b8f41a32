// SPDX-License-Identifier: Apache-2.0

package chromium

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// machine is a directory in which the programs of a machine are, and the root of a checkout.
type machine struct {
	t          *testing.T
	path, root string
}

// newMachine returns a machine without a browser that has a shell, and nothing of the machine on which the test runs.
func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, path: t.TempDir(), root: t.TempDir()}
	before := usual
	usual = []string{"chromium", "google-chrome"}
	t.Cleanup(func() { usual = before })
	t.Setenv(Variable, "")
	t.Setenv("PATH", m.path)
	return m
}

// add adds a program that is a shell script.
func (m *machine) add(name, script string) string {
	m.t.Helper()
	path := filepath.Join(m.path, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+script), 0o755); err != nil {
		m.t.Fatal(err)
	}
	return path
}

func version(text string) string { return "echo '" + text + "'\n" }

func TestFindPrefersTheNamedBrowser(t *testing.T) {
	m := newMachine(t)
	m.add("chromium", version("Chromium 150.0.1.2"))
	named := m.add("another", version("Google Chrome for Testing 151.0.1.2"))
	t.Setenv(Variable, named)
	found, err := Find(t.Context(), m.root)
	if want := (Browser{Path: named, Version: "Google Chrome for Testing 151.0.1.2", Source: "$CHROMIUM"}); err != nil || found != want {
		t.Errorf("found %+v, %v; want %+v", found, err, want)
	}
}

func TestFindFailsForANamedBrowserThatDoesNotWork(t *testing.T) {
	m := newMachine(t)
	m.add("chromium", version("Chromium 150.0.1.2"))
	for reason, named := range map[string]string{
		"no such file":            "/no/such/browser",
		"it fails":                m.add("failing", "echo cannot open shared object file; exit 127\n"),
		"it is something else":    m.add("firefox", "echo a page was opened\n"),
		"a directory":             m.path,
		"a path that is relative": "chromium/chromium",
	} {
		t.Run(reason, func(t *testing.T) {
			t.Setenv(Variable, named)
			found, err := Find(t.Context(), m.root)
			if err == nil || !strings.HasPrefix(err.Error(), "$CHROMIUM: ") || !strings.Contains(err.Error(), named) {
				t.Errorf("found %+v, %v", found, err)
			}
			if errors.Is(err, ErrNone) {
				t.Error("another browser would be fetched instead of the named one")
			}
		})
	}
}

func TestFoundSkipsProgramsThatOnlyHaveTheName(t *testing.T) {
	m := newMachine(t)
	t.Setenv(Variable, Found)
	m.add("chromium", "echo 'Command requires the chromium snap to be installed.' >&2; exit 1\n")
	if _, err := Find(t.Context(), m.root); err == nil || errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "leave the variable empty") ||
		!strings.Contains(err.Error(), "requires the chromium snap") {
		t.Errorf("without a browser that works: %v", err)
	}
	want := m.add("google-chrome", "echo 'a warning of the script' >&2\n"+version("Google Chrome 150.0.1.2"))
	found, err := Find(t.Context(), m.root)
	if err != nil || found != (Browser{Path: want, Version: "Google Chrome 150.0.1.2", Source: "found on this machine"}) {
		t.Errorf("found %+v, %v; want %s", found, err, want)
	}
}

// A browser that the machine happens to have does not decide about the tests.
func TestFindUsesNoBrowserThatNobodyAskedFor(t *testing.T) {
	m := newMachine(t)
	m.add("chromium", version("Chromium 150.0.1.2"))
	m.add("google-chrome", version("Google Chrome 150.0.1.2"))
	_, err := Find(t.Context(), m.root)
	if !errors.Is(err, ErrNone) {
		t.Fatalf("error %v", err)
	}
	for _, part := range []string{"make browser", "CHROMIUM=found", "CHROMIUM=path", "make test CHROMIUM=none"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not contain %q: %v", part, err)
		}
	}
	m.addApt()
	if found, err := Ensure(t.Context(), m.root, io.Discard); err != nil || found.Source != "fetched by make browser" {
		t.Errorf("found %+v, %v", found, err)
	}
	if found, err := Find(t.Context(), m.root); err != nil || found.Source != "fetched by make browser" {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestNoneLeavesTheTestsOut(t *testing.T) {
	m := newMachine(t)
	m.add("chromium", version("Chromium 150.0.1.2"))
	t.Setenv(Variable, None)
	for name, find := range map[string]func() (Browser, error){
		"find":   func() (Browser, error) { return Find(t.Context(), m.root) },
		"ensure": func() (Browser, error) { return Ensure(t.Context(), m.root, io.Discard) },
	} {
		if found, err := find(); !errors.Is(err, ErrLeftOut) {
			t.Errorf("%s: found %+v, %v", name, found, err)
		}
	}
}

// addApt adds apt-get, which downloads two packages, and dpkg-deb, which unpacks a browser and a library. Each writes its arguments to a file.
func (m *machine) addApt() {
	m.t.Helper()
	m.add("apt-get", `echo "$@" >> `+m.path+`/calls
for argument; do case $argument in --option=Dir::Cache=*) cache=${argument##*=} ;; update) exit 0 ;; esac; done
: > "$cache/archives/chromium-headless-shell_150_amd64.deb"
: > "$cache/archives/libnew1_1_amd64.deb"
`)
	m.add("dpkg-deb", `echo "$@" >> `+m.path+`/calls
case $2 in
*libnew1*)
	mkdir -p "$3/usr/lib/machine/deeper"
	: > "$3/usr/lib/machine/libnew.so.1"
	: > "$3/usr/lib/machine/deeper/libdeep-2.so" ;;
*)
	mkdir -p "$3/usr/lib/chromium"
	: > "$3/usr/lib/chromium/libEGL.so"
	: > "$3/`+data+`"
	printf '#!/bin/sh\necho "Chromium 150.0.1.2 with $LD_LIBRARY_PATH and $FONTCONFIG_FILE"\n' > "$3/`+program+`"
	chmod 755 "$3/`+program+`" ;;
esac
`)
}

func (m *machine) calls() []string {
	m.t.Helper()
	content, err := os.ReadFile(filepath.Join(m.path, "calls"))
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

// left returns what is in bin/.
func (m *machine) left() []string {
	m.t.Helper()
	entries, err := os.ReadDir(filepath.Join(m.root, "bin"))
	if err != nil {
		m.t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestFetchUnpacksWithoutInstalling(t *testing.T) {
	m := newMachine(t)
	m.addApt()
	t.Setenv("LD_LIBRARY_PATH", "/other")
	found, err := Ensure(t.Context(), m.root, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	browser := filepath.Join(m.root, "bin", "browser")
	libraries := filepath.Join(browser, "root", "usr", "lib", "machine")
	want := Browser{
		Path: filepath.Join(browser, "chromium"), Source: "fetched by make browser",
		Version: fmt.Sprintf("Chromium 150.0.1.2 with %s:%s:/other and %s", libraries, filepath.Join(libraries, "deeper"),
			filepath.Join(browser, "fonts.conf")),
	}
	if found != want {
		t.Errorf("fetched %+v, want %+v", found, want)
	}
	if left := m.left(); len(left) != 2 || left[0] != "browser" || left[1] != "browser.lock" {
		t.Errorf("in bin/: %q", left)
	}
	calls := m.calls()
	if len(calls) != 4 {
		t.Fatalf("calls: %q", calls)
	}
	for _, call := range calls[:2] {
		for _, option := range []string{"Dir::State=" + m.root, "Dir::Cache=" + m.root, "Debug::NoLocking=true", "APT::Sandbox::User= "} {
			if !strings.Contains(call, option) {
				t.Errorf("apt-get would change the machine, or need its rights: no %s in %s", option, call)
			}
		}
	}
	if !strings.Contains(calls[1], "install --yes --download-only --reinstall --no-install-recommends chromium-headless-shell chromium-common ") {
		t.Errorf("call: %s", calls[1])
	}

	// The next run finds it, also where the checkout has been moved.
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(m.root, moved); err != nil {
		t.Fatal(err)
	}
	again, err := Ensure(t.Context(), moved, io.Discard)
	if err != nil || again.Path != filepath.Join(moved, "bin", "browser", "chromium") || len(m.calls()) != 4 {
		t.Errorf("found %+v, %v; calls: %q", again, err, m.calls())
	}
}

func TestFetchIsSerialised(t *testing.T) {
	m := newMachine(t)
	m.addApt()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := Fetch(t.Context(), m.root, io.Discard); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if calls := m.calls(); len(calls) != 4 {
		t.Errorf("more than one has fetched: %q", calls)
	}
}

// A machine that has Debian's chromium has a part of the packages. What an earlier version fetched there starts, and opens no page.
func TestFetchReplacesWhatIsIncomplete(t *testing.T) {
	m := newMachine(t)
	m.addApt()
	if _, err := Ensure(t.Context(), m.root, io.Discard); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(m.root, "bin", "browser", "root", filepath.FromSlash(data))
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if found, err := Find(t.Context(), m.root); !errors.Is(err, ErrNone) {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, err := Ensure(t.Context(), m.root, io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestFetchReplacesWhatDoesNotWork(t *testing.T) {
	m := newMachine(t)
	m.addApt()
	broken := filepath.Join(m.root, "bin", "browser", "root", "broken")
	if err := os.MkdirAll(broken, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Ensure(t.Context(), m.root, io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(broken); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what did not work is still there: %v", err)
	}
}

func TestFetchSaysWhatToDoWhenItFails(t *testing.T) {
	for _, c := range []struct {
		reason string
		spoil  func(m *machine)
		want   string
	}{
		{"another system than Debian", func(*machine) {}, `"apt-get": executable file not found`},
		{"no network", func(m *machine) {
			m.addApt()
			m.add("apt-get", "echo 'E: Could not connect'; exit 100\n")
		}, "apt-get: exit status 100: E: Could not connect"},
		{"a package that changed", func(m *machine) {
			m.addApt()
			m.add("dpkg-deb", "exit 0\n")
		}, "no browser where it is expected"},
		{"a package without the data of the browser", func(m *machine) {
			m.addApt()
			m.add("dpkg-deb", `mkdir -p "$3/usr/lib/chromium"; : > "$3/`+program+`"`)
		}, "icudtl.dat: no such file"},
		{"an archive that is broken", func(m *machine) {
			m.addApt()
			m.add("dpkg-deb", "echo 'not a Debian format archive'; exit 2\n")
		}, "not a Debian format archive"},
		{"a library that is missing", func(m *machine) {
			m.addApt()
			m.add("dpkg-deb", `mkdir -p "$3/usr/lib/chromium"; : > "$3/`+data+`"
printf '#!/bin/sh\necho libnss3.so: cannot open shared object file; exit 127\n' > "$3/`+program+`"; chmod 755 "$3/`+program+`"`)
		}, "libnss3.so: cannot open"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			m := newMachine(t)
			c.spoil(m)
			_, err := Ensure(t.Context(), m.root, io.Discard)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range []string{c.want, "CHROMIUM=found", "CHROMIUM=path", "make test CHROMIUM=none"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error does not contain %q: %v", part, err)
				}
			}
			if left := m.left(); len(left) != 1 || left[0] != "browser.lock" {
				t.Errorf("left in bin/: %q", left)
			}
		})
	}
}
