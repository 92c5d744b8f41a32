package laws

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// layers has the layer of each directory of pkg/. A directory may depend on lower layers and on itself, never on its own or a higher layer.
var layers = map[string]int{
	"apis":           0, // types only
	"quantity":       0,
	"unreadable":     0,
	"clusterinfo":    1,
	"lenient":        1,
	"scope":          1,
	"selector":       2,
	"podconstraints": 1,
	"inventory":      3,
	"scheduling":     4,
	"decision":       5,
	"metrics":        6,
	"webhook":        6, // the controllers keep its certificates
	"localplane":     6,
	"controller":     7,
	"explain":        7,
}

// outsidePkg are the directories outside pkg/ that pkg/ may not depend on; cmd may depend on any of them but test.
var outsidePkg = []string{"cmd", "manifests", "deploy", "test"}

func TestImportsFlowOneWay(t *testing.T) {
	g := importGraph(t)
	if len(g.own()) == 0 {
		t.Fatal("no package of this repository found: has the module been renamed?")
	}
	expectLaw(t, checkOrder(g))
}

// checkOrder finds direct and indirect dependencies that violate the order of the layers.
func checkOrder(g graph) []string {
	var findings []string
	for _, path := range g.own() {
		room, inPkg := dirOf(path)
		floor, placed := layers[room]
		switch {
		case !inPkg:
			if !within(path, "cmd") {
				findings = append(findings, reaches(g, path, "only cmd itself may depend on cmd", func(dep string) bool {
					return within(dep, "cmd")
				})...)
			}
			if !within(path, "test") {
				findings = append(findings, reaches(g, path, "only tests may depend on test", func(dep string) bool {
					return within(dep, "test")
				})...)
			}
		case !placed:
			findings = append(findings, fmt.Sprintf("%s: the order of imports does not know the room pkg/%s; "+
				"give it its floor in test/laws/order_test.go and in docs/architecture.md", path, room))
		default:
			findings = append(findings, checkLayer(g, path, room, floor)...)
		}
	}
	return findings
}

func checkLayer(g graph, path, room string, floor int) []string {
	findings := reaches(g, path, "a room of pkg/ may not depend on "+strings.Join(outsidePkg, ", "), func(dep string) bool {
		return slices.ContainsFunc(outsidePkg, func(dir string) bool { return within(dep, dir) })
	})
	rule := fmt.Sprintf("pkg/%s may depend only on rooms of lower floors", room)
	return append(findings, reaches(g, path, rule, func(dep string) bool {
		other, inPkg := dirOf(dep)
		depFloor, placed := layers[other]
		return inPkg && placed && other != room && depFloor >= floor
	})...)
}

// reaches returns a finding with the shortest chain if path depends on a forbidden package of this repository.
func reaches(g graph, path, rule string, forbidden func(dep string) bool) []string {
	chain := g.chain(module+path, func(importPath string) bool {
		dep, own := strings.CutPrefix(importPath, module)
		return own && dep != path && forbidden(dep)
	})
	if chain == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s: %s", path, rule, route(chain))}
}

// dirOf returns the directory of pkg/ that has a package of this repository.
func dirOf(path string) (room string, inPkg bool) {
	rest, inPkg := strings.CutPrefix(path, "pkg/")
	room, _, _ = strings.Cut(rest, "/")
	return room, inPkg
}

func TestOrderCheckerFindsWrongArrows(t *testing.T) {
	cases := []struct {
		reason  string
		imports graph // by short paths
		want    []string
	}{
		{
			reason: "the order itself is in order, sub-rooms of one room and leaps over floors included",
			imports: graph{
				"cmd/placement":         {"pkg/controller", "pkg/explain", "manifests", "pkg/localplane"},
				"pkg/controller":        {"pkg/metrics", "pkg/decision", "pkg/clusterinfo", "pkg/apis/placement/v1alpha1"},
				"pkg/decision":          {"pkg/scheduling"},
				"pkg/scheduling":        {"pkg/inventory", "pkg/scheduling/filter"},
				"pkg/scheduling/filter": {"pkg/clusterinfo"},
				"pkg/inventory":         {"pkg/selector"},
				"pkg/selector":          {"pkg/clusterinfo"},
				"pkg/clusterinfo":       nil,
				"test/integration":      {"test/env", "pkg/controller"},
			},
		},
		{
			reason:  "a lower floor may not look up",
			imports: graph{"pkg/selector": {"pkg/scheduling"}, "pkg/scheduling": nil},
			want:    []string{"pkg/selector: pkg/selector may depend only on rooms of lower floors: pkg/selector -> pkg/scheduling"},
		},
		{
			reason:  "nor through a package outside of pkg/",
			imports: graph{"pkg/clusterinfo": {"other"}, "other": {"pkg/decision"}, "pkg/decision": nil},
			want:    []string{"pkg/clusterinfo: pkg/clusterinfo may depend only on rooms of lower floors: pkg/clusterinfo -> other -> pkg/decision"},
		},
		{
			reason:  "neighbours do not know each other",
			imports: graph{"pkg/webhook": {"pkg/explain"}, "pkg/explain": nil},
			want:    []string{"pkg/webhook: pkg/webhook may depend only on rooms of lower floors: pkg/webhook -> pkg/explain"},
		},
		{
			reason:  "metrics begin above the decision",
			imports: graph{"pkg/decision": {"pkg/metrics"}, "pkg/metrics": nil},
			want:    []string{"pkg/decision: pkg/decision may depend only on rooms of lower floors: pkg/decision -> pkg/metrics"},
		},
		{
			reason:  "manifests and the test environment are for cmd and tests",
			imports: graph{"pkg/explain": {"manifests"}, "pkg/webhook": {"test/env"}, "manifests": nil, "test/env": nil},
			want: []string{
				"pkg/explain: a room of pkg/ may not depend on cmd, manifests, deploy, test: pkg/explain -> manifests",
				"pkg/webhook: a room of pkg/ may not depend on cmd, manifests, deploy, test: pkg/webhook -> test/env",
			},
		},
		{
			reason:  "the shipped binary depends on no test",
			imports: graph{"cmd/placement": {"test/env"}, "test/env": nil},
			want:    []string{"cmd/placement: only tests may depend on test: cmd/placement -> test/env"},
		},
		{
			reason:  "nothing depends on cmd",
			imports: graph{"manifests": {"cmd/placement/flags"}, "cmd/placement/flags": nil},
			want:    []string{"manifests: only cmd itself may depend on cmd: manifests -> cmd/placement/flags"},
		},
		{
			reason:  "a new room asks for its place",
			imports: graph{"pkg/federation/v1": nil},
			want: []string{"pkg/federation/v1: the order of imports does not know the room pkg/federation; " +
				"give it its floor in test/laws/order_test.go and in docs/architecture.md"},
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			g := graph{}
			for path, imports := range c.imports {
				for _, imported := range imports {
					g[module+path] = append(g[module+path], module+imported)
				}
				if len(imports) == 0 {
					g[module+path] = nil
				}
			}
			expectFindings(t, checkOrder(g), c.want)
		})
	}
}
