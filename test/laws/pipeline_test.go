// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// schedulingPackage is the package whose schedulers only the pipeline calls.
const schedulingPackage = module + "pkg/scheduling"

// schedulerCallers are the files that call a scheduler: placement.Evaluate and federation.Evaluate begin with it, and the oracle compares it
// with the reference.
var schedulerCallers = []string{"pkg/placement/evaluate.go", "pkg/federation/evaluate.go", "pkg/placement/controller/compare.go"}

// Law 7: code that evaluates a Placement calls placement.Evaluate, and code that evaluates a federated object federation.Evaluate, whose Outcome says
// what may be withdrawn.
func TestEvaluateIsTheOnlyPipeline(t *testing.T) {
	expectLaw(t, checkPipeline(t, os.DirFS(root(t))))
}

// checkPipeline finds uses of scheduling.Schedule and scheduling.ScheduleRecorded outside of the pipeline, the oracle and test code.
func checkPipeline(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var findings []string
	for _, file := range goFiles(t, repository) {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "test/") || slices.Contains(schedulerCallers, file) {
			continue
		}
		source, err := fs.ReadFile(repository, file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		name := nameOf(parsed, schedulingPackage)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(selector.Sel.Name, "Schedule") {
				if x, ok := selector.X.(*ast.Ident); ok && x.Name == name {
					findings = append(findings, file+": scheduling."+selector.Sel.Name+
						" without the removal budget; call placement.Evaluate or federation.Evaluate")
				}
			}
			return true
		})
	}
	return findings
}

// nameOf returns the name of a package in a file; empty when the file does not import it.
func nameOf(file *ast.File, imported string) string {
	for _, spec := range file.Imports {
		switch {
		case spec.Path.Value != strconv.Quote(imported):
		case spec.Name != nil:
			return spec.Name.Name
		default:
			return path.Base(imported)
		}
	}
	return ""
}

func TestPipelineCheckerFindsSchedulers(t *testing.T) {
	source := &fstest.MapFile{Data: []byte(
		"package a\nimport engine \"" + schedulingPackage + "\"\nvar result = engine.Schedule(request, snapshot, now)\n")}
	repository := fstest.MapFS{
		"pkg/explain/a.go": source, "pkg/explain/a_test.go": source, "test/benchmark/a.go": source, schedulerCallers[0]: source,
	}
	expectFindings(t, checkPipeline(t, repository), []string{
		"pkg/explain/a.go: scheduling.Schedule without the removal budget; call placement.Evaluate or federation.Evaluate",
	})
}
