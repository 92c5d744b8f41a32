// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// applies matches code that sends a server-side apply, and appliesThrough the construction of the client that goes on where the API server cannot
// carry one out.
var (
	applies = regexp.MustCompile(
		`\b(ApplyPatchType|ApplyYAMLPatchType|ForceOwnership|ApplyConfigurationFromUnstructured|objects\.ApplyStatus)\b`)
	appliesThrough = regexp.MustCompile(`\bapply\.NewClient\(`)
)

// applySenders are the directories that send an apply by the client that they are given. The dry runs of dryrun are those of kubectl, and report what
// the API server cannot carry out.
var applySenders = []string{"pkg/hub/apply", "pkg/hub/objects", "pkg/explain/dryrun"}

// docs/spec/kubernetes.md V19 and V21: a package that applies by another client stands still where a definition has lost a version, or lacks a field.
func TestAppliesGoThroughOneClient(t *testing.T) {
	expectLaw(t, checkApplies(t, os.DirFS(root(t))))
}

// checkApplies finds packages that apply and do not make the client of pkg/hub/apply.
func checkApplies(t *testing.T, repository fs.FS) []string {
	t.Helper()
	sends, makes := map[string]bool{}, map[string]bool{}
	for _, file := range goFiles(t, repository) {
		dir := path.Dir(file)
		if !within(file, "pkg") && !within(file, "cmd") || strings.HasSuffix(file, "_test.go") || slices.Contains(applySenders, dir) {
			continue
		}
		source, err := fs.ReadFile(repository, file)
		if err != nil {
			t.Fatal(err)
		}
		sends[dir] = sends[dir] || applies.Match(source)
		makes[dir] = makes[dir] || appliesThrough.Match(source)
	}

	var findings []string
	for dir, sent := range sends {
		if sent && !makes[dir] {
			findings = append(findings, dir+": applies without apply.NewClient")
		}
	}
	slices.Sort(findings)
	return findings
}

func TestApplyCheckerFindsOtherClients(t *testing.T) {
	file := func(code string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("package a\n" + code)} }
	expectFindings(t, checkApplies(t, fstest.MapFS{
		"pkg/a/write.go": file("var _ = c.Apply(ctx, x, client.ForceOwnership)\n"), "pkg/a/setup.go": file("var c = apply.NewClient(mgr, o)\n"),
		"pkg/b/write.go": file("var _ = objects.ApplyStatus(ctx, w, x, s)\n"), "cmd/c/write.go": file("var _ = types.ApplyPatchType\n"),
		"pkg/hub/objects/status.go": file("var _ = client.ForceOwnership\n"), "pkg/d/write_test.go": file("var _ = client.ForceOwnership\n"),
	}), []string{"cmd/c: applies without apply.NewClient", "pkg/b: applies without apply.NewClient"})
}
