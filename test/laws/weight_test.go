// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// maxBytes is the greatest size of a file in the tree except vendor.
const maxBytes = 1 << 20

// binaryPrefixes are the first bytes of the outputs of compilers and linkers: ELF, Mach-O in both byte orders and for several machines, PE,
// WebAssembly, and archives of objects.
var binaryPrefixes = []string{
	"\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe",
	"MZ\x90\x00", "\x00asm", "!<arch>\n",
}

// maxPrefixBytes is the length of the longest of magics.
const maxPrefixBytes = 8

func TestNoFileIsHeavy(t *testing.T) {
	repository := os.DirFS(root(t))
	files, tracked := trackedFiles(t, root(t))
	if !tracked {
		files = keptFiles(t, repository)
	}
	if len(files) == 0 {
		t.Fatal("no file of this repository found")
	}
	expectLaw(t, checkWeight(t, repository, files))
}

// trackedFiles returns the files that git tracks, even if .gitignore has them; false if the directory is not a working tree of its own,
// such as an unpacked archive, or if git does not work.
func trackedFiles(t *testing.T, dir string) (files []string, tracked bool) {
	t.Helper()
	top, err := exec.CommandContext(t.Context(), "git", "-C", dir, "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return nil, false
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}

	if strings.TrimSpace(string(top)) != filepath.ToSlash(resolved) {
		return nil, false
	}
	listed, err := exec.CommandContext(t.Context(), "git", "-C", dir, "ls-files", "-z", "--", ":!vendor").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	return strings.FieldsFunc(string(listed), func(r rune) bool { return r == 0 }), true
}

// keptFiles returns the files that .gitignore does not have, except vendor.
func keptFiles(t *testing.T, repository fs.FS) []string {
	t.Helper()
	content, err := fs.ReadFile(repository, ".gitignore")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	patterns := strings.Fields(string(content))
	var files []string

	walk(t, repository, func(file string, entry fs.DirEntry) {
		if !entry.IsDir() && !slices.ContainsFunc(patterns, func(pattern string) bool { return ignores(t, pattern, file) }) {
			files = append(files, file)
		}
	})
	return files
}

// ignores matches the patterns of this repository's .gitignore: "/name" and "/*.out" for the top level, and "**/name/" for a directory
// anywhere.
func ignores(t *testing.T, pattern, file string) bool {
	t.Helper()
	if directory, anywhere := strings.CutPrefix(pattern, "**/"); anywhere {
		return strings.Contains("/"+file, "/"+directory)
	}
	outermost, rooted := strings.CutPrefix(strings.TrimSuffix(pattern, "/"), "/")
	first, _, _ := strings.Cut(file, "/")

	matches, err := path.Match(outermost, first)
	if err != nil {
		t.Fatalf(".gitignore: %s: %v", pattern, err)
	}
	return rooted && matches
}

// checkWeight finds files that are too large, and binaries.
func checkWeight(t *testing.T, repository fs.FS, files []string) []string {
	t.Helper()
	var findings []string
	for _, name := range files {
		size, start := readStart(t, repository, name)
		if size > maxBytes {
			findings = append(findings, fmt.Sprintf("%s: %d bytes; a file in the tree has at most %d", name, size, maxBytes))
		}
		if slices.ContainsFunc(binaryPrefixes, func(magic string) bool { return bytes.HasPrefix(start, []byte(magic)) }) {
			findings = append(findings, name+": a built binary; build it into bin/, which git ignores")
		}
	}

	return findings
}

// readStart returns the size of a file and its first bytes; nothing for a directory, or for a file that is deleted and not committed yet.
func readStart(t *testing.T, repository fs.FS, name string) (size int64, start []byte) {
	t.Helper()
	file, err := repository.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		t.Fatal(err)
	}

	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}

	if !info.Mode().IsRegular() {
		return 0, nil
	}
	start, err = io.ReadAll(io.LimitReader(file, maxPrefixBytes))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size(), start
}

func TestWeightCheckerFindsHeavyFiles(t *testing.T) {
	heavy := func(start string) *fstest.MapFile {
		return &fstest.MapFile{Data: append([]byte(start), make([]byte, maxBytes)...)}
	}
	repository := fstest.MapFS{
		".gitignore":                          {Data: []byte("/bin/\n/placement\n/*.out\n**/testdata/rapid/\n")},
		"placement":                           heavy("\x7fELF"),
		"cpu.out":                             heavy(""),
		"bin/kubectl":                         heavy("\x7fELF"),
		"pkg/a/testdata/rapid":                {Mode: fs.ModeDir},
		"pkg/a/testdata/rapid/TestA/one.fail": heavy(""),
		"vendor/a/a.go":                       heavy(""),
		"docs/full.svg":                       {Data: make([]byte, maxBytes)},
		"docs/world.json":                     heavy("{"),
		"cmd/placement/placement":             {Data: []byte("\x7fELF\x02")},
		"deploy/tool.exe":                     {Data: []byte("MZ\x90\x00")},
	}
	want := []string{
		"docs/world.json: 1048577 bytes; a file in the tree has at most 1048576",
		"cmd/placement/placement: a built binary; build it into bin/, which git ignores",
		"deploy/tool.exe: a built binary; build it into bin/, which git ignores",
	}

	expectFindings(t, checkWeight(t, repository, keptFiles(t, repository)), want)

	// Tracked files are checked even if .gitignore has them, and missing files are not.
	expectFindings(t, checkWeight(t, repository, []string{"placement", "gone"}), []string{
		"placement: 1048580 bytes; a file in the tree has at most 1048576",
		"placement: a built binary; build it into bin/, which git ignores",
	})
}
