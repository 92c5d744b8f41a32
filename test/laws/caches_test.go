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

// cacheMakers are the functions that make a cache or an informer, by package, with the files that call them. Managers, those of
// systems too, have the cache of pkg/decoding, the tools one that belongs to no manager, and extracache makes all others, which run on every replica.
var cacheMakers = map[string]map[string][]string{
	"sigs.k8s.io/controller-runtime/pkg/cache": {
		"New": {"pkg/decoding/cache.go", "pkg/hub/extracache/cache.go"},
	},
	"sigs.k8s.io/controller-runtime/pkg/cluster": {"New": {}},
	module + "pkg/decoding": {"NewCache": {
		"cmd/placement/internal/hubprocess/process.go", "cmd/placement/internal/argocdrefresh/run.go", "cmd/placement/internal/provider/run.go",
		"pkg/explain/hubstate/watcher.go", "pkg/hub/systems/manager.go",
	}},
	"k8s.io/client-go/tools/cache": {
		"NewSharedIndexInformer":            {"pkg/decoding/cache.go", "pkg/hub/watchhealth/monitor.go"},
		"NewSharedIndexInformerWithOptions": {},
		"NewSharedInformer":                 {},
		"NewInformer":                       {},
		"NewInformerWithOptions":            {},
		"NewIndexerInformer":                {},
		"NewReflector":                      {},
		"NewNamedReflector":                 {},
		"NewReflectorWithOptions":           {},
	},
}

// informerFactories are packages whose informers belong to no manager.
var informerFactories = []string{
	"k8s.io/client-go/informers", "k8s.io/client-go/dynamic/dynamicinformer", "k8s.io/client-go/metadata/metadatainformer",
}

// docs/spec/trust.md R4: every cache runs on every replica.
func TestCachesAreMadeInFewPlaces(t *testing.T) {
	expectLaw(t, checkCaches(t, os.DirFS(root(t))))
}

// checkCaches finds caches and informers that are made outside of cacheMakers. Tests and what they share may make their own.
func checkCaches(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var findings []string
	for _, file := range goFiles(t, repository) {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "test/") {
			continue
		}
		parsed := parseGo(t, repository, file)
		for _, factory := range informerFactories {
			if nameOf(parsed, factory) != "" {
				findings = append(findings, file+": imports "+factory+"; call extracache.Add, whose caches run on every replica")
			}
		}
		for imported, makers := range cacheMakers {
			findings = append(findings, madeIn(file, parsed, imported, makers)...)
		}
	}
	return findings
}

// madeIn finds the functions of one package that a file refers to without being one of their callers.
func madeIn(file string, parsed *ast.File, imported string, makers map[string][]string) []string {
	name := nameOf(parsed, imported)
	if name == "" {
		return nil
	}
	var findings []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		selector, isSelector := n.(*ast.SelectorExpr)
		if !isSelector {
			return true
		}
		x, isName := selector.X.(*ast.Ident)
		callers, isMaker := makers[selector.Sel.Name]
		if isName && x.Name == name && isMaker && !slices.Contains(callers, file) {
			findings = append(findings, file+": "+path.Base(imported)+"."+selector.Sel.Name+" makes a cache; call extracache.Add, whose caches "+
				"run on every replica")
		}
		return true
	})
	return findings
}

func TestCacheCheckerFindsCaches(t *testing.T) {
	source := &fstest.MapFile{Data: []byte("package a\nimport (\n\"sigs.k8s.io/controller-runtime/pkg/cache\"\n" +
		"toolscache \"k8s.io/client-go/tools/cache\"\n\"k8s.io/client-go/informers\"\n)\n" +
		"var c, _ = cache.New(config, cache.Options{})\nvar f = toolscache.NewSharedIndexInformer\nvar _ = informers.New\n")}
	repository := fstest.MapFS{
		"pkg/system/a.go": source, "pkg/system/a_test.go": source, "test/benchmark/a.go": source,
	}
	expectFindings(t, checkCaches(t, repository), []string{
		"pkg/system/a.go: cache.New makes a cache; call extracache.Add, whose caches run on every replica",
		"pkg/system/a.go: cache.NewSharedIndexInformer makes a cache; call extracache.Add, whose caches run on every replica",
		"pkg/system/a.go: imports k8s.io/client-go/informers; call extracache.Add, whose caches run on every replica",
	})
}
