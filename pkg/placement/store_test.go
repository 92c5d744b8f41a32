// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// kind is a way to ask for clusters. What holds for one must hold for all.
type kind struct {
	name    string
	api     api.Adapter
	byScore bool
}

var kinds = []kind{{"v1beta1", api.V1beta1, false}, {"v1beta1 by score", api.V1beta1, true}, {"v1alpha1", api.V1alpha1, false}}

// ofEachKind checks a property of every kind, each that many times.
func ofEachKind(t *testing.T, checks int, check func(*rapid.T, kind)) {
	t.Helper()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { property.CheckTimes(t, checks, func(t *rapid.T) { check(t, k) }) })
	}
}

// draw draws a placement of the kind without a status.
func (k kind) draw(t *rapid.T) api.Object {
	if k.api == api.V1alpha1 {
		placement := &placementv1alpha1.Placement{ObjectMeta: placementOf(clusterv1beta1.PlacementSpec{}).ObjectMeta}
		placement.Spec.NumberOfClusters = rapid.SampledFrom([]*int32{nil, nil, new(int32(7)), new(int32(150))}).Draw(t, "wanted")
		return placement
	}
	spec := clusterv1beta1.PlacementSpec{}
	if k.byScore {
		spec = byScore("60s")
	}
	spec.DecisionStrategy = drawStrategy(t)
	return placementOf(spec)
}

// byScore asks for an order by the score x of the add-on demo.
func byScore(limit string) clusterv1beta1.PlacementSpec {
	return clusterv1beta1.PlacementSpec{
		SortBy: clusterv1beta1.PlacementSortByScore, ScoreRateLimit: limit, PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
			Mode: clusterv1beta1.PrioritizerPolicyModeExact, Configurations: []clusterv1beta1.PrioritizerConfig{{
				Weight: 1, ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
					Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: "demo", ScoreName: "x"},
				},
			}},
		},
	}
}

// store is an API server with one Placement and its pages, and a clock.
type store struct {
	placement *api.Placement
	pages     map[string]*api.Page
	version   int
	now       metav1.Time
}

func newStore(placement api.Object) *store {
	s := &store{pages: map[string]*api.Page{}, now: now}
	s.evaluate(placement)
	return s
}

// evaluate changes the spec of the Placement. Its status stays.
func (s *store) evaluate(placement api.Object) {
	status := api.Status{}
	if s.placement != nil {
		status = s.placement.Status
	}
	for _, adapter := range api.Adapters() {
		if read := adapter.Read(placement); read != nil {
			s.placement = read
		}
	}
	s.say(status)
}

// say writes the fields of the status that its API stores.
func (s *store) say(status api.Status) {
	object := s.placement.Object.DeepCopyObject()
	switch said := s.placement.API.Status(status).(type) {
	case clusterv1beta1.PlacementStatus:
		object.(*clusterv1beta1.Placement).Status = said
	case placementv1alpha1.PlacementStatus:
		object.(*placementv1alpha1.Placement).Status = said
	}
	s.placement = s.placement.API.Read(object)
}

func (s *store) codec() api.Codec { return s.placement.API.Codec() }

// put writes the fields of a page that its API stores.
func (s *store) put(p *api.Page) {
	p = s.codec().Read(s.codec().Write(p))
	s.version++
	p.ResourceVersion = strconv.Itoa(s.version)
	if p.UID == "" {
		p.UID = types.UID("uid-" + p.ResourceVersion)
	}
	s.pages[p.Name] = p
}

func (s *store) existing() Existing {
	return NewExisting(s.codec(), s.placement, slices.Collect(maps.Values(s.pages)))
}

func (s *store) schedule(i *inventory.Inventory) *scheduling.Result {
	return scheduling.Schedule(s.placement.Request(selector.NewCompiler()), i.Snapshot(), nil, s.now.Time)
}

func (s *store) plan(result *scheduling.Result) Plan { return NewPlan(result, s.existing(), s.now) }

// requests returns the requests of the Writer for the plan, one function each; the status comes before the deletions.
func (s *store) requests(t rapid.TB, result *scheduling.Result, plan Plan) []func() {
	var sent []func()
	for _, write := range plan.Writes {
		if write.Delete {
			sent = append(sent, s.deletion(t, write.Current)...)
			continue
		}
		for _, request := range requests(plan.Codec, write) {
			sent = append(sent, func() { s.serve(t, request, write.Desired) })
		}
	}

	status := NewStatus(result, plan, s.placement, s.now)
	sent = append(sent, func() { s.say(status) })
	for _, page := range plan.Deletes {
		sent = append(sent, s.deletion(t, page)...)
	}
	return sent
}

// deletion returns the requests that delete a page. Finalizers keep it.
func (s *store) deletion(t rapid.TB, page *api.Page) []func() {
	var sent []func()
	for _, request := range requests(s.codec(), beforeDelete(page)) {
		sent = append(sent, func() { s.serve(t, request, emptied(page)) })
	}
	return append(sent, func() {
		terminating := s.pages[page.Name]
		if terminating == nil || len(terminating.Finalizers) == 0 {
			delete(s.pages, page.Name)
			return
		}
		terminating.DeletionTimestamp = &now
		s.put(terminating)
	})
}

// serve handles a request as an API server does.
func (s *store) serve(t rapid.TB, request request, desired *api.Page) {
	before := s.pages[desired.Name]
	if (request.body == nil) != (before == nil) {
		t.Fatalf("%s %s: it exists: %v", request.verb, desired.Name, before != nil)
	}
	after := &api.Page{ObjectMeta: *desired.ObjectMeta.DeepCopy()}
	if before != nil {
		after.UID, after.Decisions = before.UID, before.Decisions
	}

	metadata, mended := request.body["metadata"].(map[string]any)
	if before != nil && !mended {
		after.ObjectMeta = *before.ObjectMeta.DeepCopy()
	}

	// A merge patch leaves what it does not name.
	if before != nil && mended {
		after.ObjectMeta = *before.ObjectMeta.DeepCopy()
		if labels, is := metadata["labels"].(map[string]string); is {
			after.Labels = labels
		}
		if owners, is := metadata["ownerReferences"].([]metav1.OwnerReference); is {
			after.OwnerReferences = owners
		}

		annotations, _ := metadata["annotations"].(map[string]string)
		for key, value := range annotations {
			metav1.SetMetaDataAnnotation(&after.ObjectMeta, key, value)
		}
	}

	// A server drops the subresource of what is created.
	if request.action == ActionUpdateDecisions || request.action == ActionCreate && s.codec().Subresource() == "" {
		after.Decisions = desired.Decisions
	}
	s.put(after)
}

// union returns the clusters of all pages.
func (s *store) union() map[string]bool { return s.existing().Incumbents() }

// settle applies a plan, checks the pages, and that the next plan is empty.
func (s *store) settle(t rapid.TB, result *scheduling.Result) {
	plan := s.plan(result)
	for again := true; again; {
		for _, request := range s.requests(t, result, plan) {
			request()
		}
		s.check(t, result)
		again = plan.Requeue
		plan = s.plan(result)
	}

	if !plan.Empty() {
		t.Fatalf("there is something left to do: %v", steps(plan))
	}
	s.checkOrder(t, result)
	if !sameStatus(s.placement.API, s.placement.Status, NewStatus(result, plan, s.placement, metav1.NewTime(now.Add(time.Hour)))) {
		t.Fatalf("the status is not settled: %v", s.placement.Status)
	}
}

// check checks the pages as a consumer does.
func (s *store) check(t rapid.TB, result *scheduling.Result) {
	seen := map[string]string{}
	for name, page := range s.pages {
		if page.Decisions == nil || len(page.Decisions) > PageSize {
			t.Fatalf("%s has %d decisions", name, len(page.Decisions))
		}
		if len(page.Decisions) == 0 && (len(s.pages) > 1 || len(result.Selected) > 0) {
			t.Fatalf("%s is empty beside others", name)
		}

		for _, d := range page.Decisions {
			if other, twice := seen[d.Cluster]; twice {
				t.Fatalf("%s is in %s and in %s", d.Cluster, other, name)
			}
			seen[d.Cluster] = name
			s.checkDecision(t, d, result)
		}
		if !slices.IsSortedFunc(page.Decisions, inOrder) {
			t.Fatalf("%s is not sorted: %v", name, page.Decisions)
		}
	}

	if len(seen) != len(result.Selected) {
		t.Fatalf("%d clusters in the pages, want %d", len(seen), len(result.Selected))
	}
	for _, verdict := range result.Best() {
		if seen[verdict.Cluster.Name] == "" {
			t.Fatalf("%s is in no page", verdict.Cluster.Name)
		}
	}

	if s.placement.API == api.V1beta1 {
		s.checkStatus(t, len(result.Selected))
	}
}

// inOrder is the order of a page: without scores only the names count.
func inOrder(a, b api.Decision) int {
	switch {
	case a.Score != b.Score:
		return int(b.Score - a.Score)
	case a.Cluster < b.Cluster:
		return -1
	default:
		return 1
	}
}

// checkDecision looks for what a decision must say, and must not say, beside its name (docs/spec/differences.md B7,
// docs/spec/placement-v1alpha1.md P13).
func (s *store) checkDecision(t rapid.TB, d api.Decision, result *scheduling.Result) {
	if d.Reason != "" || d.Score != 0 && result.Request.Order != scheduling.ByScore {
		t.Fatalf("%s has reason %q and score %d", d.Cluster, d.Reason, d.Score)
	}
	known := result.Cluster(d.Cluster)
	if want := s.placement.API == api.V1alpha1 && known != nil && known.Available; d.Available != want {
		t.Fatalf("%s is said to be available: %v", d.Cluster, d.Available)
	}
}

func (s *store) checkStatus(t rapid.TB, selected int) {
	groups := map[string]bool{}
	for _, page := range s.pages {
		groups[page.Labels[clusterv1beta1.DecisionGroupIndexLabel]] = true
	}
	if s.placement.Status.Selected != selected {
		t.Fatalf("%d clusters in the status, want %d", s.placement.Status.Selected, selected)
	}
	listed := 0

	for index, group := range s.placement.Status.Groups {
		if group.Index != index || !groups[strconv.Itoa(index)] {
			t.Fatalf("group %d of the status has index %d; the pages know %v", index, group.Index, groups)
		}
		for _, name := range group.Pages {
			if page := s.pages[name]; page == nil || page.Labels[clusterv1beta1.DecisionGroupNameLabel] != group.Name ||
				page.Labels[clusterv1beta1.DecisionGroupIndexLabel] != strconv.Itoa(index) {
				t.Fatalf("the status lists %s in group %d %q", name, index, group.Name)
			}
			listed++
		}
	}

	if listed != len(s.pages) || len(groups) != len(s.placement.Status.Groups) {
		t.Fatalf("the status lists %d of %d pages", listed, len(s.pages))
	}
}

// drawFleet draws clusters of three prefixes, few or more than a page.
func drawFleet(t *rapid.T) []string {
	names := map[string]bool{}
	for _, prefix := range []string{"a", "canary", "x"} {
		from := rapid.IntRange(0, 3).Draw(t, prefix+" from")
		size := rapid.OneOf(rapid.IntRange(0, 4), rapid.SampledFrom([]int{99, 100, 101, 200, 201})).Draw(t, prefix+" size")
		for n := from; n < from+size; n++ {
			names[fmt.Sprintf("%s-%03d", prefix, n)] = true
		}
	}
	return slices.Collect(maps.Keys(names))
}

// drawState draws a fleet in which some clusters are available, and all are scored.
func drawState(t *rapid.T) *inventory.Inventory { return shuffled(drawSeed(t), drawFleet(t)...) }

func drawSeed(t *rapid.T) int { return rapid.IntRange(0, 9).Draw(t, "availability and scores") }

// shuffled is a world in which the number decides who is available and what the scores are: some are equal, some 0 or less.
func shuffled(seed int, clusters ...string) *inventory.Inventory {
	i := stateOf()
	for _, name := range clusters {
		hash := fnv.New32a()
		_, _ = fmt.Fprint(hash, name, seed)
		drawn := hash.Sum32() >> 8
		available := map[bool]metav1.ConditionStatus{true: metav1.ConditionTrue, false: metav1.ConditionFalse}[drawn%2 == 0]
		cluster := clusterOf(name)
		cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: available}}
		i.SetCluster(cluster)
		i.SetScores(scoreOf(name, int32(drawn/2%19)-9))
	}

	return i
}

func drawStrategy(t *rapid.T) clusterv1beta1.DecisionStrategy {
	sizes := []intstr.IntOrString{
		intstr.FromString("100%"), intstr.FromString("30%"), intstr.FromInt32(2), intstr.FromInt32(100), intstr.FromInt32(150),
	}
	return byPrefix(rapid.SampledFrom(sizes).Draw(t, "length"), rapid.SliceOfN(rapid.SampledFrom([]string{"canary", "x"}), 0, 2).Draw(t, "groups")...)
}
