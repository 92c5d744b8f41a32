// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/test/property"
)

// hubsAtOnce is the number of hubs in one check of the property: few of them remove a cluster wrongly, if any does.
const hubsAtOnce = 20

// delayedHub is an API server, and a view of it that gets the events of one kind late. It is safe for concurrent use.
type delayedHub struct {
	metadata.Interface

	mu      sync.Mutex
	random  *rand.Rand
	version int
	objects map[freshness.Object]inventory.Object
	// states has the objects after each write, and pending the events of each kind that the view has not got.
	states  []map[freshness.Object]inventory.Object
	pending map[*inventory.ObjectKind][]func()
	delayed *inventory.ObjectKind
	// writes is how many more writes happen while requests are answered.
	writes int

	shared    *sharedinventory.Shared
	checker   *freshness.Checker
	placement *clusterv1beta1.Placement
}

func newDelayedHub(seed uint64) *delayedHub {
	h := &delayedHub{
		random: rand.New(rand.NewPCG(seed, 0)), objects: map[freshness.Object]inventory.Object{}, pending: map[*inventory.ObjectKind][]func(){},
		shared: sharedinventory.New(), placement: &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p", UID: "1", Generation: 1, ResourceVersion: "1",
		}},
	}
	h.checker = freshness.New(h, h.shared.Observed, nil)
	return h
}

// write writes an object, or deletes it.
func (h *delayedHub) write(kind *inventory.ObjectKind, object inventory.Object, deletes bool) {
	h.version++
	object.SetResourceVersion(strconv.Itoa(h.version))
	named := freshness.ObjectOf(kind.Resource, object)
	if _, exists := h.objects[named]; deletes && !exists {
		return
	}
	h.objects = maps.Clone(h.objects)

	if deletes {
		delete(h.objects, named)
		h.pending[kind] = append(h.pending[kind], func() { h.shared.Delete(kind, object) })
	} else {
		h.objects[named] = object
		h.pending[kind] = append(h.pending[kind], func() { h.shared.Set(kind, object) })
	}
	h.states = append(h.states, h.objects)
}

// deliver has the view handle the events of the kinds that are not delayed, and some of the delayed one.
func (h *delayedHub) deliver() {
	for _, kind := range inventory.Kinds() {
		events := h.pending[kind]
		if kind == h.delayed {
			events = events[:h.random.IntN(len(events)/2+1)]
		}
		for _, handle := range events {
			handle()
		}
		h.pending[kind] = h.pending[kind][len(events):]
	}
}

func pick[T any](h *delayedHub, of ...T) T { return of[h.random.IntN(len(of))] }

// change changes an object at random. Some changes say what the object said before.
func (h *delayedHub) change() {
	name := fmt.Sprintf("c%d", h.random.IntN(5))
	switch h.random.IntN(8) {
	case 0:
		binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: pick(h, "a", "b")}}
		h.write(inventory.Bindings, binding, h.random.IntN(2) == 0)
	case 1:
		set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
		set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
			SelectorType:  clusterv1beta2.LabelSelector,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": pick(h, "x", "y")}},
		}
		h.write(inventory.ClusterSets, set, false)
	case 2, 3:
		scores := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "demo"}}
		scores.Status.Scores = []clusterv1alpha1.AddOnPlacementScoreItem{{Name: "load", Value: pick[int32](h, -50, 0, 50, 100)}}
		h.write(inventory.Scores, scores, h.random.IntN(4) == 0)
	default:
		h.write(inventory.Clusters, h.cluster(name), h.random.IntN(8) == 0)
	}
}

func (h *delayedHub) cluster(name string) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		clusterv1beta2.ClusterSetLabel: pick(h, "a", "a", "a", "other"), "tier": pick(h, "x", "y"), "rack": pick(h, "r1", "r2", "r3"),
	}}}
	cluster.Status.Allocatable = clusterv1.ResourceList{"cpu": resource.MustParse(pick(h, "1", "4", "16"))}
	cluster.Status.Capacity = cluster.Status.Allocatable
	return cluster
}

// fill makes the initial objects, which the view shows, and a placement.
func (h *delayedHub) fill() {
	h.write(inventory.ClusterSets, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, false)
	h.write(inventory.Bindings, &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}, false)
	for i := range 5 {
		h.write(inventory.Clusters, h.cluster(fmt.Sprintf("c%d", i)), false)
	}
	for range 5 {
		h.change()
	}
	h.deliver()

	spec := &h.placement.Spec
	if h.random.IntN(4) > 0 {
		spec.NumberOfClusters = ptr.To(int32(1 + h.random.IntN(4)))
	}

	spec.PrioritizerPolicy.Mode = clusterv1beta1.PrioritizerPolicyModeExact
	spec.PrioritizerPolicy.Configurations = []clusterv1beta1.PrioritizerConfig{{
		ScoreCoordinate: pick(h,
			&clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: scheduling.ResourceAllocatableCPU},
			&clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{
				ResourceName: "demo", ScoreName: "load",
			}}), Weight: 1,
	}}

	if h.random.IntN(2) == 0 {
		spec.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{{
			TopologyKey: "rack", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1, WhenUnsatisfiable: clusterv1beta1.DoNotSchedule,
		}}
	}
	if h.random.IntN(3) == 0 {
		spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"tier": "x"}},
		}}}
	}
}

// request returns the request of the placement, which some draws give an anti-affinity, as v1alpha1 has it.
func (h *delayedHub) request() *scheduling.Request {
	request := *api.V1beta1.Read(h.placement).Request(h.shared.Compiler)
	if h.random.IntN(4) == 0 {
		request.AntiAffinity, request.Spread = &clusterinfo.Property{Kind: clusterinfo.Label, Name: "rack"}, nil
	}
	return &request
}

// Resource implements the client. Writes happen before and between the answers.
func (h *delayedHub) Resource(of schema.GroupVersionResource) metadata.Getter {
	return delayedGetter{hub: h, of: of}
}

type delayedGetter struct {
	metadata.Getter

	hub       *delayedHub
	of        schema.GroupVersionResource
	namespace string
}

func (g delayedGetter) Namespace(name string) metadata.ResourceInterface {
	g.namespace = name
	return g
}

func (g delayedGetter) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*metav1.PartialObjectMetadata, error) {
	g.hub.mu.Lock()
	defer g.hub.mu.Unlock()
	g.hub.happen()
	if g.of == placements(api.V1beta1) {
		return &metav1.PartialObjectMetadata{ObjectMeta: g.hub.placement.ObjectMeta}, nil
	}
	object, exists := g.hub.objects[freshness.Object{Resource: g.of, NamespacedName: types.NamespacedName{Namespace: g.namespace, Name: name}}]
	if !exists {
		return nil, apierrors.NewNotFound(g.of.GroupResource(), name)
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: object.GetResourceVersion()}}, nil
}

func (g delayedGetter) List(context.Context, metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	g.hub.mu.Lock()
	defer g.hub.mu.Unlock()
	g.hub.happen()
	list := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(g.hub.version)}}

	for named, object := range g.hub.objects {
		if named.Resource == g.of && (g.namespace == "" || g.namespace == named.Namespace) {
			list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Namespace: named.Namespace, Name: named.Name, ResourceVersion: object.GetResourceVersion(),
			}})
		}
	}
	return list, nil
}

// happen writes something, or delivers events, or does nothing.
func (h *delayedHub) happen() {
	if h.writes > 0 && h.random.IntN(3) == 0 {
		h.writes--
		h.change()
	}
	if h.random.IntN(2) == 0 {
		h.deliver()
	}
}

// share proves that any cluster may leave. The lists that are requested for it may serve the next proof. The result does not matter: the proof fails
// where the view is behind, and its lists are kept all the same.
func (h *delayedHub) share(ctx context.Context) {
	_ = h.checker.Prove(ctx, freshness.ProofRequest{
		Since: h.shared.Observed.Now(), Object: placementObject(api.V1beta1.Read(h.placement)), Meta: h.placement.ObjectMeta,
		Ranked: true, AllClusters: true, Scores: true,
	})
}

// loses returns which of the clusters a request does not select in a state of the API server.
func (h *delayedHub) loses(request *scheduling.Request, state map[freshness.Object]inventory.Object, incumbents map[string]bool) []string {
	truth := inventory.New(h.shared.Compiler)
	for _, kind := range inventory.Kinds() {
		for named, object := range state {
			if named.Resource == kind.Resource {
				kind.Set(truth, object)
			}
		}
	}
	return lost(scheduling.Schedule(request, truth.Snapshot(), incumbents, time.Now()), incumbents)
}

func lost(result *scheduling.Result, incumbents map[string]bool) []string {
	left := maps.Clone(incumbents)
	for _, f := range result.Selected {
		delete(left, f.Name)
	}
	return slices.Sorted(maps.Keys(left))
}

// B11: in a random hub with one kind of watch that is delayed at a random point, no clusters leave together that would not leave in the state
// of the API server at one moment since.
func TestADelayedWatchRemovesNothingThatStays(t *testing.T) {
	removals := 0
	property.Check(t, func(rt *rapid.T) {
		first := rapid.Uint64().Draw(rt, "seed")
		for n := range uint64(hubsAtOnce) {
			wrong := ""
			synctest.Test(t, func(t *testing.T) {
				var removed bool
				if removed, wrong = removesWrongly(t.Context(), newDelayedHub(first+n)); removed {
					removals++
				}
			})
			if wrong != "" {
				rt.Fatal(wrong)
			}
		}
	})

	if removals == 0 {
		t.Error("no removal was proved, so that nothing was tested")
	}
}

// removesWrongly delays a kind, and reports whether clusters leave then, and why they must not.
func removesWrongly(ctx context.Context, h *delayedHub) (removed bool, wrong string) {
	h.fill()
	request, incumbents := h.request(), map[string]bool{}

	before := *request
	if h.random.IntN(4) > 0 { // The user asks for fewer clusters.
		before.Wanted, before.Spread, before.AntiAffinity = nil, nil, nil
	}
	for _, f := range scheduling.Schedule(&before, h.shared.Inventory.Snapshot(), nil, time.Now()).Selected {
		incumbents[f.Name] = true
	}
	h.delayed = pick(h, append(inventory.Kinds(), inventory.Clusters, inventory.Clusters)...)
	began := len(h.states) - 1

	for range h.random.IntN(6) {
		if h.random.IntN(4) == 0 {
			h.share(ctx)
		}
		h.change()
	}
	h.deliver()
	if h.random.IntN(4) == 0 {
		h.share(ctx)
	}
	h.writes = h.random.IntN(4)
	since := h.shared.Observed.Now()
	result := scheduling.Schedule(request, h.shared.Inventory.Snapshot(), incumbents, time.Now())

	removal, removes := removalOf(api.V1beta1.Read(h.placement), existingOf(incumbents), result, since)
	if !removes || h.checker.Prove(ctx, removal) != nil {
		return false, ""
	}

	leaving := lost(result, incumbents)
	for _, state := range h.states[began:] {
		loses := h.loses(request, state, incumbents)
		if !slices.ContainsFunc(leaving, func(cluster string) bool { return !slices.Contains(loses, cluster) }) {
			return true, ""
		}
	}
	return true, fmt.Sprintf("%v leave, which is right at no moment; the delayed kind is %s", leaving, h.delayed.Resource.Resource)
}

func existingOf(clusters map[string]bool) placement.Existing {
	page := &api.Page{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p-decision-1"}}
	for name := range clusters {
		page.Decisions = append(page.Decisions, api.Decision{Cluster: name})
	}
	return placement.Existing{Codec: api.V1beta1.Codec(), Pages: []*api.Page{page}}
}
