// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// docs/spec/differences.md E1a: the reason of every work that is withdrawn, whatever the state of its object.
func TestReasonsOfClusters(t *testing.T) {
	deleting := &Evaluation{State: Deleting}
	if got, want := deleting.ReasonOf("eu1"), "the object is being deleted"; got != want {
		t.Errorf("deleting: got %q, want %q", got, want)
	}
	gone := &Evaluation{State: Delivering, Target: Target{Placement: "p"}, Selected: []string{"eu1"}}
	for cluster, want := range map[string]string{"eu1": "decision of Placement p", "eu2": "ManagedCluster is deleted"} {
		if got := gone.ReasonOf(cluster); got != want {
			t.Errorf("%s: got %q, want %q", cluster, got, want)
		}
	}
}

// docs/spec/differences.md E1a: why clusters have an object, or have it not, by what decides about it.
func TestReasonsByTarget(t *testing.T) {
	for _, tc := range []struct {
		reason      string
		annotations map[string]string
		edit        func(*hub)
		// want has the reasons of eu1, us1 and gone, which is no cluster.
		want [3]string
	}{
		{reason: "no selector", want: [3]string{"in scope", "in scope", "ManagedCluster is deleted"}},
		{
			reason: "a selector", annotations: map[string]string{SelectorAnnotation: europe},
			want: [3]string{"matches location in (europe)", "predicate 1 label location In [europe]: is usa", "ManagedCluster is deleted"},
		},
		{
			reason: "a workload propagates the object", annotations: map[string]string{SelectorAnnotation: europe},
			edit: func(h *hub) { h.users.Clusters = []string{"eu1", "us1"} },
			want: [3]string{"matches location in (europe)", "needed by a workload that propagates it", "ManagedCluster is deleted"},
		},
		{
			reason: "a Placement", annotations: map[string]string{PlacementAnnotation: "p"},
			want: [3]string{"decision of Placement p", "no decision of Placement p", "ManagedCluster is deleted"},
		},
		{
			reason: "the control plane alone", annotations: map[string]string{SelectorAnnotation: ControlPlaneOnly},
			want: [3]string{"the annotation keeps the object on the hub", "the annotation keeps the object on the hub", "ManagedCluster is deleted"},
		},
		{
			reason: "an invalid selector", annotations: map[string]string{SelectorAnnotation: "{"},
			want: [3]string{"it has left the scope of the namespace", "it has left the scope of the namespace", "ManagedCluster is deleted"},
		},
		{
			reason: "the Namespace is not known", edit: func(h *hub) { h.namespace = nil },
			want: [3]string{"ManagedCluster is deleted", "ManagedCluster is deleted", "ManagedCluster is deleted"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub()
			h.decisions = map[string]Decisions{"p": {Clusters: []string{"eu1"}}}
			if tc.edit != nil {
				tc.edit(h)
			}
			e := h.evaluate(configMap(tc.annotations))
			got := [3]string{e.ReasonOf("eu1"), e.ReasonOf("us1"), e.ReasonOf("gone")}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A change of a cluster concerns an object if it is one of what the selector or the bound sets read.
func TestReads(t *testing.T) {
	label := func(name string) []clusterinfo.Property {
		return []clusterinfo.Property{{Kind: clusterinfo.Label, Name: name}}
	}
	h := newHub()
	h.decisions = map[string]Decisions{"p": {Clusters: []string{"eu1"}}}
	for _, tc := range []struct {
		reason      string
		annotations map[string]string
		location    bool
	}{
		{"a selector", map[string]string{SelectorAnnotation: europe}, true},
		{"a Placement", map[string]string{PlacementAnnotation: "p"}, false},
	} {
		reads := h.evaluate(configMap(tc.annotations)).Reads()
		if !clusterinfo.Affects(reads, label("cluster.open-cluster-management.io/clusterset")) || clusterinfo.Affects(reads, label("load")) {
			t.Errorf("%s: a label of a bound set is not read, or another one is: %v", tc.reason, reads)
		}
		if clusterinfo.Affects(reads, label("location")) != tc.location {
			t.Errorf("%s: reads %v", tc.reason, reads)
		}
	}
	h.bind(false)
	if got := h.evaluate(configMap(map[string]string{PlacementAnnotation: "p"})).Reads(); got == nil {
		t.Error("an object that reads nothing counts as one whose reads are not known")
	}
}
