// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tests of two packages with functions of the same name, one with a TestMain and a file besides, run from one program as they would alone.
func TestPackagesShareAProgram(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":   "module " + strings.TrimSuffix(module, "/") + "\n\ngo 1.26\n",
		"a/doc.go": "// Package a has a file of its own.\npackage a\n\nconst fromDoc = \"doc\"\n",
		"a/doc_test.go": "package a\n\nimport \"testing\"\n\nfunc TestSame(t *testing.T) { t.Log(\"a\", fromDoc, prepared) }\n" +
			"func TestOther(t *testing.T) {}\nfunc Testless() {}\n",
		"a/main_test.go": "package a\n\nimport \"testing\"\n\nvar prepared string\n\n" +
			"func TestMain(m *testing.M) { prepared = \"prepared\"; m.Run() }\n",
		"b/b_test.go": "package b\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n" +
			"func TestSame(t *testing.T) {\n\tif _, err := os.ReadFile(\"b_test.go\"); err != nil {\n\t\tt.Error(err)\n\t}\n\tt.Error(\"of b\")\n}\n",
		"c/doc.go": "// Package c has no tests.\npackage c\n",
		"test/env/planes/doc.go": "// Package planes stands for the one that lends control planes.\npackage planes\n\n" +
			"import \"fmt\"\n\nvar Socket string\n\nfunc Main() { fmt.Println(\"lends\") }\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := newSharedTests(root, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	if s.find("c") != nil {
		t.Error("a package without tests is in the program")
	}
	t.Setenv("GOFLAGS", "")
	build, err := s.command(t.Context(), &driver{root: root, goCommand: "go", base: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, output)
	}

	run := func(directory string) (ends map[string]string, output string) {
		cmd := exec.CommandContext(t.Context(), "go", s.arguments(s.find(directory))...)
		cmd.Dir = filepath.Join(root, directory)
		cmd.Env = append(os.Environ(), packageVariable+"="+directory)
		content, err := cmd.Output()
		if failed := strings.Contains(string(content), `"Action":"fail"`); failed != (err != nil) {
			t.Errorf("%s: a failure in the events = %v, but the process ended with %v", directory, failed, err)
		}
		ends = map[string]string{}
		var text strings.Builder
		for line := range strings.Lines(string(content)) {
			var e event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if e.Package != module+directory {
				t.Errorf("an event of %s: %s", e.Package, line)
			}
			if e.Action == passed || e.Action == failed {
				ends[e.Test] = e.Action
			}
			text.WriteString(e.Output)
		}
		return ends, text.String()
	}
	ends, output := run("a")
	if diff := cmp.Diff(map[string]string{"TestSame_a": passed, "TestOther": passed, "": passed}, ends); diff != "" {
		t.Errorf("the ends of a (-want +got):\n%s", diff)
	}
	want(t, output, "a doc prepared")
	ends, output = run("b")
	if diff := cmp.Diff(map[string]string{"TestSame_b": failed, "": failed}, ends); diff != "" {
		t.Errorf("the ends of b (-want +got):\n%s", diff)
	}
	want(t, output, "of b")

	keeper := exec.CommandContext(t.Context(), s.program())
	keeper.Env = append(os.Environ(), keeperVariable+"=yes")
	if content, err := keeper.Output(); string(content) != "lends\n" || err != nil {
		t.Errorf("as the process that lends control planes the program prints %q and ends with %v", content, err)
	}
}

// The arguments select the specs of one package by its files, and Ginkgo fails if there are none.
func TestSpecsAreSelectedByTheirFiles(t *testing.T) {
	s, err := newSharedTests("../..", []string{"test/integration/placement", "test/e2e/run"})
	if err != nil {
		t.Fatal(err)
	}
	const focus = " -ginkgo.focus-file=/test/integration/placement/ -ginkgo.fail-on-empty "
	if got := strings.Join(s.arguments(s.find("test/integration/placement")), " "); !strings.Contains(got, focus) {
		t.Errorf("no %q in %s", focus, got)
	}
	if got := strings.Join(s.arguments(s.find("test/e2e/run")), " "); strings.Contains(got, "ginkgo") {
		t.Errorf("a package without specs, whose program may not have the flags of Ginkgo, gets them: %s", got)
	}
}

func TestPackagesThatNobodyCanImportAreNamed(t *testing.T) {
	f := newFake(t)
	f.add("test/integration/a")
	path := filepath.Join(f.driver.root, "test", "integration", "a", "x_test.go")
	if err := os.WriteFile(path, []byte("package a_test\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code := f.run(t.Context()); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	want(t, f.errors.String(),
		"reading the tests of test/integration/a: x_test.go: package a_test cannot be imported by the shared test program; name it a\n")
}
