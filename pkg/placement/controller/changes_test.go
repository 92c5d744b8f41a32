// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// changed returns the texts of the events ClustersChanged that were sent since the last call.
func (b *budgeted) changed() []string {
	var texts []string
	for len(b.events.Events) > 0 {
		if text, is := strings.CutPrefix(<-b.events.Events, "Normal ClustersChanged "); is {
			texts = append(texts, text)
		}
	}
	return texts
}

func (b *budgeted) expectChanged(reason string, want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.changed()); diff != "" {
		b.t.Errorf("%s: ClustersChanged (-want +got):\n%s", reason, diff)
	}
}

// docs/spec/differences.md E1a: one event for every plan but the first, of the clusters that were really lost and gained and why; none where nothing
// was written.
func TestEventsNameTheClustersThatChange(t *testing.T) {
	g := newBudgeted(t)
	g.expectChanged("the first plan, which DecisionCreate tells")

	g.reconcile()
	g.expectChanged("nothing changed")

	g.remove(3, 5)
	g.reconcile()
	g.expectChanged("deleted clusters", "lost c003 (ManagedCluster is deleted), c004 (ManagedCluster is deleted)")

	g.edit(func(p *clusterv1beta1.Placement) {
		wanted := int32(246)
		p.Spec.NumberOfClusters = &wanted
		p.Annotations = map[string]string{removalbudget.PercentAnnotation: "100"}
	})
	g.reconcile()
	g.expectChanged("fewer wanted clusters", "lost c248 (rank 247 of 248, 246 wanted, as many points as c247, which comes first by name), "+
		"c249 (rank 248 of 248, 246 wanted, as many points as c247, which comes first by name)")

	g.remove(0, 1)
	g.reconcile()
	g.expectChanged("a replacement", "lost c000 (ManagedCluster is deleted), gained c248 (rank 246, score 100)")

	g.remove(5, 200)
	g.reconcile()
	if texts := g.changed(); len(texts) != 1 || !strings.HasSuffix(strings.Split(texts[0], ", gained")[0], " and 185 more") {
		t.Errorf("many lost clusters: %q, want ten and 185 more", texts)
	}
}

// docs/spec/differences.md E1a: a plan that was carried out in part has an event of that part, and the rest follows with the next plan.
func TestEventsNameWhatWasReallyWritten(t *testing.T) {
	g := newBudgeted(t)
	g.edit(func(p *clusterv1beta1.Placement) {
		p.Annotations = map[string]string{removalbudget.PercentAnnotation: "100"}
	})
	g.reconcile()
	g.changed()

	written := 0
	g.refused = func(verb string, object client.Object) bool {
		page := verb == "patch" && strings.HasPrefix(object.GetName(), "p-decision-")
		if page {
			written++
		}
		return page && written > 1
	}

	for _, n := range []int{7, 107, 207} { // One of each page.
		g.remove(n, n+1)
	}
	g.fail()
	part := g.changed()
	if len(part) != 1 || strings.Count(part[0], "deleted") != 1 {
		t.Fatalf("after one of three writes: %q, want one lost cluster", part)
	}
	g.refused = nil
	g.reconcile()

	if rest := g.changed(); len(rest) != 1 || strings.Count(rest[0], "deleted") != 2 {
		t.Errorf("after the other writes: %q, want two lost clusters", rest)
	}
}

// docs/spec/differences.md C3: the event says that a score has expired. The annotation of missing scores decides at once although it changes no
// generation, and one with another value moves nothing.
func TestEventsNameExpiredScores(t *testing.T) {
	g := newBudgeted(t)
	score := func(cluster string, value int32, validUntil *metav1.Time) {
		scores := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "demo"}}
		scores.Status.Scores = []clusterv1alpha1.AddOnPlacementScoreItem{{Name: "cpu", Value: value}}
		scores.Status.ValidUntil = validUntil
		g.state.inventory.SetScores(scores)
	}
	missing := func(value string) {
		g.edit(func(p *clusterv1beta1.Placement) { p.Annotations[api.MissingScoreAnnotation] = value })
		g.reconcile()
	}
	score("c000", 90, &metav1.Time{Time: g.clock.Now().Add(time.Hour)})
	score("c001", 80, nil)
	score("c002", 5, nil)
	score("c003", -7, nil)

	g.edit(func(p *clusterv1beta1.Placement) {
		wanted := int32(2)
		p.Spec.NumberOfClusters = &wanted
		p.Spec.PrioritizerPolicy = clusterv1beta1.PrioritizerPolicy{
			Mode: clusterv1beta1.PrioritizerPolicyModeExact, Configurations: []clusterv1beta1.PrioritizerConfig{{
				Weight: 1, ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
					Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: "demo", ScoreName: "cpu"},
				},
			}},
		}
		p.Annotations = map[string]string{removalbudget.PercentAnnotation: "100"}
	})
	g.reconcile()
	g.changed()

	g.clock.SetTime(g.clock.Now().Add(2 * time.Hour))
	g.reconcile()
	g.expectChanged("an expired score", "lost c000 (rank 3 of 250, 2 wanted, 5 points below c002, its score has expired, counted as 0), "+
		"gained c002 (rank 2, score 5)")
	g.edit(func(p *clusterv1beta1.Placement) { *p.Spec.NumberOfClusters = 3 })
	g.reconcile()
	g.expectChanged("it precedes a negative score", "gained c000 (rank 3, score 0)")

	missing("worst")
	g.expectChanged("annotated", "lost c000 (rank 4 of 250, 3 wanted, 93 points below c003, its score has expired, counted as the worst), "+
		"gained c003 (rank 3, score -7)")
	missing("wrost")
	g.expectChanged("a mistake")
	condition := meta.FindStatusCondition(g.placement().Status.Conditions, placement.ConditionMisconfigured)
	if condition == nil || !strings.Contains(condition.Message, `missing-score]: Invalid value: "wrost": must be "worst"`) {
		t.Errorf("a mistake has the condition %+v", condition)
	}

	g.edit(func(p *clusterv1beta1.Placement) { delete(p.Annotations, api.MissingScoreAnnotation) })
	g.reconcile()
	g.expectChanged("without the annotation", "lost c003 (rank 250 of 250, 3 wanted, 7 points below c000), gained c000 (rank 3, score 0)")
	if meta.IsStatusConditionTrue(g.placement().Status.Conditions, placement.ConditionMisconfigured) {
		t.Error("the condition of the mistake stays without the annotation")
	}
}

// page returns a page with decisions for these clusters.
func page(name string, clusters ...string) *api.Page {
	p := &api.Page{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, cluster := range clusters {
		p.Decisions = append(p.Decisions, api.Decision{Cluster: cluster})
	}
	return p
}

// TestChangesOfDecisions checks that count distinguishes gained, lost and moved clusters, also when two pages have the same cluster.
func TestChangesOfDecisions(t *testing.T) {
	type step struct {
		page    *api.Page
		deleted bool
	}

	before := []*api.Page{page("1", "a", "b"), page("2", "c")}
	for _, tc := range []struct {
		reason string
		steps  []step
		want   [3]int
	}{
		{"one comes and one goes", []step{{page("1", "a", "d"), false}}, [3]int{1, 1, 0}},
		{"one moves", []step{{page("1", "a", "b", "c"), false}, {page("2"), true}}, [3]int{0, 0, 1}},
		{"one is about to move", []step{{page("1", "a", "b", "c"), false}}, [3]int{0, 0, 0}},
		{"a new page", []step{{page("3", "e", "f"), false}}, [3]int{2, 0, 0}},
		{"all go", []step{{page("1"), false}, {page("2"), true}}, [3]int{0, 3, 0}},
		{"what is written twice counts once", []step{{page("2", "d"), false}, {page("2", "c"), false}}, [3]int{0, 0, 0}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			changes := &pageChanges{before: before}
			for _, step := range tc.steps {
				action := placement.ActionUpdateDecisions
				if step.deleted {
					action = placement.ActionDelete
				}
				changes.add(pageChange{action: action, page: step.page})
			}

			gained, lost, moved := changes.count()
			if got := [3]int{gained, lost, moved}; got != tc.want {
				t.Errorf("gained, lost and moved are %v, want %v", got, tc.want)
			}
		})
	}
}

// TestCompareWrittenPages checks that compare leaves out the clusters on pages that were not written, and lost those that only another client had
// written.
func TestCompareWrittenPages(t *testing.T) {
	for _, tc := range []struct {
		reason          string
		before, written []*api.Page
		edited          map[string]bool
		gained, gone    []string
		lost            []string
		all             int
	}{
		{
			"one of two pages", []*api.Page{page("1", "a", "b"), page("2", "c")}, []*api.Page{page("1", "a", "d")}, nil,
			[]string{"d"}, []string{"b"}, []string{"b"}, 3,
		},
		{
			"both have the cluster that goes, and one was written", []*api.Page{page("1", "a", "b"), page("2", "b")},
			[]*api.Page{page("1", "a")}, nil, nil, nil, nil, 2,
		},
		{
			"another client had added to a page", []*api.Page{page("1", "a", "x"), page("2", "c")},
			[]*api.Page{page("1", "b")}, map[string]bool{"1": true}, []string{"b"}, []string{"a", "x"}, nil, 1,
		},
		{
			"another client had added what is on a page of the hub", []*api.Page{page("1", "a"), page("2", "a", "x")},
			[]*api.Page{page("1", "b"), page("2")}, map[string]bool{"2": true}, []string{"b"}, []string{"a", "x"}, []string{"a"}, 1,
		},
		{
			"the same, in the other order", []*api.Page{page("1", "a", "x"), page("2", "a")},
			[]*api.Page{page("1"), page("2", "b")}, map[string]bool{"1": true}, []string{"b"}, []string{"a", "x"}, []string{"a"}, 1,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			changes := &pageChanges{before: tc.before, edited: tc.edited}
			for _, page := range tc.written {
				changes.add(pageChange{action: placement.ActionUpdateDecisions, page: page})
			}
			was, is := changes.compare()
			lost, all := changes.lost()
			for what, compared := range map[string][2][]string{
				"gained": {without(is, was), tc.gained}, "gone": {without(was, is), tc.gone}, "lost": {lost, tc.lost},
			} {
				if !slices.Equal(compared[0], compared[1]) {
					t.Errorf("%s: got %v, want %v", what, compared[0], compared[1])
				}
			}
			if all != tc.all {
				t.Errorf("there were %d, want %d", all, tc.all)
			}
		})
	}
}
