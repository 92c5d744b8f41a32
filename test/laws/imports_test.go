package laws

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// pureDirs are the directories of pkg/ whose results depend only on their arguments, as in the rule "core" of .golangci.yml.
var pureDirs = []string{
	"unreadable", "limits", "clusterinfo", "scope", "selector", "inventory", "scheduling", "decision", "podconstraints", "tenancy", "federation",
	"clusterrequest",
}

// clients are what no package of the core may reach.
var clients = []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"}

// The rules of depguard in .golangci.yml see direct imports; this law sees what those import.
func TestImportsReachNothingForbidden(t *testing.T) {
	g := importGraph(t)
	if len(g.own()) == 0 {
		t.Fatal("no package of this repository found: has the module been renamed?")
	}
	expectLaw(t, checkReach(g))
}

// checkReach finds pure packages that reach a client, and packages outside of test/ that reach a test. It excludes pkg/decision itself,
// whose Writer sends requests.
func checkReach(g graph) []string {
	var findings []string
	reach := func(path, rule string, parents ...string) {
		chain := g.chain(module+path, func(p string) bool {
			return slices.ContainsFunc(parents, func(parent string) bool { return within(p, parent) })
		})
		if chain != nil {
			findings = append(findings, fmt.Sprintf("%s: %s: %s", path, rule, route(chain)))
		}
	}
	for _, path := range g.own() {
		room, inPkg := strings.CutPrefix(path, "pkg/")
		room, _, _ = strings.Cut(room, "/")
		if inPkg && slices.Contains(pureDirs, room) && path != "pkg/decision" {
			reach(path, "the core may not depend on a client", clients...)
		}
		if !within(path, "test") {
			reach(path, "only tests may depend on test", module+"test")
		}
	}
	return findings
}

func TestReachCheckerFindsWrongArrows(t *testing.T) {
	g := graph{
		module + "cmd/placement":       {module + "pkg/localplane"},
		module + "pkg/localplane":      {module + "test/env"},
		module + "pkg/controller":      {"k8s.io/client-go/rest"},
		module + "pkg/decision":        {"k8s.io/client-go/rest"},
		module + "pkg/decision/record": {"example.com/harmless"},
		module + "pkg/selector":        {"k8s.io/apimachinery/pkg/labels"},
		module + "test/env":            {"k8s.io/client-go/rest"},
		"example.com/harmless":         {"k8s.io/client-go/rest"},
	}
	expectFindings(t, checkReach(g), []string{
		"cmd/placement: only tests may depend on test: cmd/placement -> pkg/localplane -> test/env",
		"pkg/localplane: only tests may depend on test: pkg/localplane -> test/env",
		"pkg/decision/record: the core may not depend on a client: pkg/decision/record -> example.com/harmless -> k8s.io/client-go/rest",
	})
}

// A directory of pkg/ without a rule of depguard would import anything.
func TestEveryDirectoryOfPkgHasARule(t *testing.T) {
	repository := os.DirFS(root(t))
	config, err := fs.ReadFile(repository, ".golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := fs.ReadDir(repository, "pkg")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if rule := fmt.Sprintf("files: [\"**/pkg/%s/**\", ", entry.Name()); !strings.Contains(string(config), rule) {
			t.Errorf(".golangci.yml: no rule of depguard says what pkg/%s may import", entry.Name())
		}
	}
}
