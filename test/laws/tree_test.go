// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

// treeTitle is the first line of the fenced block of docs/architecture.md with the directories of the repository.
const treeTitle = "placement-hub/"

func TestArchitectureShowsTheTree(t *testing.T) {
	expectLaw(t, checkTree(t, os.DirFS(root(t))))
}

// checkTree compares the top-level directories of the repository with those in docs/architecture.md. Hidden directories and those that git
// ignores may be missing.
func checkTree(t *testing.T, repository fs.FS) []string {
	t.Helper()
	page, err := fs.ReadFile(repository, lawPage)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	block := treeBlock(string(page))
	if block == nil {
		return []string{fmt.Sprintf("%s: no fenced block that begins with %q; show the repository's directories in one", lawPage, treeTitle)}
	}
	shown := topLevel(block)
	present := topLevelDirs(t, repository)

	var findings []string
	for _, dir := range shown {
		if !slices.Contains(present, dir) {
			findings = append(findings, fmt.Sprintf("%s: its tree shows %s/, which does not exist", lawPage, dir))
		}
	}
	for _, dir := range present {
		if !slices.Contains(shown, dir) {
			findings = append(findings, fmt.Sprintf("%s: its tree does not show %s/", lawPage, dir))
		}
	}
	return findings
}

// treeBlock returns the lines below the title of the tree; nil if there is no such block.
func treeBlock(page string) []string {
	var block []string
	inFence := false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		switch fence := strings.HasPrefix(strings.TrimSpace(line), "```"); {
		case fence && inFence && len(block) > 0 && strings.HasPrefix(block[0], treeTitle):
			return block[1:]
		case fence:
			inFence, block = !inFence, nil
		case inFence:
			block = append(block, line)
		}
	}
	return nil
}

// topLevel returns the top-level directories of a tree: names with a slash, after nothing but indentation and the lines of the drawing.
// `test/env/` and `test/{a,b}/` stand for test.
func topLevel(block []string) []string {
	var dirs []string
	outermost := -1
	for _, line := range block {
		name := strings.TrimLeft(line, " \u00a0\t│├└─|`+-")
		column := utf8.RuneCountInString(line) - utf8.RuneCountInString(name)
		if name == "" {
			continue
		}
		if outermost < 0 {
			outermost = column
		}
		words := strings.Fields(name)
		dir, _, isDir := strings.Cut(words[0], "/")
		if column == outermost && isDir && !strings.HasPrefix(dir, ".") && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func topLevelDirs(t *testing.T, repository fs.FS) []string {
	t.Helper()
	entries, err := fs.ReadDir(repository, ".")
	if err != nil {
		t.Fatal(err)
	}
	ignored := ignoredDirs(t, repository)
	var dirs []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") && !slices.Contains(ignored, entry.Name()) {
			dirs = append(dirs, entry.Name())
		}
	}
	return dirs
}

// ignoredDirs returns the top-level directories that .gitignore lists as /name/.
func ignoredDirs(t *testing.T, repository fs.FS) []string {
	t.Helper()
	content, err := fs.ReadFile(repository, ".gitignore")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var dirs []string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if dir := strings.Trim(line, "/"); line == "/"+dir+"/" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func TestDiagramShowsPackages(t *testing.T) {
	expectLaw(t, checkDiagram(t, os.DirFS(root(t))))
}

// nodeLabel matches the text in the brackets of a node of a flowchart, and chainedNode a node of a chain of arrows.
var (
	nodeLabel   = regexp.MustCompile(`\w+\["([\w./]+)(?:<br/>[^"]*)?"\]`)
	chainedNode = regexp.MustCompile(`(\w+) -->`)
)

// checkDiagram demands of each node in the flowchart of docs/architecture.md whose name is one word that it is a directory of the
// repository or of pkg, or a name of a package there. A node that is named by its label has no name of its own.
func checkDiagram(t *testing.T, repository fs.FS) []string {
	t.Helper()
	page, err := fs.ReadFile(repository, lawPage)
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```mermaid\nflowchart")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		return []string{lawPage + ": no flowchart; show how an event passes through the packages in one"}
	}
	var names []string
	for _, label := range nodeLabel.FindAllStringSubmatch(block, -1) {
		name, _, _ := strings.Cut(label[1], ".")
		names = append(names, name)
	}
	for _, node := range chainedNode.FindAllStringSubmatch(block, -1) {
		if !strings.Contains(block, node[1]+"[") {
			names = append(names, node[1])
		}
	}
	var findings []string
	for _, name := range names {
		_, atRoot := fs.Stat(repository, name)
		if _, inPkg := fs.Stat(repository, path.Join("pkg", name)); atRoot != nil && inPkg != nil {
			findings = append(findings, fmt.Sprintf("%s: its flowchart shows %s, which is no directory of the repository or of pkg", lawPage, name))
		}
	}
	return findings
}

func TestDiagramCheckerFindsAWrongNode(t *testing.T) {
	const diagram = "```mermaid\nflowchart LR\n  api[(\"API server\")]\n  cmd[\"cmd/a\"]\n  w[\"a.Writer\"]\n  x[\"a/gone\"]\n" +
		"  a --> facts --> b[\"b<br/>plan\"]\n  api -- \"watch events\" --> cmd\n```\n"
	repository := fstest.MapFS{"cmd/a/a.go": {}, "pkg/a/a.go": {}, lawPage: {Data: []byte("# Title\n\n" + diagram)}}
	expectFindings(t, checkDiagram(t, repository), []string{
		lawPage + ": its flowchart shows a/gone, which is no directory of the repository or of pkg",
		lawPage + ": its flowchart shows facts, which is no directory of the repository or of pkg",
		lawPage + ": its flowchart shows b, which is no directory of the repository or of pkg",
	})
	repository[lawPage] = &fstest.MapFile{Data: []byte("# Title\n")}
	expectFindings(t, checkDiagram(t, repository), []string{
		lawPage + ": no flowchart; show how an event passes through the packages in one",
	})
}

func TestTreeCheckerFindsAWrongTree(t *testing.T) {
	const prose = "# Title\n\n```sh\nmake run\n```\n\n"
	cases := []struct {
		reason string
		page   string
		want   []string
	}{
		{
			reason: "a drawn tree that is right; files and hidden directories need not be in it",
			page:   prose + "```text\nplacement-hub/\n├── cmd/placement/   the binary\n│   └── nothing/\n├── pkg/\n├── docs/\n└── Makefile\n```\n",
		},
		{
			reason: "an indented tree that is right",
			page: prose + "```\nplacement-hub/\n  cmd/{a,b}/  binaries\n  pkg/clusterinfo/  facts\n" +
				"  pkg/selector/\n    deeper/\n  .ci/\n  docs/\n```\n",
		},
		{
			reason: "no tree, though there are other blocks",
			page:   prose,
			want:   []string{lawPage + `: no fenced block that begins with "placement-hub/"; show the repository's directories in one`},
		},
		{
			reason: "a directory too many and one too few",
			page:   prose + "```\nplacement-hub/\n├── cmd/\n├── docs/\n├── web/\n```\n",
			want: []string{
				lawPage + ": its tree shows web/, which does not exist",
				lawPage + ": its tree does not show pkg/",
			},
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			repository := fstest.MapFS{
				".gitignore": {Data: []byte("/bin/\n*.out\n")},
				".ci/run":    {},
				"bin/x":      {},
				"cmd/a/a.go": {},
				"pkg/a/a.go": {},
				"Makefile":   {},
				lawPage:      {Data: []byte(c.page)},
			}
			expectFindings(t, checkTree(t, repository), c.want)
		})
	}
}
