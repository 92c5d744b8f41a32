// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// managed returns a cluster in an exclusive set; more are keys and values of further labels.
func managed(name, set string, more ...string) *clusterv1.ManagedCluster {
	labels := map[string]string{clusterv1beta2.ClusterSetLabel: set}
	for i := 0; i < len(more); i += 2 {
		labels[more[i]] = more[i+1]
	}
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

func setOf(name string, kind clusterv1beta2.SelectorType, labels *metav1.LabelSelector) *clusterv1beta2.ManagedClusterSet {
	return &clusterv1beta2.ManagedClusterSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: clusterv1beta2.ManagedClusterSetSpec{
			ClusterSelector: clusterv1beta2.ManagedClusterSelector{SelectorType: kind, LabelSelector: labels},
		},
	}
}

func exclusive(name string) *clusterv1beta2.ManagedClusterSet {
	return setOf(name, clusterv1beta2.ExclusiveClusterSetLabel, nil)
}

func binding(namespace, name string) *clusterv1beta2.ManagedClusterSetBinding {
	return &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: name},
	}
}

func scored(cluster, name string, value int32) *clusterv1alpha1.AddOnPlacementScore {
	return &clusterv1alpha1.AddOnPlacementScore{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name},
		Status: clusterv1alpha1.AddOnPlacementScoreStatus{
			Scores: []clusterv1alpha1.AddOnPlacementScoreItem{{Name: "s", Value: value}},
		},
	}
}

func decided(namespace, name, placement string, clusters ...string) Page {
	owner := NewPlacementKey(V1beta1, namespace, placement)
	return Page{Key: owner.Decision(name), Owner: owner, Clusters: clusters}
}

func TestClusterSetsContain(t *testing.T) {
	everything := &metav1.LabelSelector{}
	eu := &metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}
	for _, tc := range []struct {
		reason string
		set    *clusterv1beta2.ManagedClusterSet
		want   []string
		err    string
	}{
		{"1.3: no selector is the exclusive label", setOf("a", "", nil), []string{"a1", "a2"}, ""},
		{"1.3: exclusive", exclusive("a"), []string{"a1", "a2"}, ""},
		{"1.3: an exclusive set does not look at its label selector", setOf("a", "", eu), []string{"a1", "a2"}, ""},
		{"1.3: nobody carries the label", exclusive("c"), nil, ""},
		{"1.3: a label selector may overlap exclusive sets", setOf("a", clusterv1beta2.LabelSelector, eu), []string{"a1", "b1"}, ""},
		{"1.3: {} is everything", setOf("a", clusterv1beta2.LabelSelector, everything), []string{"a1", "a2", "b1"}, ""},
		{"1.3: an absent label selector is nothing", setOf("a", clusterv1beta2.LabelSelector, nil), nil, ""},
		{"A4: another selector type", setOf("a", "LegacyClusterSetLabel", nil), nil,
			`ManagedClusterSet a: spec.clusterSelector.selectorType: Unsupported value: "LegacyClusterSetLabel": ` +
				`supported values: "ExclusiveClusterSetLabel", "LabelSelector"`},
		{"A4: a selector that cannot be read", setOf("a", clusterv1beta2.LabelSelector, &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "region", Operator: "Is"}},
		}), nil, `ManagedClusterSet a: spec.clusterSelector.labelSelector.matchExpressions[0].operator: Invalid value: "Is": ` +
			`not a valid selector operator`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			set := NewClusterSet(selector.NewCompiler(), tc.set)
			if diff := cmp.Diff(tc.err, errorText(set.Err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			var got []string

			for _, c := range []*clusterv1.ManagedCluster{managed("a1", "a", "region", "eu"), managed("a2", "a"),
				managed("b1", "b", "region", "eu")} {
				if set.Contains(clusterinfo.New(c, nil)) {
					got = append(got, c.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScope(t *testing.T) {
	inventory := New(selector.NewCompiler())
	for _, set := range []string{"d", "b", "a", "unbound"} {
		inventory.SetClusterSet(exclusive(set))
	}
	for _, name := range []string{"missing", "b", "a", "d"} {
		inventory.SetBinding(binding("ns", name))
	}

	renamed := binding("ns2", "a")
	renamed.Spec.ClusterSet = "b"
	inventory.SetBinding(renamed)
	inventory.SetBinding(binding("ns3", "missing"))

	for _, tc := range []struct {
		reason, namespace string
		asked             []string
		bound, eligible   []string
	}{
		{"1.4: no bindings", "nowhere", nil, nil, nil},
		{"1.4: a binding counts when its set exists", "ns3", nil, nil, nil},
		{"1.5: nothing asked for is all that is bound, by name", "ns", nil, []string{"a", "b", "d"}, []string{"a", "b", "d"}},
		{"1.1: an empty list is no list", "ns", []string{}, []string{"a", "b", "d"}, []string{"a", "b", "d"}},
		{"1.5: the intersection, by name; unknown and unbound names are ignored, and so are duplicates",
			"ns", []string{"d", "unbound", "nobody", "a", "d", "missing"}, []string{"a", "b", "d"}, []string{"a", "d"}},
		{"1.5: no intersection", "ns", []string{"unbound"}, []string{"a", "b", "d"}, nil},
		{"0.6: what counts is the name of the binding", "ns2", nil, []string{"a"}, []string{"a"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			scope := inventory.Snapshot().Scope(tc.namespace, tc.asked)
			var eligible []string
			for _, set := range scope.Eligible {
				eligible = append(eligible, set.Name)
			}
			if diff := cmp.Diff(tc.bound, scope.Bound); diff != "" {
				t.Errorf("bound (-want +got):\n%s", diff)
			}

			if diff := cmp.Diff(tc.eligible, eligible); diff != "" {
				t.Errorf("eligible (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecisionCounts(t *testing.T) {
	inventory := New(selector.NewCompiler())
	for _, page := range []Page{
		decided("ns", "p-decision-1", "p", "c1", "c2"), decided("ns", "p-decision-2", "p", "c3"),
		decided("ns", "q-decision-1", "q", "c1"), decided("other", "p-decision-1", "p", "c1", "c1"), decided("ns", "by-hand", "", "c3", "gone"),
	} {
		inventory.SetDecision(page)
	}

	for _, tc := range []struct {
		reason string
		key    Key
		want   map[string]int
	}{
		{"1.8: all decisions hub-wide but its own; pages without a label count too",
			NewPlacementKey(V1beta1, "ns", "p"), map[string]int{"c1": 3, "c3": 1, "gone": 1}},
		{"another placement", NewPlacementKey(V1beta1, "ns", "q"), map[string]int{"c1": 3, "c2": 1, "c3": 2, "gone": 1}},
		{"the same name in another API", NewPlacementKey(V1alpha1, "ns", "p"), map[string]int{"c1": 4, "c2": 1, "c3": 2, "gone": 1}},
		{"the same name in another namespace", NewPlacementKey(V1beta1, "other", "p"), map[string]int{"c1": 2, "c2": 1, "c3": 2, "gone": 1}},
		{"a placement without decisions", NewPlacementKey(V1beta1, "ns", "new"), map[string]int{"c1": 4, "c2": 1, "c3": 2, "gone": 1}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, inventory.Snapshot().DecisionCounts(tc.key)); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}

	before := inventory.Snapshot()
	inventory.DeleteDecision(NewPlacementKey(V1beta1, "other", "p").Decision("p-decision-1"))
	inventory.SetDecision(decided("ns", "p-decision-1", "q", "c2"))
	if diff := cmp.Diff(map[string]int{"c1": 1, "c2": 1, "c3": 1, "gone": 1},
		inventory.Snapshot().DecisionCounts(NewPlacementKey(V1beta1, "ns", "p"))); diff != "" {
		t.Errorf("after a page went and one changed hands (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"c1": 3, "c3": 1, "gone": 1}, before.DecisionCounts(NewPlacementKey(V1beta1, "ns", "p"))); diff != "" {
		t.Errorf("a snapshot changed (-want +got):\n%s", diff)
	}
}

// TestNamespaceDecisionCounts covers the decisions of the other placements of the namespace, whatever their API (docs/spec/differences.md
// D3).
func TestNamespaceDecisionCounts(t *testing.T) {
	inventory := New(selector.NewCompiler())
	older := NewPlacementKey(V1alpha1, "ns", "p")
	for _, page := range []Page{
		decided("ns", "p-decision-1", "p", "c1", "c2"), decided("ns", "p-decision-2", "p", "c3"), decided("ns", "q-decision-1", "q", "c1"),
		decided("other", "p-decision-1", "p", "c1", "c1"), decided("ns", "by-hand", "", "c3", "gone"),
		{Key: older.Decision("p-decision-1"), Owner: older, Clusters: []string{"c2"}},
	} {
		inventory.SetDecision(page)
	}

	for _, tc := range []struct {
		reason string
		key    Key
		want   map[string]int
	}{
		{"its own do not count, nor those of other namespaces or of no placement", NewPlacementKey(V1beta1, "ns", "p"),
			map[string]int{"c1": 1, "c2": 1}},
		{"the same name in another API is another placement", older, map[string]int{"c1": 2, "c2": 1, "c3": 1}},
		{"a placement without decisions", NewPlacementKey(V1beta1, "ns", "new"), map[string]int{"c1": 2, "c2": 2, "c3": 1}},
		{"a namespace without others", NewPlacementKey(V1beta1, "other", "p"), map[string]int{}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, inventory.Snapshot().NamespaceDecisionCounts(tc.key)); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}
