// SPDX-License-Identifier: Apache-2.0

package surface

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Module is the import path that the packages of this repository begin with.
const Module = "github.com/placement-hub/placement-hub/"

// Program is the type-checked source of packages, without their tests. Objects are identical across its packages.
type Program struct {
	packages []*checked
	sources  map[types.Object][]source
	results  map[types.Object][][]source
	// sums has the strings of sums that were traced; nil for those that are being traced.
	sums map[*ast.BinaryExpr]stringSet
}

// checked is one package after the type check.
type checked struct {
	types *types.Package
	files []*ast.File
	info  *types.Info
}

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath string   `json:"ImportPath"`
	Dir        string   `json:"Dir"`
	Export     string   `json:"Export"`
	GoFiles    []string `json:"GoFiles"`
	Module     *struct {
		Main bool `json:"Main"`
	} `json:"Module"`
}

// Load type-checks the packages of the main module that the patterns match or import. Other packages come from export data, which
// `go list` takes from the build cache.
func Load(ctx context.Context, directory string, patterns ...string) (*Program, error) {
	packages, err := list(ctx, directory, patterns...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}

	fset := token.NewFileSet()
	from := &imports{source: map[string]*types.Package{}, export: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	program := &Program{sources: map[types.Object][]source{}, results: map[types.Object][][]source{}, sums: map[*ast.BinaryExpr]stringSet{}}

	for _, p := range packages { // Dependencies come first.
		if p.Module == nil || !p.Module.Main {
			continue
		}
		one, err := check(fset, p, from)
		if err != nil {
			return nil, err
		}
		from.source[p.ImportPath] = one.types
		program.packages = append(program.packages, one)
	}

	for _, p := range program.packages {
		program.index(p)
	}
	return program, nil
}

// list runs `go list` with export data and dependencies.
func list(ctx context.Context, directory string, patterns ...string) ([]listed, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-export", "-deps", "-json"}, patterns...)...)
	cmd.Dir = directory
	var stderr bytes.Buffer
	cmd.Stderr = &stderr

	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, stderr.Bytes())
	}
	var packages []listed

	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p listed
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("reading the output of %s: %w", cmd, err)
		}
		packages = append(packages, p)
	}
}

// imports finds packages of this module by their checked source, and others by their export data.
type imports struct {
	source map[string]*types.Package
	export types.Importer
}

// Import implements types.Importer.
func (i *imports) Import(path string) (*types.Package, error) {
	if p := i.source[path]; p != nil {
		return p, nil
	}
	return i.export.Import(path) //nolint:wrapcheck // The type checker names the import.
}

func check(fset *token.FileSet, p listed, from types.Importer) (*checked, error) {
	one := &checked{info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}

	// The cache of `go test` knows of a new file when the test has read its directory.
	if _, err := os.ReadDir(p.Dir); err != nil {
		return nil, fmt.Errorf("reading the directory of %s: %w", p.ImportPath, err)
	}
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parsing: %w", err)
		}
		one.files = append(one.files, file)
	}

	var err error
	one.types, err = (&types.Config{Importer: from}).Check(p.ImportPath, fset, one.files, one.info)
	if err != nil {
		return nil, fmt.Errorf("type-checking %s: %w", p.ImportPath, err)
	}
	return one, nil
}
