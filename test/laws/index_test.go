// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	frontPage = "README.md"
	pageIndex = "docs/README.md"
)

func TestEveryPageIsInTheIndex(t *testing.T) {
	expectLaw(t, checkIndex(t, os.DirFS(root(t))))
}

// checkIndex finds pages of docs that docs/README.md does not link to, and a README.md that does not link to docs/README.md.
func checkIndex(t *testing.T, repository fs.FS) []string {
	t.Helper()
	pages, err := fs.Glob(repository, "docs/*.md")
	if err != nil {
		t.Fatal(err)
	}

	var findings []string
	if !strings.Contains(readFile(t, repository, frontPage), "]("+pageIndex+")") {
		findings = append(findings, fmt.Sprintf("%s: no link to %s", frontPage, pageIndex))
	}
	links := link.FindAllStringSubmatch(readFile(t, repository, pageIndex), -1)
	for _, page := range pages {
		linksTo := func(match []string) bool { return path.Join("docs", match[1]) == page }
		if page != pageIndex && !slices.ContainsFunc(links, linksTo) {
			findings = append(findings, fmt.Sprintf("%s: no link to %s", pageIndex, page))
		}
	}
	return findings
}

func TestIndexCheckerFindsViolations(t *testing.T) {
	expectFindings(t, checkIndex(t, fstest.MapFS{
		frontPage:         {Data: []byte("[one page](docs/listed.md)")},
		pageIndex:         {Data: []byte("[listed](listed.md), [a section](section.md#part)")},
		"docs/listed.md":  {Data: []byte("# Listed\n")},
		"docs/section.md": {Data: []byte("# Section\n")},
		"docs/lost.md":    {Data: []byte("# Lost\n")},
		"docs/a/deep.md":  {Data: []byte("# In a directory with an index of its own\n")},
	}), []string{
		"README.md: no link to docs/README.md",
		"docs/README.md: no link to docs/lost.md",
	})
}
