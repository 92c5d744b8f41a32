// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// TestCELLibraries covers the functions that docs/spec/upstream-placement.md 1.7 lists.
func TestCELLibraries(t *testing.T) {
	f := clusterinfo.New(&clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c1", Generation: 2},
		Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: true, Taints: []clusterv1.Taint{
			{Key: "gpu", Value: "a100", Effect: clusterv1.TaintEffectNoSelect},
		}},
		Status: clusterv1.ManagedClusterStatus{
			Allocatable: clusterv1.ResourceList{"cpu": resource.MustParse("1500m")},
			Version:     clusterv1.ManagedClusterVersion{Kubernetes: "v1.30.4"},
		},
	}, map[string]clusterinfo.ScoreSet{"demo": {Names: []string{"b", "a"}, Values: map[string]int32{"a": 1, "b": -2}}})

	for _, tc := range []struct{ library, expression string }{
		{"standard", `managedCluster.metadata.name.startsWith("c") && size("abc") == 3`},
		{"strings", `"a,b".split(",").size() == 2 && "AbC".lowerAscii() == "abc"`},
		{"optional types", `optional.of(1).hasValue() && !managedCluster.?spec.?nothing.hasValue()`},
		{"Kubernetes lists", `[1, 2, 3].isSorted() && [1, 2, 3].sum() == 6 && [3, 1].max() == 3`},
		{"Kubernetes regex", `"abc123".find("[0-9]+") == "123"`},
		{"URLs", `url("https://example.com:80/").getHost() == "example.com:80"`},
		{"quantities are strings of the object", `quantity(managedCluster.status.allocatable.cpu).isGreaterThan(quantity("1"))`},
		{"IP", `ip("192.168.0.1").family() == 4`},
		{"CIDR", `cidr("192.168.0.0/24").containsIP("192.168.0.1")`},
		{"format", `!format.dns1123Label().validate("my-name").hasValue()`},
		{"semver", `isSemver("1.30.4") && semver(managedCluster.status.version.kubernetes.substring(1)).major() == 1`},
		{"numbers are int64", `managedCluster.metadata.generation == 2`},
		{"booleans", `managedCluster.spec.hubAcceptsClient`},
		{"lists of objects", `managedCluster.spec.taints.exists(t, t.key == "gpu" && t.effect == "NoSelect")`},
		{"1.7: apiVersion and kind are absent", `!has(managedCluster.apiVersion) && !has(managedCluster.kind)`},
		{"1.7: empty fields are absent", `!has(managedCluster.metadata.labels)`},
		{"scores in their order", `managedCluster.scores("demo").map(s, s.name) == ["b", "a"]`},
		{"scores are ints", `managedCluster.scores("demo")[0].value + 2 == 0`},
		{"parseJSON of every kind", `"[1, \"a\", null, true, {\"x\": []}]".parseJSON().size() == 5`},
	} {
		t.Run(tc.library, func(t *testing.T) {
			s, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{tc.expression}})
			if len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			if verdict := s.Match(f, &EvalContext{Now: now}); !verdict.Matched {
				t.Error(verdict.Failure())
			}
		})
	}
}

// TestCELOffersNothingMore checks that functions which upstream does not offer do not compile, so that every expression also works there
// (docs/spec/upstream-placement.md 1.7).
func TestCELOffersNothingMore(t *testing.T) {
	for _, tc := range []struct{ library, expression, want string }{
		{"sets", `sets.contains([1, 2], [1])`, "undeclared reference to 'sets'"},
		{"math", `math.greatest(1, 2) == 2`, "undeclared reference to 'math'"},
		{"authorizer", `authorizer.path("/healthz").check("get").allowed()`, "undeclared reference to 'authorizer'"},
		{"semver of version 1", `semver("v1.2", true).major() == 1`, "found no matching overload for 'semver'"},
		{"scores without a target", `scores("demo").size() > 0`, "found no matching overload for 'scores'"},
		{"scores of a number", `managedCluster.scores(1).size() > 0`, "found no matching overload for 'scores'"},
		{"parseJSON of a number", `(1).parseJSON() == 1`, "found no matching overload for 'parseJSON'"},
		{"nothing at all", ``, "Syntax error"},
	} {
		t.Run(tc.library, func(t *testing.T) {
			_, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{tc.expression}})
			if len(errs) != 1 || !strings.Contains(errs[0].Detail, tc.want) {
				t.Errorf("got %v, want one that says %q", errs, tc.want)
			}
		})
	}
}

func TestCELFailures(t *testing.T) {
	for _, tc := range []struct{ reason, expression, want string }{
		{"scores() belongs to the cluster", `dyn("x").scores("demo").size() > 0`, "scores() is a function of managedCluster"},
		{"no JSON", `"{".parseJSON() == 1`, "failed to parse json: unexpected end of JSON input"},
		{"no overload at run time", `dyn(1).parseJSON() == 1`, "no such overload"},
		{"a list index", `[1][managedCluster.?spec.?nothing.orValue(3)] == 1`, "index out of bounds: 3"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{"true", tc.expression}})
			if len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			verdict := s.Match(cluster(), &EvalContext{Now: now})
			if verdict.Matched || verdict.Err == nil || !strings.Contains(verdict.Err.Error(), tc.want) || verdict.Expression != 1 {
				t.Errorf("got expression %d: %v, want expression 1: %s", verdict.Expression, verdict.Err, tc.want)
			}

			if want := "CEL " + tc.expression + ": " + verdict.Err.Error(); verdict.Failure() != want {
				t.Errorf("failure is %q, want %q", verdict.Failure(), want)
			}
		})
	}
}

// TestCELCompilation checks that each distinct expression is compiled once, and rejected if its minimum cost exceeds the limit
// (docs/spec/differences.md C2).
func TestCELCompilation(t *testing.T) {
	compiler := NewCompiler()
	for _, source := range []string{`managedCluster.metadata.name == "c1"`, `nonsense(`} {
		first, firstErr := compiler.program(source)
		second, secondErr := compiler.program(source)
		if first != second || firstErr != secondErr { //nolint:errorlint // The very same error is what is meant.
			t.Errorf("%s was compiled again", source)
		}
	}

	expression := "true"
	for name := range strings.SplitSeq("abcdef", "") {
		expression = "[0,1,2,3,4,5,6,7,8,9].map(" + name + ", " + expression + ")"
	}
	expression += ".size() > 0"

	_, errs := compiler.Compile(paths(), Spec{CEL: []string{expression}})
	if len(errs) != 1 || !strings.Contains(errs[0].Detail, "more than the 1000000 that one evaluation may cost") {
		t.Errorf("got %v, want a mistake about the cost", errs)
	}
}

func TestPassBooksTheCost(t *testing.T) {
	s, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{`managedCluster.scores("demo").all(s, s.value < 0)`}})
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	evaluation := &EvalContext{Now: now}
	evaluation.Charge(MaxCost - 1)
	evaluation.Charge(1)
	if evaluation.Exhausted() || evaluation.Cost() != MaxCost {
		t.Fatalf("%d are spent, exhausted = %v: want it over the limit alone", evaluation.Cost(), evaluation.Exhausted())
	}

	s.Match(cluster(), evaluation)
	if !evaluation.Exhausted() {
		t.Error("not exhausted after one more evaluation")
	}
}
