// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// TestEveryVendoredLicenseIsKnown checks docs/third-party.md too, which `make generate` writes.
func TestEveryVendoredLicenseIsKnown(t *testing.T) {
	repository := os.DirFS(root)
	modules, err := vendored(repository)
	if err != nil {
		t.Fatal(err)
	}
	works, err := copiedWorks(repository, copies)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "third-party.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(page), string(table(modules, works))); diff != "" {
		t.Errorf("docs/third-party.md is out of date; run: make generate (-page +vendor):\n%s", diff)
	}
	texts, err := allTexts(repository, modules)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The Go Authors", "sigs.k8s.io/yaml ", "NOTICE"} {
		if !bytes.Contains(texts, []byte(want)) {
			t.Errorf("the texts of licenses lack %q", want)
		}
	}
}

func TestNoticeNamesEveryCopiedWork(t *testing.T) {
	notice, err := os.ReadFile(filepath.Join(root, "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	works, err := copiedWorks(os.DirFS(root), copies)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range works {
		for _, part := range []string{copies[i].name, w.path, "Mozilla Public License, Version 2.0"} {
			if !bytes.Contains(notice, []byte(part)) {
				t.Errorf("NOTICE does not name %q of %s", part, copies[i].name)
			}
		}
	}
}

func TestCopiedWorksFindsWhatIsUnknown(t *testing.T) {
	spdx := &fstest.MapFile{Data: []byte("SPDX-License-Identifier: MPL-2.0\n")}
	works := []copied{{directory: "test/a", name: "a", versionFile: "a.js", version: regexp.MustCompile(`^// a (v\S+)`)}}
	source := &fstest.MapFile{Data: []byte("// a v1.2.3\n")}
	got, err := copiedWorks(fstest.MapFS{
		"LICENSE": spdx, "vendor/b/LICENSE": {}, "bin/browser/LICENSE": {}, ".cache/LICENSE": {}, "test/licenses/license.go": {},
		"test/a/a.js": source, "test/a/LICENSE": spdx, "test/a/LICENSE-MIT": {Data: []byte("SPDX-License-Identifier: MIT")},
	}, works)
	want := []module{{path: "test/a", version: "v1.2.3", licenses: []string{"MIT", "MPL-2.0"}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(module{})); diff != "" || err != nil {
		t.Errorf("works (-want +got):\n%s\nerror: %v", diff, err)
	}
	for reason, c := range map[string]struct {
		repository fstest.MapFS
		want       string
	}{
		"a work without a license": {fstest.MapFS{"test/a/a.js": source}, "test/a has no license"},
		"a work without a version": {fstest.MapFS{"test/a/a.js": {}, "test/a/LICENSE": spdx}, "test/a/a.js has no version"},
		"a work that is not there": {fstest.MapFS{"test/a/LICENSE": spdx}, "reading the version of a"},
		"a license nobody knows":   {fstest.MapFS{"test/a/a.js": source, "test/a/LICENSE": {Data: []byte("Pay first.")}}, "not recognised"},
		"a license of another work": {
			fstest.MapFS{"test/a/a.js": source, "test/a/LICENSE": spdx, "docs/b/LICENSE": spdx}, "docs/b/LICENSE: whose work",
		},
	} {
		t.Run(reason, func(t *testing.T) {
			if _, err := copiedWorks(c.repository, works); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestIdentify(t *testing.T) {
	read := func(file string) string {
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	apache, mit, bsd := read("LICENSE"), read("vendor/github.com/cespare/xxhash/v2/LICENSE.txt"), read("vendor/golang.org/x/sys/LICENSE")
	for _, c := range []struct {
		reason, text string
		want         []string
	}{
		{reason: "the text of Apache", text: apache, want: []string{"Apache-2.0"}},
		{reason: "the text of MIT", text: mit, want: []string{"MIT"}},
		{reason: "BSD with three clauses", text: bsd, want: []string{"BSD-3-Clause"}},
		{reason: "ISC", text: read("vendor/github.com/davecgh/go-spew/LICENSE"), want: []string{"ISC"}},
		{reason: "MPL, which names licenses of GNU", text: read("vendor/pgregory.net/rapid/LICENSE"), want: []string{"MPL-2.0"}},
		{reason: "several licenses in one file", text: apache + "\n" + bsd, want: []string{"Apache-2.0", "BSD-3-Clause"}},
		{reason: "lines that are broken otherwise", text: strings.ReplaceAll(mit, " ", "\n * "), want: []string{"MIT"}},
		{reason: "SPDX lines", text: "SPDX-License-Identifier: MIT\n// SPDX-License-Identifier: Apache-2.0\n", want: []string{"Apache-2.0", "MIT"}},
		{reason: "the SPDX line of a license that is not permitted", text: "SPDX-License-Identifier: GPL-3.0-only\n" + mit},
		{reason: "half a license", text: apache[:len(apache)/2]},
		{reason: "a license with a restriction", text: mit + "\nCommons Clause License Condition v1.0\n"},
		{reason: "no license", text: "Copyright 2026 Nobody\n"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if diff := cmp.Diff(c.want, identify(c.text)); diff != "" {
				t.Errorf("licenses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVendoredFindsWhatIsUnknown(t *testing.T) {
	spdx := &fstest.MapFile{Data: []byte("SPDX-License-Identifier: MIT\n")}
	list := &fstest.MapFile{Data: []byte("# a.io/a v1.0.0\n## explicit\na.io/a\n" +
		"# a.io/a/v2 v2.1.0 => b.io/b v2.1.1\na.io/a/v2\n# c.io/unused v1.0.0\n")}
	modules, err := vendored(fstest.MapFS{
		"vendor/modules.txt": list, "vendor/a.io/a/LICENSE": spdx, "vendor/a.io/a/third_party/COPYING": spdx, "vendor/a.io/a/license.go": {},
		"vendor/a.io/a/v2/LICENSE.txt": spdx, "vendor/a.io/a/v2/PATENTS": {Data: []byte("a grant")},
	})
	want := []module{
		{path: "a.io/a", version: "v1.0.0", licenses: []string{"MIT"},
			texts: []string{"vendor/a.io/a/LICENSE", "vendor/a.io/a/third_party/COPYING"}},
		{path: "a.io/a/v2", version: "v2.1.0", licenses: []string{"MIT"},
			texts: []string{"vendor/a.io/a/v2/LICENSE.txt", "vendor/a.io/a/v2/PATENTS"}},
	}
	if diff := cmp.Diff(want, modules, cmp.AllowUnexported(module{})); diff != "" || err != nil {
		t.Errorf("modules (-want +got):\n%s\nerror: %v", diff, err)
	}
	_, err = vendored(fstest.MapFS{
		"vendor/modules.txt": list, "vendor/a.io/a/third_party/COPYING": {Data: []byte("Pay first.")}, "vendor/a.io/a/v2/LICENSE.txt": spdx,
		"vendor/d.io/d/LICENSE": spdx,
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{
		"vendor/a.io/a/third_party/COPYING: this license is not recognised", "vendor/a.io/a has no license",
		"vendor/d.io/d/LICENSE belongs to no module",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q:\n%v", part, err)
		}
	}
}

// TestEveryGoFileHasTheSPDXLine covers what goheader leaves out: generated files and those of other modules.
func TestEveryGoFileHasTheSPDXLine(t *testing.T) {
	files, err := goSources(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 1000 {
		t.Errorf("%d Go files", len(files))
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !hasHeader(source) {
			t.Errorf("%s has no SPDX line; run: make fmt", file)
		}
	}
}

func TestHeadersAreAddedOnce(t *testing.T) {
	directory := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	files := map[string]string{ // with what each begins
		write("a.go", "// Package a is one.\npackage a\n"):   header + "\n// Package a is one.\npackage a\n",
		write("pkg/b.go", "//go:build linux\n\npackage a\n"): header + "\n//go:build linux\n\npackage a\n",
		write("pkg/c.go", header+"\npackage a\n"):            header + "\npackage a\n",
		write("pkg/testdata/d.go", "package a\n"):            header + "\npackage a\n",
		write("pkg/zz_built.go", "//go:build !x\n\n"+header+"\n// Code generated.\n\npackage a\n"): "//go:build !x\n\n" + header +
			"\n// Code generated.\n\npackage a\n",
		write("vendor/e.go", "package a\n"):                           "package a\n",
		write("bin/f.go", "package a\n"):                              "package a\n",
		write(".hidden/g.go", "package a\n"):                          "package a\n",
		write("pkg/zz_generated.go", header+"\n// Code generated.\n"): header + "\n// Code generated.\n",
		write("pkg/text.md", "package a\n"):                           "package a\n",
	}
	for range 2 {
		if err := run([]string{"-headers", "-root", directory}, io.Discard); err != nil {
			t.Fatal(err)
		}
		for file, want := range files {
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		}
	}
}
