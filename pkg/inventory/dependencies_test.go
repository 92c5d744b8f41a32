// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// twoClauses returns the dependencies of a placement with two clauses, without and with a status that lists rejection reasons.
func twoClauses(t *testing.T) (plain, wide Dependencies) {
	t.Helper()
	both := compiled(t, selector.Spec{Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu", "zone": "x"}}})
	plain = Dependencies{Predicates: []*selector.Selector{both}}
	wide = Dependencies{Predicates: plain.Predicates, WatchRejected: true, Clauses: [][]*selector.Selector{both.Clauses()}}
	return plain, wide
}

// TestUpdateDependencies checks that events of rejected clusters affect a placement while its status lists rejection reasons, and neither
// before nor after (docs/spec/differences.md E2).
func TestUpdateDependencies(t *testing.T) {
	plain, wide := twoClauses(t)
	for _, tc := range []struct {
		reason  string
		event   func(*Inventory) Affected
		affects bool
	}{
		{"a cluster is added that does not match", func(i *Inventory) Affected { return i.SetCluster(managed("a2", "a")) }, true},
		{"it is deleted", func(i *Inventory) Affected { return i.DeleteCluster("a1") }, true},
		{"it enters the scope", func(i *Inventory) Affected { return i.SetCluster(managed("c1", "a")) }, true},
		{"it leaves the scope", func(i *Inventory) Affected { return i.SetCluster(managed("a1", "c", "region", "eu")) }, true},
		{"it fails another clause", func(i *Inventory) Affected { return i.SetCluster(managed("a1", "a", "region", "us")) }, true},
		{"it fails the same clause", func(i *Inventory) Affected { return i.SetCluster(managed("b1", "a", "region", "us")) }, false},
		{"it fails another clause outside the scope", func(i *Inventory) Affected {
			return i.SetCluster(managed("c1", "c", "region", "eu"))
		}, false},
		{"a cluster is added elsewhere", func(i *Inventory) Affected { return i.SetCluster(managed("c2", "c")) }, false},
	} {
		for _, watching := range []bool{false, true} {
			i, key := New(selector.NewCompiler()), NewPlacementKey(V1beta1, "ns", "p")
			i.SetClusterSet(exclusive("a"))
			i.SetBinding(binding("ns", "a"))
			for name, set := range map[string]string{"a1": "a", "c1": "c"} {
				i.SetCluster(managed(name, set, "region", map[string]string{"a": "eu", "c": "us"}[set]))
			}
			i.SetCluster(managed("b1", "a", "region", "ap"))
			i.Subscribe(key, plain)
			i.SnapshotFor(key)
			i.UpdateDependencies(key, wide)

			if !watching {
				i.UpdateDependencies(key, plain)
			}
			if got := len(tc.event(i).Subscribers) > 0; got != (tc.affects && watching) {
				t.Errorf("%s: affected %v while rejection reasons are listed %v, want %v", tc.reason, got, watching, tc.affects && watching)
			}
		}
	}
}

// TestUpdateDependenciesKeepsViews checks that the views of predicates in both dependencies are kept, and that unused views are dropped.
func TestUpdateDependenciesKeepsViews(t *testing.T) {
	plain, wide := twoClauses(t)
	i, key := New(selector.NewCompiler()), NewPlacementKey(V1beta1, "ns", "p")
	if got := i.UpdateDependencies(key, wide); got != i.SnapshotFor(key).Generation || len(i.views.byIdentity) != 0 {
		t.Errorf("the dependencies of a placement that never subscribed apply at %d, with %d views", got, len(i.views.byIdentity))
	}
	i.Subscribe(key, plain)
	i.UpdateDependencies(key, wide)
	if len(i.views.byIdentity) != 0 {
		t.Errorf("a placement without a snapshot has %d views, want none", len(i.views.byIdentity))
	}

	i.Subscribe(key, plain)
	i.SnapshotFor(key)
	view := i.views.byIdentity[plain.Predicates[0].Identity()]
	for _, step := range []struct {
		dependencies Dependencies
		views        int
	}{{wide, 3}, {wide, 3}, {plain, 1}, {wide, 3}} {
		i.UpdateDependencies(key, step.dependencies)
		if i.views.byIdentity[plain.Predicates[0].Identity()] != view || len(i.views.byIdentity) != step.views {
			t.Errorf("there are %d views, want %d and the first one among them", len(i.views.byIdentity), step.views)
		}
	}

	i.Unsubscribe(key)
	if len(i.views.byIdentity) != 0 || len(i.subscribers.unfiltered) != 0 || len(i.views.index.byKey) != 0 {
		t.Errorf("an unsubscribed placement leaves %d views, %d namespaces, %d indexed properties",
			len(i.views.byIdentity), len(i.subscribers.unfiltered), len(i.views.index.byKey))
	}
}

// TestAffectedByTheFirstPredicate checks that the second of two predicates affects a placement only for clusters that are not known to match
// the first one. Only a predicate without CEL is known to match.
func TestAffectedByTheFirstPredicate(t *testing.T) {
	eu, zone := map[string]string{"region": "eu"}, map[string]string{"zone": "x"}
	for _, tc := range []struct {
		reason  string
		first   selector.Spec
		labels  []string
		affects bool
	}{
		{"the cluster does not match the first", selector.Spec{Labels: metav1.LabelSelector{MatchLabels: eu}}, []string{"region", "us"}, true},
		{"the cluster matches the first", selector.Spec{Labels: metav1.LabelSelector{MatchLabels: eu}}, []string{"region", "eu"}, false},
		{
			"the cluster matches the labels of the first, which has CEL",
			selector.Spec{Labels: metav1.LabelSelector{MatchLabels: eu}, CEL: []string{`managedCluster.metadata.name == "none"`}},
			[]string{"region", "eu"}, true,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			i, key := New(selector.NewCompiler()), NewPlacementKey(V1beta1, "ns", "p")
			dependencies := Dependencies{Predicates: []*selector.Selector{
				compiled(t, tc.first), compiled(t, selector.Spec{Labels: metav1.LabelSelector{MatchLabels: zone}}),
			}}
			i.SetClusterSet(exclusive("a"))
			i.SetBinding(binding("ns", "a"))
			i.SetCluster(managed("c1", "a", tc.labels...))
			i.Subscribe(key, dependencies)
			i.SnapshotFor(key)

			affected := i.SetCluster(managed("c1", "a", append(slices.Clone(tc.labels), "zone", "x")...))
			if got := slices.Contains(affected.Subscribers, key); got != tc.affects {
				t.Errorf("affected: %t, want %t", got, tc.affects)
			}
		})
	}
}
