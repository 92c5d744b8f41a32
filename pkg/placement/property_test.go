// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// For any existing pages, and after any interrupted plan, an applied plan leaves every selected cluster on exactly one page and nothing to
// write. From a clean start the pages are numbered from 1 in order.
func TestPlansSettle(t *testing.T) {
	ofEachKind(t, 20, func(t *rapid.T, k kind) {
		s := newStore(k.draw(t))

		fresh := s.plan(s.schedule(drawState(t)))
		for n, write := range fresh.Writes {
			if write.Current != nil || write.Desired.Name != PageName("p", n+1) {
				t.Fatalf("write %d of a clean start is %s", n, write.Desired.Name)
			}
		}

		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			s.pass(t, k)
			result := s.schedule(drawState(t))
			requests := s.requests(t, result, s.plan(result))
			for _, request := range requests[:rapid.IntRange(0, len(requests)).Draw(t, "carried out before the end")] {
				request()
			}
			if rapid.Bool().Draw(t, "asked otherwise") {
				s.evaluate(k.draw(t))
				result = s.schedule(drawState(t))
			}

			if names := slices.Sorted(maps.Keys(s.pages)); len(names) > 0 && rapid.Bool().Draw(t, "meddled with") {
				s.meddle(t, rapid.SampledFrom(names).Draw(t, "page"))
			}
			s.settle(t, result)
		}
	})
}

// pass advances the clock where time matters.
func (s *store) pass(t *rapid.T, k kind) {
	if k.byScore {
		s.now = metav1.NewTime(s.now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 59, 60, 100}).Draw(t, "seconds")) * time.Second))
	}
}

// meddle changes a page as others may do.
func (s *store) meddle(t *rapid.T, name string) {
	page := *s.pages[name]
	switch rapid.SampledFrom([]string{"delete", "labels", "owners", "status"}).Draw(t, "meddling") {
	case "delete":
		delete(s.pages, name)
		return
	case "labels":
		page.Labels = map[string]string{"team": "a"}
	case "owners":
		page.OwnerReferences = nil
	case "status":
		page.Decisions = nil
	}

	s.put(&page)
}

// The plan does not depend on the order of the input.
func TestDeterminism(t *testing.T) {
	compiler := selector.NewCompiler()
	ofEachKind(t, 100, func(t *rapid.T, k kind) {
		placement := k.api.Read(k.drawQuestion(t))
		present, feeds := drawFeeds(t, k.api.Codec())
		outcome := func(present pages, feeds []func(*inventory.Inventory)) string {
			i := inventory.New(compiler)
			for _, feed := range feeds {
				feed(i)
			}
			there := NewExisting(k.api.Codec(), placement, present)
			result := scheduling.Schedule(placement.Request(compiler), i.Snapshot(), there.Incumbents(), now.Time)
			plan := NewPlan(result, there, now)
			return fmt.Sprint(steps(plan), asText(written(plan)), reasons(result), result.RequeueAt, result.Warnings(), result.EvaluationErrors,
				plan.RequeueAt, asText(k.api.Status(NewStatus(result, plan, placement, now))))
		}

		want := outcome(present, feeds)
		if got := outcome(rapid.Permutation(present).Draw(t, "pages"), rapid.Permutation(feeds).Draw(t, "order")); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// drawQuestion draws a Placement with many requirements.
func (k kind) drawQuestion(t *rapid.T) api.Object {
	wanted := ptr.To(rapid.Int32Range(0, 8).Draw(t, "wanted"))
	if k.api == api.V1alpha1 {
		placement := &placementv1alpha1.Placement{ObjectMeta: placementOf(clusterv1beta1.PlacementSpec{}).ObjectMeta}
		placement.Spec.NumberOfClusters = wanted
		placement.Spec.Predicates = rapid.SliceOfN(rapid.SampledFrom([]placementv1alpha1.ClusterPredicate{
			{}, {LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}}, {ClusterName: "c-3"},
		}), 0, 2).Draw(t, "predicates")
		return placement
	}

	asked := byScore("60s")
	if !k.byScore {
		asked.SortBy = clusterv1beta1.PlacementSortByClusterName
	}
	asked.PrioritizerPolicy.Mode = clusterv1beta1.PrioritizerPolicyModeAdditive
	asked.DecisionStrategy, asked.NumberOfClusters = drawStrategy(t), wanted
	asked.Predicates = rapid.SliceOfN(rapid.SampledFrom([]clusterv1beta1.ClusterPredicate{
		{}, labelled("region", "eu"), expressed(`managedCluster.scores("demo").size() > 0`),
		expressed(`managedCluster.metadata.labels.region == "us"`),
	}), 0, 2).Draw(t, "predicates")

	placement := placementOf(asked)
	if rapid.Bool().Draw(t, "scored before") {
		placement.Status.LastScoreUpdateTime = &metav1.Time{Time: now.Add(-30 * time.Second)}
	}
	return placement
}

// written returns the objects after the plan.
func written(plan Plan) (objects []api.Object) {
	for _, write := range plan.Writes {
		objects = append(objects, plan.Codec.Write(write.Desired))
	}
	return objects
}

func reasons(result *scheduling.Result) (lines []string) {
	for _, verdict := range result.Verdicts() {
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
func drawFeeds(t *rapid.T, codec api.Codec) (present pages, feeds []func(*inventory.Inventory)) {
	for n := range rapid.IntRange(0, 3).Draw(t, "pages") {
		decision := api.Decision{Cluster: fmt.Sprintf("c-%d", n), Available: n == 1, Score: int64(n)}
		existing := older(n+1, decision)
		if codec == api.V1beta1.Codec() {
			existing = edited(page(n+1, n, ""), func(p *api.Page) { p.Decisions = []api.Decision{decision} })
		}
		present = append(present, codec.Read(codec.Write(existing)))
	}

	for n := range rapid.IntRange(0, 8).Draw(t, "clusters") {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c-%d", n), Labels: map[string]string{
			"region": rapid.SampledFrom([]string{"eu", "us"}).Draw(t, "region"), "prefix": rapid.SampledFrom([]string{"canary", "x"}).Draw(t,
				"prefix"),
			clusterv1beta2.ClusterSetLabel: rapid.SampledFrom([]string{"s", "t"}).Draw(t, "set"),
		}}}
		if rapid.Bool().Draw(t, "available") {
			cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
		}
		feeds = append(feeds, func(i *inventory.Inventory) { i.SetCluster(cluster) })

		if rapid.Bool().Draw(t, "scored") {
			score := scoreOf(cluster.Name, rapid.Int32Range(-1, 1).Draw(t, "score"))
			score.Status.ValidUntil = &metav1.Time{Time: now.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "until")))}
			feeds = append(feeds, func(i *inventory.Inventory) { i.SetScores(score) })
		}
		owner := inventory.NewPlacementKey(inventory.V1beta1, rapid.SampledFrom([]string{"ns", "ns2"}).Draw(t, "namespace"), "p")
		other := inventory.Page{Key: owner.Decision(PageName("p", n+1)), Owner: owner, Clusters: []string{cluster.Name}}
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
