// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// recordedEvent are the events that a recorder was sent, in words; it may want no words at all.
type recordedEvent struct {
	deaf               bool
	lines              []string
	regarding, related []corev1.ObjectReference
}

func (r *recordedEvent) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	if r.deaf {
		return
	}
	about, _ := regarding.(*corev1.ObjectReference)
	with, _ := related.(*corev1.ObjectReference)
	r.regarding, r.related = append(r.regarding, *about), append(r.related, *with)
	r.lines = append(r.lines, kind+" "+reason+"/"+action+": "+fmt.Sprintf(note, args...))
}

// resultWith is that of a placement over clusters c001 and so on.
func resultWith(t *testing.T, placement *api.Placement, clusters int) *scheduling.Result {
	t.Helper()
	compiler := selector.NewCompiler()
	inv := inventory.New(compiler)
	inv.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}})
	inv.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}})
	for n := range clusters {
		inv.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("c%03d", n+1), Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"},
		}})
	}
	return scheduling.Schedule(placement.Request(compiler), inv.Snapshot(), nil, metav1.Unix(0, 0).Time)
}

func somePlacement() *api.Placement {
	return api.V1beta1.Read(&clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1", ResourceVersion: "7"},
	})
}

// somePages are the first pages of the placement.
func somePages(n int) []*api.Page {
	pages := make([]*api.Page, 0, n)
	for i := range n {
		pages = append(pages, &api.Page{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: fmt.Sprintf("p-decision-%d", i+1), UID: types.UID(strconv.Itoa(i + 2)), ResourceVersion: "8",
		}})
	}
	return pages
}

// docs/spec/upstream-placement.md 1.12: what was created, updated and deleted, and the scores.
func TestReportsTellWhatWasDone(t *testing.T) {
	p, recorder := somePlacement(), &recordedEvent{}
	news := recorders{recorder: recorder}.forCycle(p, resultWith(t, p, 2), &pageChanges{})
	pages := somePages(2)
	news.changes.add(pageChange{action: placement.ActionCreate, page: pages[1]})
	for _, page := range pages {
		news.changes.add(pageChange{action: placement.ActionUpdateDecisions, page: page})
	}
	news.changes.add(pageChange{action: placement.ActionUpdateMetadata, page: pages[0]})
	news.changes.add(pageChange{action: placement.ActionDelete, page: pages[0]})
	if len(recorder.lines) != 0 {
		t.Errorf("told %q before the end", recorder.lines)
	}

	news.send()
	want := []string{
		"Normal DecisionCreate/DecisionCreated: Decision p-decision-2 is created with placement p in namespace ns",
		"Normal DecisionUpdate/DecisionUpdated: Decision p-decision-1 is updated with placement p in namespace ns",
		"Normal ScoreUpdate/ScoreUpdated: c001:100 c002:100 ",
		"Normal DecisionDelete/DecisionDeleted: Decision p-decision-1 is deleted with placement p in namespace ns",
	}
	if diff := cmp.Diff(want, recorder.lines); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}

	apiName := clusterv1beta1.GroupVersion.String()
	for n := range recorder.lines {
		created := 0
		if n == 0 {
			created = 1
		}
		regarding := corev1.ObjectReference{APIVersion: apiName, Kind: "Placement", Namespace: "ns", Name: "p", UID: "1"}
		page := pages[created]
		related := corev1.ObjectReference{APIVersion: apiName, Kind: "PlacementDecision", Namespace: "ns", Name: page.Name, UID: page.UID}
		if diff := cmp.Diff([]any{regarding, related}, []any{recorder.regarding[n], recorder.related[n]}); diff != "" {
			t.Errorf("%s is about (-want +got):\n%s", recorder.lines[n], diff)
		}
	}
}

// What one evaluation does to many pages is one event of each kind, about the first of them.
func TestReportsGatherPages(t *testing.T) {
	for n, want := range map[int]string{
		2: "Decisions p-decision-1 and p-decision-2 are",
		5: "Decisions p-decision-1, p-decision-2, p-decision-3, p-decision-4 and p-decision-5 are",
		9: "Decisions p-decision-1, p-decision-2, p-decision-3, p-decision-4, p-decision-5 and 4 more are",
	} {
		p, recorder := somePlacement(), &recordedEvent{}
		news := recorders{recorder: recorder}.forCycle(p, resultWith(t, p, 1), &pageChanges{})
		for _, page := range somePages(n) {
			news.changes.add(pageChange{action: placement.ActionUpdateDecisions, page: page})
			news.changes.add(pageChange{action: placement.ActionUpdateDecisions, page: page}) // Joins first, then what leaves.
		}
		news.send()

		lines := []string{
			"Normal DecisionUpdate/DecisionUpdated: " + want + " updated with placement p in namespace ns",
			"Normal ScoreUpdate/ScoreUpdated: c001:100 ",
		}
		if diff := cmp.Diff(lines, recorder.lines); diff != "" {
			t.Errorf("%d pages: told (-want +got):\n%s", n, diff)
		}

		if related := recorder.related[0]; related.Name != "p-decision-1" {
			t.Errorf("%d pages: related to %s, want the first page", n, related.Name)
		}
	}
}

// docs/spec/differences.md E1a: the first decisions of a Placement are one event, whatever number of pages they have.
func TestE1aFirstDecisionsAreOneEvent(t *testing.T) {
	for n, want := range map[int]string{1: "Decision p-decision-1 is", 2: "Decisions p-decision-1 and p-decision-2 are"} {
		p, recorder := somePlacement(), &recordedEvent{}
		news := recorders{recorder: recorder}.forCycle(p, resultWith(t, p, 1), &pageChanges{})
		for _, page := range somePages(n) {
			news.changes.add(pageChange{action: placement.ActionCreate, page: page})
			news.changes.add(pageChange{action: placement.ActionUpdateDecisions, page: page})
		}
		news.send()
		lines := []string{"Normal DecisionCreate/DecisionCreated: " + want + " created with placement p in namespace ns"}
		if diff := cmp.Diff(lines, recorder.lines); diff != "" {
			t.Errorf("%d pages: told (-want +got):\n%s", n, diff)
		}
	}
}

// docs/spec/upstream-placement.md 1.12: the list of scores is cut at 1,000 bytes, between two clusters.
func TestScoresAreCut(t *testing.T) {
	placement := somePlacement()
	for _, tc := range []struct {
		clusters, listed int
		cut              string
	}{{0, 0, ""}, {1, 1, ""}, {111, 111, ""}, {112, 111, "......"}, {300, 111, "......"}} {
		var want strings.Builder
		for n := range tc.listed {
			fmt.Fprintf(&want, "c%03d:100 ", n+1)
		}
		if got := scores(resultWith(t, placement, tc.clusters)); got != want.String()+tc.cut {
			t.Errorf("%d clusters: %d bytes %q, want %d clusters and %q", tc.clusters, len(got), got, tc.listed, tc.cut)
		}
	}
}

// A list of scores that nobody reads is not made: silence costs the same for few clusters and for many.
func TestScoresArePutIntoWordsOnDemand(t *testing.T) {
	p := somePlacement()
	cost := func(clusters int, deaf bool) float64 {
		news := recorders{recorder: &recordedEvent{deaf: deaf}}.forCycle(p, resultWith(t, p, clusters), &pageChanges{})
		news.changes.add(pageChange{action: placement.ActionUpdateDecisions, page: somePages(1)[0]})
		return testing.AllocsPerRun(10, news.send)
	}
	if few, many := cost(2, true), cost(100, true); many > 2*few { // The race detector adds some.
		t.Errorf("%v allocations for nobody with 2 clusters, %v with 100", few, many)
	}

	if few, many := cost(2, false), cost(100, false); few >= many {
		t.Errorf("%v allocations for a reader with 2 clusters, %v with 100: the texts are not made", few, many)
	}
}
