// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

var now = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

func placementOf(spec clusterv1beta1.PlacementSpec) *clusterv1beta1.Placement {
	return &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "uid-p", Generation: 7, ResourceVersion: "70"}, Spec: spec,
	}
}

// byPrefix makes the groups canary and next of the clusters whose names begin so, in pieces of the size.
func byPrefix(size intstr.IntOrString, names ...string) clusterv1beta1.DecisionStrategy {
	strategy := clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: size}
	for _, name := range names {
		strategy.DecisionGroups = append(strategy.DecisionGroups, clusterv1beta1.DecisionGroup{
			GroupName: name, ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"prefix": name}},
			},
		})
	}
	return clusterv1beta1.DecisionStrategy{GroupStrategy: strategy}
}

// stateOf has one bound set of everything and the clusters, each labelled with the part of its name before the dash.
func stateOf(clusters ...string) *inventory.Inventory {
	i := inventory.New(selector.NewCompiler())
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
		SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{},
	}
	i.SetClusterSet(set)
	i.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "all"}})
	for _, name := range clusters {
		i.SetCluster(clusterOf(name))
	}
	return i
}

func clusterOf(name string) *clusterv1.ManagedCluster {
	prefix, _, _ := strings.Cut(name, "-")
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"prefix": prefix}}}
}

// scoreOf returns the score of a cluster by the add-on demo.
func scoreOf(cluster string, value int32) *clusterv1alpha1.AddOnPlacementScore {
	score := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "demo"}}
	score.Status.Scores = []clusterv1alpha1.AddOnPlacementScoreItem{{Name: "x", Value: value}}
	return score
}

func resultOf(placement *clusterv1beta1.Placement, i *inventory.Inventory) *scheduling.Result {
	return scheduling.Schedule(api.V1beta1.Read(placement).Request(selector.NewCompiler()), i.Snapshot(), nil, now.Time)
}

// selecting returns the result that selects exactly the clusters.
func selecting(placement *clusterv1beta1.Placement, clusters ...string) *scheduling.Result {
	return resultOf(placement, stateOf(clusters...))
}

// fleet returns c-001 and so on.
func fleet(n int) []string {
	names := make([]string, 0, n)
	for i := range n {
		names = append(names, fmt.Sprintf("c-%03d", i+1))
	}
	return names
}

// ownerReference is how a page names its placement.
func ownerReference(placement *clusterv1beta1.Placement) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "Placement", Name: placement.Name, UID: placement.UID,
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}
}

// page is a PlacementDecision as the hub writes it for placement p; nil clusters leave the list absent.
func page(n, group int, name string, clusters ...string) *api.Page {
	p := &api.Page{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: PageName("p", n), UID: types.UID(fmt.Sprintf("uid-%d", n)), ResourceVersion: strconv.Itoa(n),
			Labels: map[string]string{
				clusterv1beta1.PlacementLabel: "p", clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(group),
				clusterv1beta1.DecisionGroupNameLabel: name,
			},
			OwnerReferences: []metav1.OwnerReference{ownerReference(placementOf(clusterv1beta1.PlacementSpec{}))},
		},
	}

	for _, cluster := range clusters {
		p.Decisions = append(p.Decisions, api.Decision{Cluster: cluster})
	}
	return p
}

// older is a page of v1alpha1 as the hub writes it for placement p.
func older(n int, decisions ...api.Decision) *api.Page {
	return &api.Page{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: PageName("p", n), UID: types.UID(fmt.Sprintf("uid-%d", n)), ResourceVersion: strconv.Itoa(n),
			Labels: map[string]string{"placement.open-cluster-management.io": "p"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "placement.open-cluster-management.io/v1alpha1", Kind: "Placement", Name: "p", UID: "uid-p",
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
			}},
		},
		Decisions: decisions,
	}
}

// edited returns a changed copy of a page.
func edited(p *api.Page, change func(*api.Page)) *api.Page {
	change(p)
	return p
}

// existingOf is what exists for a placement of v1beta1.
func existingOf(placement *clusterv1beta1.Placement, pages ...*api.Page) Existing {
	return NewExisting(api.V1beta1.Codec(), api.V1beta1.Read(placement), pages)
}

// planOf returns the plan at the current time.
func planOf(result *scheduling.Result, existing Existing) Plan { return NewPlan(result, existing, now) }

// statusOf returns the status at the current time.
func statusOf(result *scheduling.Result, plan Plan, placement *clusterv1beta1.Placement) api.Status {
	return NewStatus(result, plan, api.V1beta1.Read(placement), now)
}

// put puts a status in a placement, as the API writes it.
func put(placement *clusterv1beta1.Placement, status api.Status) {
	placement.Status = api.V1beta1.Status(status).(clusterv1beta1.PlacementStatus)
}

// clustersOf is "c-001..c-100" for a long page, and all names for a short one.
func clustersOf(page *api.Page) string {
	names := page.Clusters()
	if len(names) > 4 {
		return fmt.Sprintf("%s..%s (%d)", names[0], names[len(names)-1], len(names))
	}
	return strings.Join(names, " ")
}

// steps tells a plan, one line for each write.
func steps(plan Plan) []string {
	lines := []string{}
	for _, w := range plan.Writes {
		verbs := []string{}
		if w.Create {
			verbs = append(verbs, "create")
		}
		if w.UpdateMetadata {
			verbs = append(verbs, "mend")
		}
		if w.UpdateDecisions {
			verbs = append(verbs, "fill")
		}

		if w.Touch {
			verbs = append(verbs, "confirm")
		}
		if w.Delete {
			verbs = append(verbs, "delete")
		}
		lines = append(lines, fmt.Sprintf("%s %s group %s %q: %s", strings.Join(verbs, " and "), w.Desired.Name,
			w.Desired.Labels[clusterv1beta1.DecisionGroupIndexLabel], w.Desired.Labels[clusterv1beta1.DecisionGroupNameLabel],
			clustersOf(w.Desired)))
	}

	for _, p := range plan.Deletes {
		lines = append(lines, "delete "+p.Name)
	}
	return lines
}

// reported is one line for each group of a status.
func reported(groups []api.GroupStatus) []string {
	lines := []string{}
	for _, g := range groups {
		lines = append(lines, fmt.Sprintf("%d %q %v %d", g.Index, g.Name, g.Pages, g.Clusters))
	}
	return lines
}

func expect[V any](t *testing.T, what string, want, got V) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func reversed[V any](values []V) []V {
	values = slices.Clone(values)
	slices.Reverse(values)
	return values
}
