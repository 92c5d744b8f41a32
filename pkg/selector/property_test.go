// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/test/property"
)

func key() *rapid.Generator[string] { return rapid.SampledFrom([]string{"x", "y", "example.com/z"}) }

func value() *rapid.Generator[string] { return rapid.SampledFrom([]string{"", "a", "b", "not valid!"}) }

func requirements() *rapid.Generator[[]metav1.LabelSelectorRequirement] {
	one := rapid.Custom(func(t *rapid.T) metav1.LabelSelectorRequirement {
		operators := []metav1.LabelSelectorOperator{
			metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist,
		}
		r := metav1.LabelSelectorRequirement{Key: key().Draw(t, "key"), Operator: rapid.SampledFrom(operators).Draw(t, "operator")}
		listed := r.Operator == metav1.LabelSelectorOpIn || r.Operator == metav1.LabelSelectorOpNotIn
		if mistaken := rapid.IntRange(0, 19).Draw(t, "mistaken") == 0; listed != mistaken {
			r.Values = rapid.SliceOfN(value(), 1, 3).Draw(t, "values")
		}
		return r
	})

	return rapid.SliceOfN(one, 0, 3)
}

// legal draws values that are valid as label values.
func legal(t *rapid.T, label string) map[string]string {
	return rapid.MapOfN(key(), rapid.SampledFrom([]string{"", "a", "b"}), 0, 3).Draw(t, label)
}

func drawCluster(t *rapid.T, label string) *clusterinfo.ClusterInfo {
	c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: "c1", Labels: legal(t, label+" labels"), Annotations: legal(t, label+" annotations"),
	}}

	claims := legal(t, label+" claims")
	for _, name := range []string{"x", "y", "example.com/z"} {
		if value, claimed := claims[name]; claimed {
			c.Status.ClusterClaims = append(c.Status.ClusterClaims, clusterv1.ManagedClusterClaim{Name: name, Value: value})
		}
	}
	return clusterinfo.New(c, rapid.MapOfN(key(), rapid.Custom(func(t *rapid.T) clusterinfo.ScoreSet {
		return clusterinfo.ScoreSet{
			Names: []string{"s"}, Values: map[string]int32{"s": rapid.Int32Range(-1, 1).Draw(t, "score")},
			ValidUntil: now.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "until"))),
		}
	}), 0, 2).Draw(t, label+" scores"))
}

// TestLabelSelectorsAreThoseOfKubernetes checks that a label selector matches the same labels, and is invalid in the same cases, as in
// apimachinery.
func TestLabelSelectorsAreThoseOfKubernetes(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		selector := metav1.LabelSelector{
			MatchLabels:      rapid.MapOfN(key(), value(), 0, 2).Draw(t, "matchLabels"),
			MatchExpressions: requirements().Draw(t, "matchExpressions"),
		}
		want, err := metav1.LabelSelectorAsSelector(&selector)
		got, errs := NewCompiler().Compile(paths(), Spec{Labels: selector})
		if (err != nil) != (len(errs) > 0) {
			t.Fatalf("%v: got %v, want %v", selector, errs.ToAggregate(), err)
		}

		if err != nil {
			return
		}
		f := drawCluster(t, "cluster")
		if is, should := got.Matches(f, &EvalContext{}), want.Matches(labels.Set(f.Labels)); is != should {
			t.Fatalf("%s on %v: got %v, want %v", got, f.Labels, is, should)
		}
	})
}

// TestClaimSelectorsAreLabelSelectorsOverClaims checks that a claim selector matches claims as a label selector matches labels, where a
// label selector allows the values (docs/spec/upstream-placement.md 1.1).
func TestClaimSelectorsAreLabelSelectorsOverClaims(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		expressions := requirements().Draw(t, "matchExpressions")

		values := legal(t, "matchClaims")

		want, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: values, MatchExpressions: expressions})
		if err != nil {
			return
		}
		got, errs := NewCompiler().Compile(paths(), Spec{ClaimValues: values, Claims: expressions})
		if len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}

		f := drawCluster(t, "cluster")
		if is, should := got.Matches(f, &EvalContext{}), want.Matches(labels.Set(f.Claims)); is != should {
			t.Fatalf("%s on %v: got %v, want %v", got, f.Claims, is, should)
		}
	})
}

// TestReadsAreComplete checks that a change of properties that a Selector does not read does not change its Verdict.
func TestReadsAreComplete(t *testing.T) {
	expressions := []string{
		`has(managedCluster.metadata.labels) && managedCluster.metadata.labels.size() > 1`,
		`managedCluster.?metadata.annotations.hasValue()`,
		`managedCluster.scores("x").all(s, s.value >= 0)`,
		`managedCluster.scores("x" + "").all(s, s.value >= 0)`,
		`["x", "y"].exists(n, managedCluster.scores(n).exists(s, s.value > 0))`,
		`[managedCluster].all(managedCluster, managedCluster.scores("y").size() > 0)`,
		`managedCluster.scores("y").size() > 0 || managedCluster.?status.clusterClaims.hasValue()`,
	}
	compiler := NewCompiler()

	property.Check(t, func(t *rapid.T) {
		spec := Spec{
			Labels: metav1.LabelSelector{MatchLabels: rapid.MapOfN(key(), rapid.SampledFrom([]string{"", "a"}), 0, 1).Draw(t, "matchLabels")},
			Name:   rapid.SampledFrom([]string{"", "", "c1", "c2"}).Draw(t, "name"),
			Claims: requirements().Draw(t, "claims"), ClaimValues: rapid.MapOfN(key(), value(), 0, 1).Draw(t, "matchClaims"),
			CEL: rapid.SliceOfN(rapid.SampledFrom(expressions), 0, 2).Draw(t, "expressions"),
		}

		s, errs := compiler.Compile(paths(), spec)
		if len(errs) > 0 {
			return
		}
		before, after := drawCluster(t, "before"), drawCluster(t, "after")
		if rapid.Bool().Draw(t, "only scores") {
			after = before.WithScores(after.Scores)
		}
		changes := clusterinfo.ChangedProperties(before, after)

		was, is := s.Match(before, &EvalContext{Now: now}), s.Match(after, &EvalContext{Now: now})
		if verdictText(was) != verdictText(is) && !clusterinfo.Affects(s.Reads(), changes) {
			t.Fatalf("%s reads %v, which leaves out %v: %s became %s", s, s.Reads(), changes, verdictText(was), verdictText(is))
		}
	})
}

func verdictText(v Verdict) string { return fmt.Sprintf("%v %s", v.Matched, v.Failure()) }

// TestRequeueAtIsTheEarliestChange checks that RequeueAt is the earliest expiry after Now of a score that was read, and StableSince the
// latest one that is past.
func TestRequeueAtIsTheEarliestChange(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		evaluation := EvalContext{Now: now}
		var requeueAt, since time.Time
		for _, offset := range rapid.SliceOfN(rapid.IntRange(-3, 3), 0, 5).Draw(t, "offsets") {
			at := now.Add(time.Duration(offset))
			evaluation.RequeueAfterExpiry(at)
			changes := at.Add(1)
			if changes.After(now) && (requeueAt.IsZero() || changes.Before(requeueAt)) {
				requeueAt = changes
			}
			if !changes.After(now) && changes.After(since) {
				since = changes
			}
		}

		evaluation.RequeueAfterExpiry(time.Time{})
		evaluation.RequeueAfterChange(time.Time{})
		if got := evaluation.RequeueAt(); !got.Equal(requeueAt) {
			t.Fatalf("wakes at %v, want %v", got, requeueAt)
		}
		if got := evaluation.StableSince(); !got.Equal(since) {
			t.Fatalf("since %v, want %v", got, since)
		}
	})
}

// TestResultsAreStableUntilRequeueAt checks that a result is the same for every time from StableSince on and before RequeueAt.
func TestResultsAreStableUntilRequeueAt(t *testing.T) {
	compiler := NewCompiler()
	property.Check(t, func(t *rapid.T) {
		s, errs := compiler.Compile(paths(), Spec{CEL: rapid.SliceOfN(rapid.SampledFrom([]string{
			`managedCluster.scores("x").size() > 0`, `managedCluster.scores("x").size() == 0 || managedCluster.scores("y").all(s, s.value > 0)`,
			`managedCluster.scores(managedCluster.metadata.name == "c1" ? "y" : "x").exists(s, s.value > 0)`, `1 < 2`,
		}), 1, 2).Draw(t, "expressions")})
		if len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		f, first := drawCluster(t, "cluster"), &EvalContext{Now: now.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "now")))}
		verdict := s.Match(f, first)

		for offset := range 9 {
			later := &EvalContext{Now: now.Add(time.Duration(offset - 4))}
			if later.Now.Before(first.StableSince()) || !first.RequeueAt().IsZero() && !later.Now.Before(first.RequeueAt()) {
				continue
			}
			if again := s.Match(f, later); verdictText(again) != verdictText(verdict) {
				t.Fatalf("%s stands from %v to %v, but is %q at %v and %q at %v",
					s, first.StableSince(), first.RequeueAt(), verdictText(verdict), first.Now, verdictText(again), later.Now)
			}
		}
	})
}
