// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	// toyDirectory has a system, with its files where they are in the repository: its packages, manifests, sample and page.
	toyDirectory = "testdata/toy"
	// listFile has the list of systems.
	listFile = "pkg/system/list.go"
	// lastLine is the last line of that list, and toyLine the one that adds the toy system after it.
	lastLine = "\t\to.clusterRequest(),\n"
	toyLine  = "\t\ttoy.System(settingsOf[toy.Settings](o, toy.Name)),\n"
)

// A new system is its packages, its manifests, its sample, its page and one line in the list: docs/adding-a-system.md. The test adds a system to
// a copy of the repository in this way alone, generates what is generated, builds the program, and looks for the system in it.
func TestASystemIsAPackageAndALine(t *testing.T) {
	copied := copyWithToy(t)
	run(t, filepath.Join(copied, "manifests"), 0, "go", "run", "./internal/kustomize")
	expectIn(t, readText(t, copied, "manifests/toy/kustomization.yaml"), "- clusterrole.yaml\n- toy.example.com_widgets.yaml\n")
	expectIn(t, readText(t, copied, "deploy/components/toy/kustomization.yaml"), "- ../../../manifests/toy\n", "value: --controllers=toy/*\n")

	run(t, filepath.Join(copied, "manifests"), 0, "go", "run", "./internal/helmchart")
	expectIn(t, readText(t, copied, "deploy/charts/placement-hub/templates/generated/system-toy.yaml"),
		"{{- if .Values.systems.toy }}\n", "{{- if and (.Values.systems.toy) .Values.crds.placementHub }}\n")
	expectIn(t, readText(t, copied, "deploy/charts/placement-hub/values.yaml"), "\n  toy: false\n")

	// The copies of the others do not change.
	for _, file := range []string{
		"manifests/federation/kustomization.yaml", "deploy/components/federation/kustomization.yaml",
		"deploy/charts/placement-hub/templates/generated/system-federation.yaml",
	} {
		if readText(t, copied, file) != readText(t, root(t), file) {
			t.Errorf("the generator has changed %s", file)
		}
	}
	program := filepath.Join(copied, "placement")
	run(t, copied, 0, "go", "build", "-ldflags=-s", "-o", program, "./cmd/placement")

	expectIn(t, run(t, copied, 0, program, "controller", "--help"),
		"toy/widgets", `--toy-word string`, `Word that Widgets are greeted with. (default "Hello")`)
	expectIn(t, run(t, copied, 2, program, "controller", "--toy-word="), "--toy-word: it is empty; name a word")
	expectIn(t, run(t, copied, 2, program, "controller", "--controllers=toi/*"), "toy/widgets")
	expectIn(t, run(t, copied, 0, program, "run", "--help"), "With --sample=toy the hub greets Widgets.\n", "; toy has widgets.")
	expectIn(t, run(t, copied, 2, program, "run", "--sample=toy", "--kubeconfig=k"),
		"--kubeconfig has no effect with --sample=toy, which installs the system toy")
}

// copyWithToy returns a copy of what the program is built of, with the toy system.
func copyWithToy(t *testing.T) string {
	t.Helper()
	copied := t.TempDir()
	for _, directory := range []string{"cmd", "pkg", "manifests", "deploy", "docs/runbooks"} {
		copyFiles(t, filepath.Join(copied, directory), filepath.Join(root(t), directory))
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		writeText(t, copied, file, readText(t, root(t), file))
	}

	if err := os.Symlink(filepath.Join(root(t), "vendor"), filepath.Join(copied, "vendor")); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, copied, toyDirectory)
	list := readText(t, copied, listFile)
	if strings.Count(list, lastLine) != 1 {
		t.Fatalf("%s does not have the line %q once", listFile, lastLine)
	}

	list = strings.Replace(list, lastLine, lastLine+toyLine, 1)
	list = strings.Replace(list, "import (\n", "import (\n\ttoy \""+module+"pkg/toy/controller\"\n", 1)
	writeText(t, copied, listFile, list)
	return copied
}

// copyFiles copies the files of a directory into one that may have others.
func copyFiles(t *testing.T, to, from string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}

		writeText(t, to, relative, readText(t, from, relative))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func readText(t *testing.T, directory, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func writeText(t *testing.T, directory, file, text string) {
	t.Helper()
	path := filepath.Join(directory, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs a command, and returns what it prints. It fails the test for another exit code.
func run(t *testing.T, directory string, code int, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = directory
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "PWD=") })

	out, err := cmd.CombinedOutput()

	exit, exited := errors.AsType[*exec.ExitError](err)
	if err != nil && !exited {
		t.Fatalf("%s: %v", cmd, err)
	}
	if exited && exit.ExitCode() != code || !exited && code != 0 {
		t.Fatalf("%s: %v, want exit code %d\n%s", cmd, err, code, out)
	}
	return string(bytes.ReplaceAll(out, []byte(directory), nil))
}

func expectIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}
