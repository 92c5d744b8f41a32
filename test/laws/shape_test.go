// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// catchAllNames are names that do not describe their content.
var catchAllNames = []string{"util", "utils", "helper", "helpers", "common", "misc"}

func TestFilesAndPackagesKeepTheirShape(t *testing.T) {
	expectLaw(t, checkShape(t, os.DirFS(root(t))))
}

// checkShape finds packages without a doc.go and catch-all names. The linter checks the length of files.
func checkShape(t *testing.T, repository fs.FS) []string {
	t.Helper()
	findings := checkNames(t, repository)
	packages := map[string]bool{} // directory -> has a doc.go
	for _, file := range goFiles(t, repository) {
		if within(file, "pkg") && !strings.HasSuffix(file, "_test.go") {
			dir := path.Dir(file)
			packages[dir] = packages[dir] || path.Base(file) == "doc.go"
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		if !packages[dir] {
			findings = append(findings, dir+": no doc.go; write what the package is, what it promises and what it never does")
		}
	}
	return findings
}

func checkNames(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var findings []string
	walk(t, repository, func(file string, _ fs.DirEntry) {
		name, _, _ := strings.Cut(path.Base(file), ".")
		if slices.Contains(catchAllNames, strings.TrimSuffix(strings.ToLower(name), "_test")) {
			findings = append(findings, file+": a drawer for anything; name it after what it holds")
		}
	})
	return findings
}

// goFiles returns every Go file of the repository except vendored ones.
func goFiles(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var files []string
	walk(t, repository, func(file string, entry fs.DirEntry) {
		if !entry.IsDir() && strings.HasSuffix(file, ".go") {
			files = append(files, file)
		}
	})
	return files
}

// walk visits the files and directories of the repository except vendor, hidden directories and the top-level directories that git ignores.
func walk(t *testing.T, repository fs.FS, visit func(file string, entry fs.DirEntry)) {
	t.Helper()
	skipped := append(ignoredDirs(t, repository), "vendor")
	err := fs.WalkDir(repository, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if file == "." {
			return nil
		}
		if entry.IsDir() && (slices.Contains(skipped, file) || strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		visit(file, entry)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestShapeCheckerFindsBadShapes(t *testing.T) {
	short := &fstest.MapFile{Data: []byte("package a\n")}
	cases := []struct {
		reason     string
		repository fstest.MapFS
		want       []string
	}{
		{
			reason: "described packages, vendor and build results pass",
			repository: fstest.MapFS{
				".gitignore":             {Data: []byte("/bin/\n*.out\n")},
				"pkg/clusterinfo/doc.go": short,
				"vendor/x/util/util.go":  short,
				"bin/util/a.go":          short,
				".cache/common/a.go":     short,
				"deploy/_helpers.tpl":    {},
			},
		},
		{
			reason:     "a package of pkg/ that nothing describes",
			repository: fstest.MapFS{"pkg/clusterinfo/a.go": short, "pkg/clusterinfo/sub/doc.go": short},
			want:       []string{"pkg/clusterinfo: no doc.go; write what the package is, what it promises and what it never does"},
		},
		{
			reason:     "drawers, as a directory, a file, a test and a script",
			repository: fstest.MapFS{"test/utils/a.go": short, "cmd/Helpers.go": short, "cmd/misc_test.go": short, "deploy/common.sh": {}},
			want: []string{
				"test/utils: a drawer for anything; name it after what it holds",
				"cmd/Helpers.go: a drawer for anything; name it after what it holds",
				"cmd/misc_test.go: a drawer for anything; name it after what it holds",
				"deploy/common.sh: a drawer for anything; name it after what it holds",
			},
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			expectFindings(t, checkShape(t, c.repository), c.want)
		})
	}
}
