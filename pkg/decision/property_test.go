package decision

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// store is an API server with one placement and its pages.
type store struct {
	placement *clusterv1beta1.Placement
	pages     map[string]*clusterv1beta1.PlacementDecision
	version   int
}

func (s *store) put(p *clusterv1beta1.PlacementDecision) {
	s.version++
	p.ResourceVersion = strconv.Itoa(s.version)

	if p.UID == "" {
		p.UID = types.UID("uid-" + p.ResourceVersion)
	}

	s.pages[p.Name] = p
}

func (s *store) present() Present {
	return NewPresent(s.placement, slices.Collect(maps.Values(s.pages)))
}

// requests are what the Writer would send for the plan, one function each; the status comes before the deletes.
func (s *store) requests(result *scheduling.Result, plan Plan) []func() {
	var requests []func()

	for _, write := range plan.Writes {
		desired := write.Desired

		if write.Create || write.Mend {
			requests = append(requests, func() {
				mended := &clusterv1beta1.PlacementDecision{ObjectMeta: *desired.ObjectMeta.DeepCopy()}
				if before := s.pages[desired.Name]; before != nil {
					mended.Status = before.Status
				}

				s.put(mended)
			})
		}

		if write.Fill {
			requests = append(requests, func() {
				filled := s.pages[desired.Name].DeepCopy()
				filled.Status = *desired.Status.DeepCopy()
				s.put(filled)
			})
		}
	}

	status := NewStatus(result, plan, s.placement, now)
	requests = append(requests, func() {
		s.placement = s.placement.DeepCopy()
		s.placement.Status = status
	})

	for _, page := range plan.Deletes {
		requests = append(requests, func() { delete(s.pages, page.Name) })
	}

	return requests
}

// union are the clusters in all pages.
func (s *store) union() map[string]bool { return s.present().Incumbents() }

// settle carries a plan out, checks what came of it, and that there is nothing left to do.
func (s *store) settle(t *rapid.T, result *scheduling.Result) {
	plan := NewPlan(result, s.present())

	for again := true; again; {
		for _, request := range s.requests(result, plan) {
			request()
		}

		s.check(t, result)

		again = plan.Again
		plan = NewPlan(result, s.present())
	}

	if !plan.Empty() {
		t.Fatalf("there is something left to do: %v", steps(plan))
	}

	if !sameStatus(s.placement.Status, NewStatus(result, plan, s.placement, metav1.NewTime(now.Add(time.Hour)))) {
		t.Fatalf("the status is not settled: %v", s.placement.Status)
	}
}

// check looks at the pages as a consumer does.
func (s *store) check(t *rapid.T, result *scheduling.Result) {
	seen := map[string]string{}
	groups := map[string]bool{}

	for name, page := range s.pages {
		if page.Status.Decisions == nil || len(page.Status.Decisions) > PageSize {
			t.Fatalf("%s has %d decisions", name, len(page.Status.Decisions))
		}

		if len(page.Status.Decisions) == 0 && (len(s.pages) > 1 || len(result.Selected) > 0) {
			t.Fatalf("%s is empty beside others", name)
		}

		for _, d := range page.Status.Decisions {
			if other, twice := seen[d.ClusterName]; twice {
				t.Fatalf("%s is in %s and in %s", d.ClusterName, other, name)
			}

			seen[d.ClusterName] = name
		}

		groups[page.Labels[clusterv1beta1.DecisionGroupIndexLabel]] = true
	}

	if len(seen) != len(result.Selected) || int(s.placement.Status.NumberOfSelectedClusters) != len(seen) {
		t.Fatalf("%d clusters in the pages, %d in the status, want %d", len(seen), s.placement.Status.NumberOfSelectedClusters, len(result.Selected))
	}

	for _, verdict := range result.Selected {
		if seen[verdict.Cluster.Name] == "" {
			t.Fatalf("%s is in no page", verdict.Cluster.Name)
		}
	}

	listed := 0

	for index, group := range s.placement.Status.DecisionGroups {
		if int(group.DecisionGroupIndex) != index || !groups[strconv.Itoa(index)] {
			t.Fatalf("group %d of the status has index %d; the pages know %v", index, group.DecisionGroupIndex, groups)
		}

		for _, name := range group.Decisions {
			if page := s.pages[name]; page == nil || page.Labels[clusterv1beta1.DecisionGroupNameLabel] != group.DecisionGroupName ||
				page.Labels[clusterv1beta1.DecisionGroupIndexLabel] != strconv.Itoa(index) {
				t.Fatalf("the status lists %s in group %d %q", name, index, group.DecisionGroupName)
			}

			listed++
		}
	}

	if listed != len(s.pages) || len(groups) != len(s.placement.Status.DecisionGroups) {
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

func drawStrategy(t *rapid.T) clusterv1beta1.DecisionStrategy {
	sizes := []intstr.IntOrString{
		intstr.FromString("100%"), intstr.FromString("30%"), intstr.FromInt32(2), intstr.FromInt32(100), intstr.FromInt32(150),
	}

	return byPrefix(rapid.SampledFrom(sizes).Draw(t, "length"), rapid.SliceOfN(rapid.SampledFrom([]string{"canary", "x"}), 0, 2).Draw(t, "groups")...)
}

// Whatever was there before, and wherever the plan before was cut off, a plan that is carried out leaves every selected cluster in
// exactly one page and nothing to do. From a clean start the pages are numbered from 1 in order.
func TestPlansSettle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement := placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: drawStrategy(t)})
		s := &store{placement: placement, pages: map[string]*clusterv1beta1.PlacementDecision{}}

		fresh := NewPlan(selecting(placement, drawFleet(t)...), s.present())
		for n, write := range fresh.Writes {
			if write.Current != nil || write.Desired.Name != PageName("p", n+1) {
				t.Fatalf("write %d of a clean start is %s", n, write.Desired.Name)
			}
		}

		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			result := selecting(s.placement, drawFleet(t)...)
			requests := s.requests(result, NewPlan(result, s.present()))

			for _, request := range requests[:rapid.IntRange(0, len(requests)).Draw(t, "carried out before the end")] {
				request()
			}

			if rapid.Bool().Draw(t, "asked otherwise") {
				s.placement = s.placement.DeepCopy()
				s.placement.Spec.DecisionStrategy = drawStrategy(t)
				result = selecting(s.placement, drawFleet(t)...)
			}

			if names := slices.Sorted(maps.Keys(s.pages)); len(names) > 0 && rapid.Bool().Draw(t, "meddled with") {
				s.meddle(t, rapid.SampledFrom(names).Draw(t, "page"))
			}

			s.settle(t, result)
		}
	})
}

// meddle does to a page what others do.
func (s *store) meddle(t *rapid.T, name string) {
	page := s.pages[name].DeepCopy()

	switch rapid.SampledFrom([]string{"delete", "labels", "owners", "status"}).Draw(t, "meddling") {
	case "delete":
		delete(s.pages, name)

		return
	case "labels":
		page.Labels = map[string]string{"team": "a"}
	case "owners":
		page.OwnerReferences = nil
	case "status":
		page.Status = clusterv1beta1.PlacementDecisionStatus{}
	}

	s.put(page)
}

// Same input, same output, whatever the order in which it came.
func TestDeterminism(t *testing.T) {
	compiler := selector.NewCompiler()

	rapid.Check(t, func(t *rapid.T) {
		placement := placementOf(clusterv1beta1.PlacementSpec{
			DecisionStrategy: drawStrategy(t),
			NumberOfClusters: ptr.To(rapid.Int32Range(0, 8).Draw(t, "wanted")),
			Predicates: rapid.SliceOfN(rapid.SampledFrom([]clusterv1beta1.ClusterPredicate{
				{}, labelled("region", "eu"), expressed(`managedCluster.scores("demo").size() > 0`),
				expressed(`managedCluster.metadata.labels.region == "us"`),
			}), 0, 2).Draw(t, "predicates"),
			PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{Configurations: []clusterv1beta1.PrioritizerConfig{{Weight: 1,
				ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
					Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: "demo", ScoreName: "x"},
				},
			}}},
		})
		present, feeds := drawFeeds(t)
		outcome := func(present pages, feeds []func(*inventory.Inventory)) string {
			i := inventory.New(compiler)
			for _, feed := range feeds {
				feed(i)
			}

			there := NewPresent(placement, present)
			result := scheduling.Schedule(scheduling.LowerV1beta1(compiler, placement), i.Snapshot(), there.Incumbents(), now.Time)
			plan := NewPlan(result, there)

			return fmt.Sprint(steps(plan), reasons(result), result.WakeAt, result.Warnings, result.EvaluationErrors,
				asText(NewStatus(result, plan, placement, now)))
		}

		want := outcome(present, feeds)
		if got := outcome(rapid.Permutation(present).Draw(t, "pages"), rapid.Permutation(feeds).Draw(t, "order")); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func reasons(result *scheduling.Result) (lines []string) {
	for _, verdict := range result.Verdicts {
		lines = append(lines, verdict.Cluster.Name+" "+result.Reason(verdict))
	}

	return lines
}

func asText(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}

	return string(data)
}

// drawFeeds draws pages of the placement, and a world in which every object comes once.
func drawFeeds(t *rapid.T) (present pages, feeds []func(*inventory.Inventory)) {
	for n := range rapid.IntRange(0, 3).Draw(t, "pages") {
		present = append(present, page(n+1, n, "", fmt.Sprintf("c-%d", n)))
	}

	for n := range rapid.IntRange(0, 8).Draw(t, "clusters") {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c-%d", n), Labels: map[string]string{
			"region": rapid.SampledFrom([]string{"eu", "us"}).Draw(t, "region"), "prefix": rapid.SampledFrom([]string{"canary", "x"}).Draw(t,
				"prefix"),
			clusterv1beta2.ClusterSetLabel: rapid.SampledFrom([]string{"s", "t"}).Draw(t, "set"),
		}}}
		feeds = append(feeds, func(i *inventory.Inventory) { i.SetCluster(cluster) })

		if rapid.Bool().Draw(t, "scored") {
			score := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Name, Name: "demo"}}
			score.Status.Scores = []clusterv1alpha1.AddOnPlacementScoreItem{{Name: "x", Value: rapid.Int32Range(-1, 1).Draw(t, "score")}}
			score.Status.ValidUntil = &metav1.Time{Time: now.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "until")))}
			feeds = append(feeds, func(i *inventory.Inventory) { i.SetScores(score) })
		}

		other := page(n+1, 0, "", cluster.Name)
		other.Namespace = rapid.SampledFrom([]string{"ns", "ns2"}).Draw(t, "namespace")
		feeds = append(feeds, func(i *inventory.Inventory) { i.SetDecision(other) })
	}

	for _, name := range []string{"s", "t"} {
		feeds = append(feeds, func(i *inventory.Inventory) {
			i.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}, func(i *inventory.Inventory) {
			i.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}})
		})
	}

	return present, feeds
}
