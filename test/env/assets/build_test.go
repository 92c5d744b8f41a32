// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

const pinnedModule = "module github.com/placement-hub/placement-hub/test/controlplane\n" +
	"require (\n\tk8s.io/kubernetes v1.37.0\n\tgo.etcd.io/etcd/server/v3 v3.7.0\n)\n"

// compiles is a script in place of `go` that writes the file after -o.
const compiles = "#!/bin/sh\necho example.com/package >&2\necho binary > \"$3\"\nchmod +x \"$3\"\n"

func writeFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// setCheckout creates a checkout without binaries, enters it, and replaces `go` by a script.
func setCheckout(t *testing.T, goScript string) binaries.Checkout {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	checkout := binaries.Checkout{Root: filepath.Join(root, "checkout")}
	writeFile(t, filepath.Join(checkout.Root, "go.mod"), "module github.com/placement-hub/placement-hub\n", 0o644)
	writeFile(t, filepath.Join(checkout.ModuleDir(binaries.ControlPlane), "go.mod"), pinnedModule, 0o644)
	writeFile(t, filepath.Join(checkout.ModuleDir(binaries.OCM), "go.mod"),
		"module github.com/placement-hub/placement-hub/test/ocm\nrequire open-cluster-management.io/ocm v1.2.0 // indirect\n", 0o644)
	writeFile(t, filepath.Join(root, "path", "go"), goScript, 0o755)
	t.Setenv("PATH", filepath.Join(root, "path")+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("HOME", filepath.Join(root, "home"))
	t.Setenv("XDG_DATA_HOME", filepath.Join(root, "share"))
	t.Setenv(binaries.AssetsVariable, "")
	t.Setenv(binaries.OCMVariable, "")
	t.Chdir(checkout.Root)
	return checkout
}

func files(t *testing.T, directory string) []string {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func runIn(t *testing.T, arguments ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, progress bytes.Buffer
	err = run(t.Context(), arguments, &out, &progress)
	return out.String(), progress.String(), err
}

var complete = []string{".lock", binaries.StampFile, binaries.Etcd, binaries.APIServer, binaries.ControllerManager, binaries.Kubectl}

func TestRunBuildsOnceAndPrintsTheDirectoryAlone(t *testing.T) {
	checkout := setCheckout(t, compiles)
	for _, c := range []struct {
		reason string
		built  bool
	}{{"nothing is there", true}, {"all is there", false}} {
		stdout, stderr, err := runIn(t)
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		if want := checkout.BuildDir(binaries.ControlPlane) + "\n"; stdout != want {
			t.Errorf("%s: printed %q, want %q", c.reason, stdout, want)
		}
		if got := strings.Contains(stderr, "building kube-apiserver") || strings.Contains(stderr, "kube-apiserver: done in"); got != c.built {
			t.Errorf("%s: built = %v, want %v; progress:\n%s", c.reason, got, c.built, stderr)
		}
		if !strings.Contains(stderr, "using "+checkout.BuildDir(binaries.ControlPlane)) {
			t.Errorf("%s: progress does not say what is used:\n%s", c.reason, stderr)
		}
		if diff := cmp.Diff(complete, files(t, checkout.BuildDir(binaries.ControlPlane))); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", c.reason, diff)
		}
	}
}

func TestRunBuildsTheProgramsOfOCMOnlyWhenAsked(t *testing.T) {
	checkout := setCheckout(t, compiles)
	directory := checkout.BuildDir(binaries.OCM)
	if _, _, err := runIn(t); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(directory); !os.IsNotExist(err) {
		t.Errorf("%s is there although nobody asked for it (%v)", directory, err)
	}
	for _, c := range []struct{ flag, want string }{
		{"-ocm", "building work (ocm v1.2.0) into " + directory},
		{"-ocm", "using " + directory},
		{"-agent", "building work-agent (ocm v1.2.0) into " + directory},
		{"-agent", "using " + directory},
	} {
		stdout, stderr, err := runIn(t, c.flag)
		if err != nil {
			t.Fatal(err)
		}
		if stdout != directory+"\n" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: printed %q, want %s; progress lacks %q:\n%s", c.flag, stdout, directory, c.want, stderr)
		}
	}
	if diff := cmp.Diff([]string{".lock", binaries.StampFile, binaries.Work, binaries.WorkAgent}, files(t, directory)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestRunBuildsTheSchedulerOnlyWhenAsked(t *testing.T) {
	checkout := setCheckout(t, compiles)
	if _, _, err := runIn(t); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"building kube-scheduler (", "using "} {
		stdout, stderr, err := runIn(t, "-scheduler")
		if err != nil {
			t.Fatal(err)
		}
		if stdout != checkout.BuildDir(binaries.ControlPlane)+"\n" || !strings.Contains(stderr, want) {
			t.Errorf("printed %q; progress lacks %q:\n%s", stdout, want, stderr)
		}
	}
	want := append(slices.Clone(complete[:len(complete)-1]), binaries.Scheduler, binaries.Kubectl)
	if diff := cmp.Diff(want, files(t, checkout.BuildDir(binaries.ControlPlane))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, _, err := runIn(t, "-scheduler", "-ocm"); err == nil || !strings.Contains(err.Error(), "exclude each other") {
		t.Errorf("-scheduler with -ocm: %v, want a refusal", err)
	}
}

func TestRunBuildsOnlyTheNamedPrograms(t *testing.T) {
	servers := []string{".lock", binaries.StampFile, binaries.Etcd, binaries.APIServer}
	for _, c := range []struct {
		reason, programs string
		want             []string
	}{
		{"none of the optional ones", "", servers},
		{"for SAMPLE=pods without kubectl", binaries.ControllerManager + " " + binaries.Scheduler,
			append(slices.Clone(servers), binaries.ControllerManager, binaries.Scheduler)},
	} {
		checkout := setCheckout(t, compiles)
		for range 2 { // The second run finds them.
			if _, _, err := runIn(t, "-programs", c.programs); err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
		}
		if diff := cmp.Diff(c.want, files(t, checkout.BuildDir(binaries.ControlPlane))); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", c.reason, diff)
		}
	}
	for _, c := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"-programs", "kubelet"}, `unknown program "kubelet": supported values: kube-controller-manager, kube-scheduler, kubectl`},
		{[]string{"-programs", "kubectl", "-scheduler"}, "exclude each other"},
	} {
		if _, _, err := runIn(t, c.arguments...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.arguments, err, c.want)
		}
	}
}

func TestRunBuildsAPinnedVersionBesideTheOthers(t *testing.T) {
	checkout := setCheckout(t, compiles)
	writeFile(t, filepath.Join(checkout.Root, "test", "controlplane", "v1.33", "go.mod"),
		strings.ReplaceAll(pinnedModule, "v1.37.0", "v1.33.4"), 0o644)
	if _, _, err := runIn(t); err != nil {
		t.Fatal(err)
	}
	directory := filepath.Join(checkout.BuildDir(binaries.ControlPlane), "v1.33")
	for _, building := range []bool{true, false} { // The second run finds everything.
		stdout, stderr, err := runIn(t, "-kubernetes", "1.33")
		if err != nil {
			t.Fatal(err)
		}
		if stdout != directory+"\n" || strings.Contains(stderr, "(kubernetes v1.33.4, etcd v3.7.0) into "+directory) != building {
			t.Errorf("printed %q, want %s; progress:\n%s", stdout, directory, stderr)
		}
	}
	want := append(slices.Clone(complete[:len(complete)-1]), binaries.Scheduler, binaries.Kubectl)
	if diff := cmp.Diff(want, files(t, directory)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, stderr, err := runIn(t); err != nil || strings.Contains(stderr, "building") {
		t.Errorf("the pinned programs are built again: %v\n%s", err, stderr)
	}
	if _, _, err := runIn(t, "-kubernetes", "1.20"); err == nil || !strings.Contains(err.Error(), `no module pins "1.20": supported values: 1.33`) {
		t.Errorf("an unknown version: %v", err)
	}
}

func TestRunReplacesOtherVersionsAndRemains(t *testing.T) {
	checkout := setCheckout(t, compiles)
	old := binaries.Pins{{Name: "kubernetes", Version: "v1.36.0"}, {Name: "etcd", Version: "v3.6.0"}}
	writeFile(t, filepath.Join(checkout.BuildDir(binaries.ControlPlane), binaries.StampFile), old.Stamp(), 0o644)
	writeFile(t, filepath.Join(checkout.BuildDir(binaries.ControlPlane), binaries.Etcd), "old", 0o755)
	writeFile(t, filepath.Join(checkout.BuildDir(binaries.ControlPlane), temporaryPrefix+binaries.Etcd), "half", 0o755)
	if _, _, err := runIn(t); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(checkout.BuildDir(binaries.ControlPlane), binaries.Etcd))
	if err != nil || string(content) != "binary\n" {
		t.Errorf("etcd is %q (%v), want the newly built one", content, err)
	}
	if diff := cmp.Diff(complete, files(t, checkout.BuildDir(binaries.ControlPlane))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestRunBuildsOnlyWhatIsMissing(t *testing.T) {
	checkout := setCheckout(t, compiles)
	given := filepath.Join(checkout.Root, "given")
	for _, name := range []string{binaries.Etcd, binaries.APIServer, binaries.Kubectl} {
		writeFile(t, filepath.Join(given, name), "given", 0o755)
	}
	t.Setenv(binaries.AssetsVariable, given)
	stdout, stderr, err := runIn(t)
	if err != nil {
		t.Fatal(err)
	}
	if stdout != given+"\n" {
		t.Errorf("printed %q, want the given directory", stdout)
	}
	if want := "with kube-controller-manager from " + checkout.BuildDir(binaries.ControlPlane); !strings.Contains(stderr, want) {
		t.Errorf("progress lacks %q:\n%s", want, stderr)
	}
	want := []string{".lock", binaries.StampFile, binaries.ControllerManager}
	if diff := cmp.Diff(want, files(t, checkout.BuildDir(binaries.ControlPlane))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestFailedBuildExplainsItself(t *testing.T) {
	cases := []struct{ reason, script, hint string }{
		{"no network", `echo 'go: downloading k8s.io/api v0.37.0
go: k8s.io/api@v0.37.0: Get "https://proxy.example/": dial tcp: lookup proxy.example: no such host' >&2`, "go env GOPROXY"},
		{"no disk", "echo 'write /tmp/go-build1/b001/_pkg_.a: no space left on device' >&2", "disk space"},
		{"no memory", "echo 'k8s.io/api/core/v1: compile: signal: killed' >&2", "memory"},
		{"anything else", "echo 'flag provided but not defined' >&2", "go version"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			checkout := setCheckout(t, "#!/bin/sh\necho half > \"$3\"\n"+c.script+"\nexit 1\n")
			stdout, _, err := runIn(t)
			if err == nil {
				t.Fatal("the build must fail")
			}
			for _, want := range []string{"building etcd: exit status 1", c.hint} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			if stdout != "" {
				t.Errorf("printed %q, want nothing", stdout)
			}
			if diff := cmp.Diff([]string{".lock", binaries.StampFile}, files(t, checkout.BuildDir(binaries.ControlPlane))); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// started cancels a context when a text is written.
type started struct {
	text   string
	cancel context.CancelFunc
}

func (s started) Write(content []byte) (int, error) {
	if strings.Contains(string(content), s.text) {
		s.cancel()
	}
	return len(content), nil
}

func TestInterruptedBuildReportsProgressAndLeavesNoBinary(t *testing.T) {
	checkout := setCheckout(t, "#!/bin/sh\necho half > \"$3\"\necho example.com/a >&2\ntrap 'exit 1' INT\nwhile :; do :; done\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := compilation{
		name:      binaries.Etcd,
		directory: checkout.ModuleDir(binaries.ControlPlane),
		output:    filepath.Join(checkout.Root, temporaryPrefix+binaries.Etcd),
		target:    filepath.Join(checkout.Root, binaries.Etcd),
		arguments: []string{"build"},
		out:       started{text: ", 1 packages compiled", cancel: cancel},
		interval:  10 * time.Millisecond,
	}
	err := c.run(ctx)
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("got %v, want an error that says the build was interrupted", err)
	}
	for _, path := range []string{c.output, c.target} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is there after an interrupted build (%v)", filepath.Base(path), err)
		}
	}
}

func TestLinkerFlagsSetTheVersionOfTheAPI(t *testing.T) {
	flags := linkerFlags("v1.37.2")
	for _, want := range []string{
		"-X k8s.io/component-base/version.gitVersion=v1.37.2", "-X k8s.io/component-base/version.gitMinor=37",
		"-X k8s.io/client-go/pkg/version.gitMajor=1",
	} {
		if !strings.Contains(flags, want) {
			t.Errorf("flags %q lack %q", flags, want)
		}
	}
}
