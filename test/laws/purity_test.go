package laws

import (
	"fmt"
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
)

// pureDirs are the directories of pkg/ whose results depend only on their arguments.
var pureDirs = []string{"unreadable", "clusterinfo", "scope", "selector", "inventory", "scheduling", "decision", "podconstraints"}

// forbiddenImports are packages that files of the core may not import, nor anything below them. klog is not in forbiddenDependencies
// because k8s.io/apimachinery, whose types the core reads, logs with it.
var forbiddenImports = []string{
	"k8s.io/klog", "k8s.io/utils/clock", "math/rand", "crypto/rand", "net", "os", "syscall",
}

// forbiddenDependencies are packages that the core may not depend on, directly or indirectly. The API types of Kubernetes and Open Cluster
// Management, k8s.io/apimachinery and k8s.io/apiserver/pkg/cel/library need none of them.
var forbiddenDependencies = []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"}

// clockReaders are names in packages that the core may import, whose use would read or start a clock.
var clockReaders = map[string][]string{
	"time":                                 {"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Sleep"},
	"k8s.io/apimachinery/pkg/apis/meta/v1": {"Now", "NowMicro"},
}

func TestCoreIsPure(t *testing.T) {
	repository := os.DirFS(root(t))
	files := pureFiles(t, repository)
	for _, room := range pureDirs {
		if !slices.ContainsFunc(files, func(file string) bool { return within(file, "pkg/"+room) }) {
			t.Errorf("pkg/%s has no Go file; if the room was renamed, rename it in test/laws too", room)
		}
	}
	expectLaw(t, checkPurity(t, repository, importGraph(t)))
}

// checkPurity finds files of the core that depend on anything but their arguments.
func checkPurity(t *testing.T, repository fs.FS, g graph) []string {
	t.Helper()
	var findings []string
	for _, file := range pureFiles(t, repository) {
		source, err := fs.ReadFile(repository, file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			findings = append(findings, checkImport(t, file, spec, g)...)
		}
		for _, finding := range clockReads(t, parsed) {
			findings = append(findings, file+": "+finding)
		}
	}
	return findings
}

// pureFiles returns the Go files of the core. Tests are exempt, and so are the files of decision that write a plan, named writer*.
func pureFiles(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var files []string
	for _, file := range goFiles(t, repository) {
		room, inPkg := dirOf(file)
		isTest := strings.HasSuffix(file, "_test.go")
		writes := room == "decision" && strings.HasPrefix(path.Base(file), "writer")
		if inPkg && slices.Contains(pureDirs, room) && !isTest && !writes {
			files = append(files, file)
		}
	}
	return files
}

func checkImport(t *testing.T, file string, spec *ast.ImportSpec, g graph) []string {
	t.Helper()
	imported := importPath(t, spec)
	belowAny := func(parents []string) func(string) bool {
		return func(p string) bool {
			return slices.ContainsFunc(parents, func(parent string) bool { return within(p, parent) })
		}
	}
	var findings []string
	if belowAny(forbiddenImports)(imported) {
		findings = append(findings, fmt.Sprintf("%s: the core may not import %s", file, imported))
	}
	if chain := g.chain(imported, belowAny(forbiddenDependencies)); chain != nil {
		findings = append(findings, fmt.Sprintf("%s: the core may not depend on %s: %s", file, chain[len(chain)-1], route(chain)))
	}
	if _, readsClock := clockReaders[imported]; readsClock && spec.Name != nil && spec.Name.Name == "." {
		findings = append(findings, fmt.Sprintf("%s: the core may not dot-import %s, which hides its clock", file, imported))
	}
	return findings
}

// clockReads finds uses, called or not, of functions that read or start a clock.
func clockReads(t *testing.T, file *ast.File) []string {
	t.Helper()
	packages := importedNames(t, file)
	var findings []string
	ast.Inspect(file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && slices.Contains(clockReaders[packages[x.Name]], selector.Sel.Name) {
			findings = append(findings, fmt.Sprintf("the core may not use %s.%s; take the time as an argument", x.Name, selector.Sel.Name))
		}
		return true
	})
	return findings
}

// importedNames maps the package names in a file to import paths.
func importedNames(t *testing.T, file *ast.File) map[string]string {
	t.Helper()
	packages := map[string]string{}
	for _, spec := range file.Imports {
		imported := importPath(t, spec)
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		packages[name] = imported
	}
	return packages
}

func importPath(t *testing.T, spec *ast.ImportSpec) string {
	t.Helper()
	imported, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		t.Fatalf("import %s: %v", spec.Path.Value, err)
	}
	return imported
}
