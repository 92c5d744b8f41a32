// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

type (
	placementSpec = clusterv1beta1.PlacementSpec
	anyOf         = []clusterv1beta1.ClusterPredicate
	tolerating    = []clusterv1beta1.Toleration
	requirements  = []metav1.LabelSelectorRequirement
)

// randomHub has the objects of a Snapshot. Its Placement p is in the namespace ns, to which the set all with every cluster is bound.
type randomHub struct {
	inventory  *inventory.Inventory
	incumbents map[string]bool
}

func newRandomHub(clusters ...*clusterv1.ManagedCluster) *randomHub {
	w := &randomHub{inventory: inventory.New(selector.NewCompiler()), incumbents: map[string]bool{}}
	w.inventory.SetClusterSet(setOf("all", clusterv1beta2.LabelSelector, &metav1.LabelSelector{}))
	w.inventory.SetBinding(bindingOf("ns", "all"))
	for _, cluster := range clusters {
		w.inventory.SetCluster(cluster)
	}
	return w
}

func (h *randomHub) schedule(t *testing.T, spec placementSpec) *Result {
	t.Helper()
	return h.scheduleRequest(t, ConvertV1beta1(selector.NewCompiler(), placementOf(spec)))
}

func (h *randomHub) scheduleRequest(t *testing.T, request *Request) *Result {
	t.Helper()
	for _, mistake := range request.Errors {
		t.Errorf("unexpected mistake: %v", mistake)
	}
	return same(t, request, h.inventory.Snapshot(), h.incumbents)
}

// same returns the result of Schedule, which must be that of Reference.
func same(t rapid.TB, request *Request, snapshot *inventory.Snapshot, incumbents map[string]bool) *Result {
	t.Helper()
	result := Schedule(request, snapshot, incumbents, now)
	if different := Difference(result, Reference(request, snapshot, incumbents, now)); different != "" {
		t.Fatalf("the indexed engine says of %v: %s", request.Key, different)
	}
	return result
}

func placementOf(spec placementSpec) *clusterv1beta1.Placement {
	return &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}, Spec: spec}
}

func named(name string, labels ...string) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	for i := 0; i < len(labels); i += 2 {
		cluster.Labels[labels[i]] = labels[i+1]
	}
	return cluster
}

func setOf(name string, kind clusterv1beta2.SelectorType, labels *metav1.LabelSelector) *clusterv1beta2.ManagedClusterSet {
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
	set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{SelectorType: kind, LabelSelector: labels}
	return set
}

func bindingOf(namespace, set string) *clusterv1beta2.ManagedClusterSetBinding {
	return &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: set}}
}

func scoreOf(cluster, resource string, until *metav1.Time, items ...clusterv1alpha1.AddOnPlacementScoreItem) *clusterv1alpha1.AddOnPlacementScore {
	score := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: resource}}
	score.Status.Scores, score.Status.ValidUntil = items, until
	return score
}

func pageOf(namespace, name, placement string, clusters ...string) inventory.Page {
	owner := inventory.NewPlacementKey(inventory.V1beta1, namespace, placement)
	return inventory.Page{Key: owner.Decision(name), Owner: owner, Clusters: clusters}
}

// selected returns the names of the selected clusters, best first.
func selected(r *Result) []string {
	names := []string{}
	for _, verdict := range r.Best() {
		names = append(names, verdict.Cluster.Name)
	}
	return names
}

// stages returns the stages of all clusters.
func stages(r *Result) map[string]string {
	all := map[string]string{}
	for _, verdict := range r.Verdicts() {
		all[verdict.Cluster.Name] = verdict.Stage.String()
	}
	return all
}

func expect[V any](t *testing.T, what string, want, got V) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
