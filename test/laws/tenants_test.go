// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	tenantPackage = module + "pkg/explain/turns"
	tenantDir     = "pkg/explain/turns/"
)

// limitedDirs are the directories of what users ask: who is limited there is a turns.Tenant.
var limitedDirs = []string{"pkg/dashboard/", "pkg/explain/", "pkg/slowclients/", "cmd/placement/internal/endpoint/"}

// limiterMakers are the functions that make a limiter or a bounded cache, with the files that call them. None of these counts users by their names.
var limiterMakers = map[string]map[string][]string{
	"golang.org/x/sync/semaphore": {"NewWeighted": {"pkg/slowclients/delay.go"}},                  // of the process
	"golang.org/x/time/rate":      {"NewLimiter": {"cmd/placement/internal/endpoint/reviews.go"}}, // of the process and of addresses
	"k8s.io/utils/lru":            {"New": {}, "NewWithEvictionFunc": {}},
}

// docs/spec/trust.md R9: no limiter is given a bare user name. Who may create accounts in a namespace has as many names as the limiter has places.
func TestT21NoLimiterIsGivenABareUserName(t *testing.T) {
	expectLaw(t, checkTenants(t, os.DirFS(root(t))))
}

// checkTenants finds names that are made tenants without turns.TenantOf, and limiters that are none of package turns.
func checkTenants(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var findings []string
	for _, file := range goFiles(t, repository) {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "test/") || strings.HasPrefix(file, tenantDir) {
			continue
		}
		parsed := parseGo(t, repository, file)
		inspectCalls(parsed, tenantPackage, func(name string) {
			if name == "Tenant" {
				findings = append(findings, file+": a name is converted to turns.Tenant; call turns.TenantOf with the user")
			}
		})
		if !slices.ContainsFunc(limitedDirs, func(dir string) bool { return strings.HasPrefix(file, dir) }) {
			continue
		}
		for imported, makers := range limiterMakers {
			inspectCalls(parsed, imported, func(name string) {
				if callers, is := makers[name]; is && !slices.Contains(callers, file) {
					made := file + ": " + path.Base(imported) + "." + name
					findings = append(findings, made+" makes a limiter; take one of package turns, which count tenants")
				}
			})
		}
	}
	return findings
}

// inspectCalls calls found with the name of each function or type of an imported package that a file calls.
func inspectCalls(parsed *ast.File, imported string, found func(name string)) {
	name := nameOf(parsed, imported)
	if name == "" {
		return
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		selector, is := call.Fun.(*ast.SelectorExpr)
		if !is {
			return true
		}
		if x, is := selector.X.(*ast.Ident); is && x.Name == name {
			found(selector.Sel.Name)
		}
		return true
	})
}

func TestTenantCheckerFindsNames(t *testing.T) {
	source := &fstest.MapFile{Data: []byte("package a\nimport (\n\"" + tenantPackage + "\"\n\"k8s.io/utils/lru\"\n" +
		"\"golang.org/x/sync/semaphore\"\n)\n" +
		"var a = turns.Tenant(caller.GetName())\nvar b = turns.TenantOf(caller)\nvar c = lru.New(500)\nvar d = semaphore.NewWeighted(1)\n")}
	repository := fstest.MapFS{
		"pkg/dashboard/a.go": source, "pkg/dashboard/a_test.go": source, tenantDir + "a.go": source, "pkg/selector/a.go": source,
		"pkg/slowclients/delay.go": {Data: []byte("package a\nimport \"golang.org/x/sync/semaphore\"\nvar d = semaphore.NewWeighted(1)\n")},
	}
	const converted = ": a name is converted to turns.Tenant; call turns.TenantOf with the user"
	expectFindings(t, checkTenants(t, repository), []string{
		"pkg/dashboard/a.go" + converted,
		"pkg/dashboard/a.go: lru.New makes a limiter; take one of package turns, which count tenants",
		"pkg/dashboard/a.go: semaphore.NewWeighted makes a limiter; take one of package turns, which count tenants",
		"pkg/selector/a.go" + converted,
	})
}
