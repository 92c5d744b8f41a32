// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// churn is a hub in which everything comes and goes.
type churn struct {
	reconciler *reconciler
	handlers   map[string]toolscache.ResourceEventHandler // by the type of the object
}

// nowhere is a queue that takes keys and keeps none.
type nowhere struct {
	priorityqueue.PriorityQueue[inventory.Key]
}

func (nowhere) AddWithOpts(priorityqueue.AddOpts, ...inventory.Key) {}

func newChurn(t *testing.T) *churn {
	t.Helper()
	r, _ := newReconciler(t, servedAPIs{apis: []api.Adapter{api.V1beta1}}, newClientBuilder())
	r.state.Queue.SetQueue(nowhere{})
	c := &churn{reconciler: r, handlers: map[string]toolscache.ResourceEventHandler{}}
	for _, kind := range append((&eventHandlers{state: r.state}).kinds(), r.state.Shared.Listeners()...) {
		c.handlers[fmt.Sprintf("%T", kind.Object)] = kind.Handler
	}
	return c
}

func (c *churn) comes(object client.Object) {
	c.handlers[fmt.Sprintf("%T", object)].OnAdd(object, false)
}
func (c *churn) goes(object client.Object) { c.handlers[fmt.Sprintf("%T", object)].OnDelete(object) }

// round creates a namespace with a set, clusters, scores and two placements with a predicate and a CEL expression of their own, has the
// placements decided, and deletes all of it.
func (c *churn) round(t *testing.T, n int) {
	t.Helper()

	name := fmt.Sprintf("round-%d", n)
	meta := metav1.ObjectMeta{Namespace: name, Name: name, UID: types.UID(name), Generation: 1}
	objects := []client.Object{
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}},
		&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: meta},
		&clusterv1alpha1.AddOnPlacementScore{ObjectMeta: meta, Status: clusterv1alpha1.AddOnPlacementScoreStatus{
			Scores: []clusterv1alpha1.AddOnPlacementScoreItem{{Name: "x", Value: 1}},
		}},
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			clusterv1beta2.ClusterSetLabel: name, "round": name,
		}}},
	}

	for p := range 2 {
		placement := &clusterv1beta1.Placement{ObjectMeta: meta, Spec: clusterv1beta1.PlacementSpec{
			Predicates: []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"round": name}},
			}}},
		}}
		placement.Name = fmt.Sprintf("p%d", p)

		if n%50 == 0 { // To compile an expression takes most of a round.
			placement.Spec.Predicates[0].RequiredClusterSelector.CelSelector.CelExpressions = []string{
				fmt.Sprintf("managedCluster.metadata.name != %q", placement.Name+name),
			}
		}
		objects = append(objects, placement)
	}

	for _, object := range objects {
		c.comes(object)
	}
	for _, object := range objects {
		if placement, is := object.(*clusterv1beta1.Placement); is {
			objects = append(objects, c.decide(t, placement))
		}
	}

	for at := range objects { // Each round begins with another one.
		c.goes(objects[(at+n)%len(objects)])
	}
	for _, object := range objects {
		if placement, is := object.(*clusterv1beta1.Placement); is {
			if _, err := c.reconciler.Reconcile(t.Context(), api.V1beta1.Read(placement).Key()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// decide evaluates a placement, which has one cluster, and remembers a page with it as written and seen.
func (c *churn) decide(t *testing.T, object *clusterv1beta1.Placement) *clusterv1beta1.PlacementDecision {
	t.Helper()
	p, codec := api.V1beta1.Read(object), api.V1beta1.Codec()
	key := p.Key()
	change := c.reconciler.state.Queue.Get(key)

	evaluation, err := c.reconciler.decider.schedule(t.Context(), p, placement.NewExisting(codec, p, nil), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	result := evaluation.Result

	page := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name + "-decision-1", UID: object.UID, ResourceVersion: "1",
		Labels: map[string]string{clusterv1beta1.PlacementLabel: key.Name},
	}}
	if len(result.Selected) != 1 || change.At.IsZero() {
		t.Fatalf("%d clusters are selected after a change at %v, want one", len(result.Selected), change.At)
	}

	page.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: result.Selected[0].Name}}
	c.reconciler.state.pages[codec].Assume(key, codec.Read(page))
	c.reconciler.state.statuses.Assume(key, p)
	c.reconciler.state.placements.Note(key, metrics.PlacementState{Decisions: 1})
	c.comes(page)
	return page
}

// What is gone leaves nothing behind, however much comes and goes, while other objects stay.
func TestChurnLeavesNothingBehind(t *testing.T) {
	const (
		first, rounds = 500, 10_000
		// perRound is less than what is kept of a name, apart from the names that compact keeps within bounds.
		perRound = 300
	)
	c := newChurn(t)
	for n := range first {
		c.round(t, n)
	}
	before := heap()

	for n := range rounds {
		c.round(t, first+n)
	}
	if after := heap(); after > before+rounds*perRound {
		t.Errorf("%d rounds have left %d bytes each behind", rounds, (after-before)/rounds)
	}
}

// heap is how many bytes are in use.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
