package laws

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
)

// synctestPackage is the package whose tests run on a fake clock, where a sleep takes no real time.
const synctestPackage = "testing/synctest"

func TestNobodySleeps(t *testing.T) {
	expectLaw(t, checkWaiting(t, os.DirFS(root(t))))
}

// checkWaiting finds uses of time.Sleep on a real clock: too short on a slow machine, too long on a fast one.
func checkWaiting(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var findings []string
	for _, file := range goFiles(t, repository) {
		source, err := fs.ReadFile(repository, file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if sleeps(t, parsed) {
			findings = append(findings, file+": time.Sleep on a real clock; wait for the condition itself, "+
				"select on a timer and the context, or test with "+synctestPackage)
		}
	}
	return findings
}

func sleeps(t *testing.T, file *ast.File) bool {
	t.Helper()
	packages := importedNames(t, file)
	for _, imported := range packages {
		if imported == synctestPackage {
			return false
		}
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && selector.Sel.Name == "Sleep" {
			x, ok := selector.X.(*ast.Ident)
			found = found || ok && packages[x.Name] == "time"
		}
		return !found
	})
	return found
}

func TestWaitingCheckerFindsSleeps(t *testing.T) {
	const advice = ": time.Sleep on a real clock; wait for the condition itself, select on a timer and the context, or test with testing/synctest"
	file := func(source string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("package a\n" + source + "\n")}
	}
	repository := fstest.MapFS{
		"cmd/a/bubble_test.go": file(`import ("testing/synctest"; "time"); func f() { synctest.Wait(); time.Sleep(1) }`),
		"cmd/a/other.go":       file(`import "example.com/time/v2"; func f() { other.Sleep(1) }`),
		"cmd/a/a_test.go":      file(`import "time"; func f() { time.Sleep(1) }`),
		"pkg/clusterinfo/a.go": file(`import clock "time"; var wait = clock.Sleep`),
	}
	expectFindings(t, checkWaiting(t, repository), []string{"cmd/a/a_test.go" + advice, "pkg/clusterinfo/a.go" + advice})
}
