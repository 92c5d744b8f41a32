// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/test/property"
)

func mustCompile(t *testing.T, spec Spec) *Selector {
	t.Helper()
	s, errs := NewCompiler().Compile(paths(), spec)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	return s
}

func TestIdentity(t *testing.T) {
	for _, tc := range []struct {
		reason string
		a, b   Spec
		same   bool
	}{
		{"nothing", Spec{}, Spec{}, true},
		{"a label written in two ways", Spec{Labels: metav1.LabelSelector{MatchLabels: map[string]string{"x": "a"}}},
			Spec{Labels: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{in("x", "a")}}}, true},
		{"values are a set", Spec{Claims: []metav1.LabelSelectorRequirement{in("x", "a", "b", "a")}},
			Spec{Claims: []metav1.LabelSelectorRequirement{in("x", "b", "a")}}, true},
		{"a value with a blank is not two values", Spec{Claims: []metav1.LabelSelectorRequirement{in("x", "a b")}},
			Spec{Claims: []metav1.LabelSelectorRequirement{in("x", "a", "b")}}, false},
		{"a quote closes no value", Spec{Claims: []metav1.LabelSelectorRequirement{in("x", `a" "b`)}},
			Spec{Claims: []metav1.LabelSelectorRequirement{in("x", "a", "b")}}, false},
		{"a line ends no clause", Spec{ClaimValues: map[string]string{"x": "a\"\nclaim \"y\" In \"b"}},
			Spec{ClaimValues: map[string]string{"x": "a", "y": "b"}}, false},
		{"a claim is no label", Spec{Labels: metav1.LabelSelector{MatchLabels: map[string]string{"x": "a"}}},
			Spec{ClaimValues: map[string]string{"x": "a"}}, false},
		{"not is not in", Spec{Claims: []metav1.LabelSelectorRequirement{in("x", "a")}},
			Spec{Claims: []metav1.LabelSelectorRequirement{notIn("x", "a")}}, false},
		{"the order counts: it decides which failure is told", Spec{Claims: []metav1.LabelSelectorRequirement{in("x", "a"), in("y", "a")}},
			Spec{Claims: []metav1.LabelSelectorRequirement{in("y", "a"), in("x", "a")}}, false},
		{"names", Spec{Name: "c1"}, Spec{Name: "c2"}, false},
		{"the same expression", Spec{CEL: []string{`1 < 2`}}, Spec{CEL: []string{`1 < 2`}}, true},
		{"another expression", Spec{CEL: []string{`1 < 2`}}, Spec{CEL: []string{`1 < 3`}}, false},
		{"an expression more", Spec{CEL: []string{`1 < 2`}}, Spec{CEL: []string{`1 < 2`, `1 < 2`}}, false},
		{"one expression is not two", Spec{CEL: []string{"true\n"}}, Spec{CEL: []string{"true"}}, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			a, b := mustCompile(t, tc.a).Identity(), mustCompile(t, tc.b).Identity()
			if (a == b) != tc.same {
				t.Errorf("same = %v, want %v:\n%s\n%s", a == b, tc.same, a, b)
			}
		})
	}
}

func TestHasCEL(t *testing.T) {
	for _, tc := range []struct {
		spec Spec
		want bool
	}{{Spec{Name: "c1"}, false}, {Spec{Name: "c1", CEL: []string{"true"}}, true}} {
		if got := mustCompile(t, tc.spec).HasCEL(); got != tc.want {
			t.Errorf("%v: dynamic = %v, want %v", tc.spec, got, tc.want)
		}
	}
}

func TestRequiredValuesByClause(t *testing.T) {
	s := mustCompile(t, Spec{
		Name: "c1",
		Labels: metav1.LabelSelector{
			MatchLabels:      map[string]string{"x": "a"},
			MatchExpressions: []metav1.LabelSelectorRequirement{in("y", "b", "a"), notIn("x", "b"), notIn("z", "b")},
		},
		Claims: []metav1.LabelSelectorRequirement{in("id", "1"), {Key: "gpu", Operator: metav1.LabelSelectorOpExists}},
		CEL:    []string{`managedCluster.metadata.labels.x == "a"`},
	})
	required, rest := s.RequiredValues()

	want := []RequiredValue{
		{clusterinfo.Property{Kind: clusterinfo.Name, Name: "c1"}, []string{"c1"}},
		{clusterinfo.Property{Kind: clusterinfo.Label, Name: "x"}, []string{"a"}},
		{clusterinfo.Property{Kind: clusterinfo.Label, Name: "y"}, []string{"a", "b"}},
		{clusterinfo.Property{Kind: clusterinfo.Claim, Name: "id"}, []string{"1"}},
	}
	if diff := cmp.Diff(want, required); diff != "" {
		t.Errorf("required values (-want +got):\n%s", diff)
	}

	others := []clusterinfo.Property{
		{Kind: clusterinfo.Label, Name: "x"}, {Kind: clusterinfo.Label, Name: "z"}, {Kind: clusterinfo.Claim, Name: "gpu"},
		{Kind: clusterinfo.Field, Name: "metadata.labels"},
	}
	if diff := cmp.Diff(others, rest); diff != "" {
		t.Errorf("the rest (-want +got):\n%s", diff)
	}
}

// TestRequiredValues checks that the required values and the rest cover exactly the properties that the Selector reads. A cluster that
// misses a required value does not match, and a cluster that has them all can fail only by the rest.
func TestRequiredValues(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		s, errs := NewCompiler().Compile(paths(), Spec{
			Labels: metav1.LabelSelector{MatchLabels: rapid.MapOfN(key(), rapid.SampledFrom([]string{"", "a"}), 0, 1).Draw(t, "matchLabels")},
			Claims: requirements().Draw(t, "claims"), ClaimValues: rapid.MapOfN(key(), value(), 0, 1).Draw(t, "matchClaims"),
		})
		if len(errs) > 0 {
			return
		}
		f := drawCluster(t, "cluster")
		required, rest := s.RequiredValues()
		held, keys := true, map[clusterinfo.Property]bool{}
		for _, values := range required {
			value, found := f.Value(values.Key)
			held = held && found && (&requirement{values: values.Values}).hasValue(value)
			keys[values.Key] = true
		}

		for _, key := range rest {
			keys[key] = true
		}
		for _, key := range s.Reads() {
			if !keys[key] {
				t.Fatalf("%s reads %v, which is neither required nor in the rest", s, key)
			}
			delete(keys, key)
		}

		if len(keys) > 0 {
			t.Fatalf("%s does not read %v", s, keys)
		}
		if matches := s.Matches(f, &EvalContext{}); matches && !held || held && len(rest) == 0 && !matches {
			t.Fatalf("%s: required values hold = %v, matches = %v", s, held, matches)
		}
	})
}

// TestMatchesDoesNotAllocate checks that Matches, which runs for every cluster, allocates nothing.
func TestMatchesDoesNotAllocate(t *testing.T) {
	f, evaluation := cluster(), &EvalContext{Now: now}
	for _, region := range []string{"eu", "us"} {
		s := mustCompile(t, Spec{Labels: metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{in("region", region), exists("version")},
		}})
		if got := testing.AllocsPerRun(100, func() { s.Matches(f, evaluation) }); got > 0 {
			t.Errorf("%s: %v allocations, want none", s, got)
		}
	}
}

// BenchmarkMatches matches one Selector against one cluster.
func BenchmarkMatches(b *testing.B) {
	f := clusterinfo.New(&clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c1", Labels: map[string]string{"region": "eu", "stage": "prod", "zone": "a"}},
		Status:     clusterv1.ManagedClusterStatus{ClusterClaims: []clusterv1.ManagedClusterClaim{{Name: "platform", Value: "aws"}}},
	}, nil)

	for _, bc := range []struct {
		name string
		spec Spec
	}{
		{"label", Spec{Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}}},
		{"other-label", Spec{Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": "us"}}}},
		{"labels", Spec{Labels: metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{in("region", "eu", "us"), notIn("zone", "c")},
		}}},
		{"claim", Spec{ClaimValues: map[string]string{"platform": "aws"}}},
		{"CEL", Spec{CEL: []string{`managedCluster.metadata.labels["region"] == "eu"`}}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			s, errs := NewCompiler().Compile(paths(), bc.spec)
			if len(errs) > 0 {
				b.Fatal(errs.ToAggregate())
			}
			evaluation := &EvalContext{Now: now}
			b.ReportAllocs()
			for b.Loop() {
				s.Matches(f, evaluation)
			}
		})
	}
}

// TestWithoutCEL checks the part of a Selector that needs no evaluation of CEL.
func TestWithoutCEL(t *testing.T) {
	compiler := NewCompiler()
	eu := metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}

	both, errs := compiler.Compile(Paths{}, Spec{Labels: eu, CEL: []string{`managedCluster.metadata.name == "a"`}})
	plain, more := compiler.Compile(Paths{}, Spec{Labels: eu})
	if err := append(errs, more...).ToAggregate(); err != nil {
		t.Fatal(err)
	}
	if got := both.WithoutCEL(); got.Identity() != plain.Identity() || got.HasCEL() || len(got.Reads()) != 1 {
		t.Errorf("got %v, want %v", got, plain)
	}

	if plain.WithoutCEL() != plain {
		t.Error("a selector without CEL is its own static part")
	}
}
