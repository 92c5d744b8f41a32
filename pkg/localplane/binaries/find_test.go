// SPDX-License-Identifier: Apache-2.0

package binaries

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func writeFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func writeBinary(t *testing.T, directory, name string) {
	t.Helper()
	writeFile(t, filepath.Join(directory, name), "", 0o755)
}

// places are the directories of a fictitious machine.
type fakePlaces struct{ checkout, variable, store string }

// setPlaces creates a checkout as the working directory, an empty store and an empty directory for the variable.
func setPlaces(t *testing.T) fakePlaces {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := fakePlaces{checkout: filepath.Join(root, "checkout"), variable: filepath.Join(root, "assets")}
	writeFile(t, filepath.Join(p.checkout, "go.mod"), "module "+modulePath+"\n", 0o644)
	writeFile(t, filepath.Join(p.checkout, "test", "controlplane", "go.mod"),
		"module "+modulePath+"/test/controlplane\nrequire (\n\tk8s.io/kubernetes v1.37.0\n\tgo.etcd.io/etcd/server/v3 v3.7.0\n)\n", 0o644)
	t.Setenv("HOME", filepath.Join(root, "home"))
	t.Setenv("XDG_DATA_HOME", filepath.Join(root, "share"))
	t.Setenv("LocalAppData", filepath.Join(root, "local"))
	p.store = storeDirectory()
	t.Setenv(AssetsVariable, p.variable)
	// The search for the root must not stop at a nested module.
	t.Chdir(filepath.Join(p.checkout, "test", "controlplane"))
	return p
}

func (p fakePlaces) stored(version string) string {
	return filepath.Join(p.store, version+"-"+runtime.GOOS+"-"+runtime.GOARCH)
}

func (p fakePlaces) built() string { return filepath.Join(p.checkout, "bin", "controlplane") }

func (p fakePlaces) stamp(t *testing.T, pins Pins) {
	t.Helper()
	writeFile(t, filepath.Join(p.built(), StampFile), pins.Stamp(), 0o644)
}

func pins(kubernetes, etcd string) Pins {
	return Pins{{Name: "kubernetes", Version: kubernetes}, {Name: "etcd", Version: etcd}}
}

func TestFindStored(t *testing.T) {
	pinned := pins("v1.37.0", "v3.7.0")
	server := []string{Etcd, APIServer}
	all := append([]string{ControllerManager, Scheduler, Kubectl}, server...)
	cases := []struct {
		reason   string
		binaries func(fakePlaces) map[string][]string
		stamp    Pins
		want     func(fakePlaces) (directory, controllerManager string)
	}{
		{
			reason: "the variable comes first",
			binaries: func(p fakePlaces) map[string][]string {
				return map[string][]string{p.variable: all, p.stored("1.37.0"): all, p.built(): all}
			},
			stamp: pinned,
			want:  func(p fakePlaces) (string, string) { return p.variable, p.variable },
		},
		{
			reason: "a directory without etcd does not count; of the store the newest usable version does",
			binaries: func(p fakePlaces) map[string][]string {
				return map[string][]string{
					p.variable: {APIServer}, p.stored("1.40.0"): {Etcd}, p.stored("1.9.0"): all, p.stored("1.36.0"): all,
					p.stored("1.36.10"): all, filepath.Join(p.store, "1.38.0-plan9-mips"): all, p.built(): all,
				}
			},
			stamp: pinned,
			want:  func(p fakePlaces) (string, string) { return p.stored("1.36.10"), p.stored("1.36.10") },
		},
		{
			reason: "the store's other versions do not complete the chosen one, the build does",
			binaries: func(p fakePlaces) map[string][]string {
				return map[string][]string{p.stored("1.36.0"): server, p.stored("1.35.0"): all, p.built(): {ControllerManager, Scheduler}}
			},
			stamp: pinned,
			want:  func(p fakePlaces) (string, string) { return p.stored("1.36.0"), p.built() },
		},
		{
			reason:   "the build comes last, and may lack the controller manager",
			binaries: func(p fakePlaces) map[string][]string { return map[string][]string{p.built(): server} },
			stamp:    pinned,
			want:     func(p fakePlaces) (string, string) { return p.built(), "" },
		},
		{
			reason:   "a build of other versions does not count",
			binaries: func(p fakePlaces) map[string][]string { return map[string][]string{p.built(): all} },
			stamp:    pins("v1.36.0", "v3.7.0"),
		},
		{
			reason:   "a store too old for the admission policies does not count",
			binaries: func(p fakePlaces) map[string][]string { return map[string][]string{p.stored("1.29.5"): all} },
			stamp:    pinned,
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			p := setPlaces(t)
			p.stamp(t, c.stamp)
			for directory, names := range c.binaries(p) {
				for _, name := range names {
					writeBinary(t, directory, name)
				}
			}
			got, err := FindStored()
			if c.want == nil {
				if !errors.Is(err, ErrNoAssets) || !strings.Contains(err.Error(), "make assets") {
					t.Fatalf("got %+v, %v, want ErrNoAssets with the way out", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			directory, controllerManager := c.want(p)
			want := Assets{
				Etcd: filepath.Join(directory, Etcd), APIServer: filepath.Join(directory, APIServer),
				Dir: directory, Source: got.Source, Skipped: got.Skipped, Kubectl: got.Kubectl,
			}
			if controllerManager != "" {
				want.ControllerManager = filepath.Join(controllerManager, ControllerManager)
				want.Scheduler = filepath.Join(controllerManager, Scheduler)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The store of setup-envtest may have any version. Tests run on the pinned one, unless the variable names another.
func TestFindUsesNoStore(t *testing.T) {
	all := []string{Etcd, APIServer, ControllerManager, Scheduler, Kubectl}
	p := setPlaces(t)
	for _, name := range all {
		writeBinary(t, p.stored("1.36.0"), name)
	}
	if got, err := Find(); !errors.Is(err, ErrNoAssets) || strings.Contains(err.Error(), p.store) {
		t.Errorf("with the store alone: %+v, %v", got, err)
	}
	p.stamp(t, pins("v1.37.0", "v3.7.0"))
	for _, name := range all {
		writeBinary(t, p.built(), name)
	}
	if got, err := Find(); err != nil || got.Dir != p.built() {
		t.Errorf("with a build: %+v, %v", got, err)
	}
	for _, name := range all {
		writeBinary(t, p.variable, name)
	}
	if got, err := Find(); err != nil || got.Dir != p.variable {
		t.Errorf("with a directory that is named: %+v, %v", got, err)
	}
}

func TestMissing(t *testing.T) {
	servers := Assets{Etcd: "/x/etcd", APIServer: "/x/kube-apiserver", Kubectl: "/x/kubectl"}
	for scheduler, want := range map[bool][]string{false: {ControllerManager}, true: {ControllerManager, Scheduler}} {
		if diff := cmp.Diff(want, servers.Missing(scheduler)); diff != "" {
			t.Errorf("with kube-scheduler %t (-want +got):\n%s", scheduler, diff)
		}
	}
}

func TestFindIgnoresWhatCannotRun(t *testing.T) {
	p := setPlaces(t)
	writeFile(t, filepath.Join(p.variable, Etcd), "", 0o644)
	writeBinary(t, p.variable, APIServer)
	_, err := Find()
	if !errors.Is(err, ErrNoAssets) || !strings.Contains(err.Error(), p.variable) {
		t.Errorf("got %v, want ErrNoAssets that says why %s does not count", err, p.variable)
	}
}

func TestPinsOfThisCheckout(t *testing.T) {
	checkout, err := FindCheckout()
	if err != nil {
		t.Fatal(err)
	}
	got, err := checkout.Pins(ControlPlane)
	if err != nil {
		t.Fatal(err)
	}
	for name, prefix := range map[string]string{"kubernetes": "v1.", "etcd": "v3."} {
		if !strings.HasPrefix(got.Version(name), prefix) {
			t.Errorf("got %v, want a release %s of %s", got, prefix, name)
		}
	}
}
