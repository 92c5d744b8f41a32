// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// module is the prefix of the import paths of this repository.
const module = "github.com/placement-hub/placement-hub/"

// graph has the direct imports of each package without its tests.
type graph map[string][]string

// root returns the directory of the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func readFile(t *testing.T, repository fs.FS, file string) string {
	t.Helper()
	content, err := fs.ReadFile(repository, file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// parseGo parses a Go file without its comments.
func parseGo(t *testing.T, repository fs.FS, file string) *ast.File {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, readFile(t, repository, file), parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// importGraph reads the imports of every package of the main module and of all its dependencies.
func importGraph(t *testing.T) graph {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports,ImportMap", "./...")
	cmd.Dir = root(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, stderr.Bytes())
	}

	g := graph{}
	for packages := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string            `json:"ImportPath"`
			Imports    []string          `json:"Imports"`
			ImportMap  map[string]string `json:"ImportMap"`
		}
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return g
		} else if err != nil {
			t.Fatalf("reading the output of %s: %v", cmd, err)
		}
		for i, imported := range p.Imports {
			if mapped, ok := p.ImportMap[imported]; ok {
				p.Imports[i] = mapped
			}
		}
		g[p.ImportPath] = p.Imports
	}
}

// own returns the packages of this repository as paths below its root ("pkg/clusterinfo"), sorted.
func (g graph) own() []string {
	var paths []string
	for importPath := range g {
		if path, ok := strings.CutPrefix(importPath, module); ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// chain returns a shortest chain of imports from a package, itself included, to a matching one; nil if there is none.
func (g graph) chain(from string, matches func(importPath string) bool) []string {
	cameFrom := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if matches(at) {
			var way []string
			for ; at != ""; at = cameFrom[at] {
				way = append(way, at)
			}
			slices.Reverse(way)
			return way
		}
		for _, next := range slices.Sorted(slices.Values(g[at])) {
			if _, seen := cameFrom[next]; !seen {
				cameFrom[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// route formats a chain for a finding, with short paths for the packages of this repository.
func route(chain []string) string {
	short := make([]string, len(chain))
	for i, importPath := range chain {
		short[i] = strings.TrimPrefix(importPath, module)
	}
	return strings.Join(short, " -> ")
}

// within reports whether an import path is that package or below it.
func within(importPath, parent string) bool {
	return importPath == parent || strings.HasPrefix(importPath, parent+"/")
}

// expectFindings compares findings in any order; want may be nil.
func expectFindings(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(fmt.Sprintln(strings.Join(want, "\n")), fmt.Sprintln(strings.Join(got, "\n"))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// expectLaw reports each finding as a violation.
func expectLaw(t *testing.T, findings []string) {
	t.Helper()
	for _, finding := range findings {
		t.Error(finding)
	}
}
