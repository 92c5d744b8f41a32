// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pure are the packages whose results depend only on their arguments, as in the rule "core" of .golangci.yml, but for pkg/placement, whose
// Writer sends requests.
var pure = []string{
	"pkg/affinityclass", "pkg/argocdrefresh", "pkg/clusterinfo", "pkg/clusterprofiles", "pkg/clusterrequest", "pkg/clustersets",
	"pkg/decoding/quantity",
	"pkg/decoding/unreadable", "pkg/federation", "pkg/inventory", "pkg/limits", "pkg/placement/api", "pkg/podscheduling", "pkg/removalbudget",
	"pkg/scheduling", "pkg/selector",
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

// checkReach finds pure packages that reach a client, and packages outside of test/ that reach a test.
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
		if slices.Contains(pure, path) {
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
		module + "cmd/placement":     {module + "pkg/localplane"},
		module + "pkg/localplane":    {module + "test/env"},
		module + "pkg/system":        {"k8s.io/client-go/rest"},
		module + "pkg/placement":     {"k8s.io/client-go/rest"},
		module + "pkg/placement/api": {"example.com/harmless"},
		module + "pkg/selector":      {"k8s.io/apimachinery/pkg/labels"},
		module + "test/env":          {"k8s.io/client-go/rest"},
		"example.com/harmless":       {"k8s.io/client-go/rest"},
	}
	expectFindings(t, checkReach(g), []string{
		"cmd/placement: only tests may depend on test: cmd/placement -> pkg/localplane -> test/env",
		"pkg/localplane: only tests may depend on test: pkg/localplane -> test/env",
		"pkg/placement/api: the core may not depend on a client: pkg/placement/api -> example.com/harmless -> k8s.io/client-go/rest",
	})
}

// A package without a rule of depguard would import anything.
func TestEveryPackageHasARule(t *testing.T) {
	config, err := os.ReadFile(filepath.Join(root(t), ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if findings := packagesWithoutRule(string(config), importGraph(t).own()); len(findings) > 0 {
		t.Errorf(".golangci.yml: no rule of depguard says what these may import: %q", findings)
	}
}

var (
	listsOfFiles = regexp.MustCompile(`list-mode: lax\n +files: \[(.*)\]`)
	filePattern  = regexp.MustCompile(`"\*\*/(pkg/[^"]*)"`)
	alternatives = regexp.MustCompile(`\{([^}]*)\}`)
)

// packagesWithoutRule returns the packages of pkg/ whose files no rule in the mode lax names.
func packagesWithoutRule(config string, packages []string) (findings []string) {
	var named []*regexp.Regexp
	for _, list := range listsOfFiles.FindAllStringSubmatch(config, -1) {
		for _, pattern := range filePattern.FindAllStringSubmatch(list[1], -1) {
			named = append(named, packagePattern(pattern[1]))
		}
	}
	for _, path := range packages {
		isNamed := func(pattern *regexp.Regexp) bool { return pattern.MatchString(path) }
		if within(path, "pkg") && !slices.ContainsFunc(named, isNamed) {
			findings = append(findings, path)
		}
	}
	return findings
}

// packagePattern returns what matches the packages whose files a pattern of depguard names: all below a directory, or those of it.
func packagePattern(files string) *regexp.Regexp {
	directory, below := strings.CutSuffix(files, "/**")
	directory = strings.TrimSuffix(directory, "/*.go")
	directory = alternatives.ReplaceAllStringFunc(directory, func(set string) string {
		return "(" + strings.ReplaceAll(strings.Trim(set, "{}"), ",", "|") + ")"
	})
	if below {
		directory += "(/.*)?"
	}
	return regexp.MustCompile("^" + directory + "$")
}

func TestRuleCheckerFindsPackages(t *testing.T) {
	const config = "a:\n  list-mode: lax\n  files: [\"**/pkg/a/**\", \"**/pkg/{b,c}/*.go\", \"!$test\"]\n"
	got := packagesWithoutRule(config, []string{"cmd/x", "pkg/a/deep", "pkg/b", "pkg/b/below", "pkg/c", "pkg/d"})
	if want := []string{"pkg/b/below", "pkg/d"}; !slices.Equal(got, want) {
		t.Errorf("without a rule are %q, want %q", got, want)
	}
}
