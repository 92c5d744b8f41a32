package controller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// told are the events that a recorder was sent, in words; it may want no words at all.
type told struct {
	deaf               bool
	lines              []string
	regarding, related []corev1.ObjectReference
}

func (r *told) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	if r.deaf {
		return
	}

	about, _ := regarding.(*corev1.ObjectReference)
	with, _ := related.(*corev1.ObjectReference)
	r.regarding, r.related = append(r.regarding, *about), append(r.related, *with)
	r.lines = append(r.lines, kind+" "+reason+"/"+action+": "+fmt.Sprintf(note, args...))
}

// answer is that of a placement over clusters c001 and so on.
func answer(t *testing.T, placement *record.Placement, clusters int) *scheduling.Result {
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

func somePlacement() *record.Placement {
	return record.V1beta1.Read(&clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1", ResourceVersion: "7"},
	})
}

func somePage() *record.Page {
	return &record.Page{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p-decision-1", UID: "2", ResourceVersion: "8"}}
}

// upstream 1.12: what was created, updated and deleted, and the scores.
func TestReportsTellWhatWasDone(t *testing.T) {
	placement, recorder := somePlacement(), &told{}
	news := reporter{recorder: recorder}.about(placement, answer(t, placement, 2))

	for _, action := range []decision.Action{decision.ActionCreate, decision.ActionFill, decision.ActionMend, decision.ActionDelete} {
		news.tell(action, somePage())
	}

	want := []string{
		"Normal DecisionCreate/DecisionCreated: Decision p-decision-1 is created with placement p in namespace ns",
		"Normal DecisionUpdate/DecisionUpdated: Decision p-decision-1 is updated with placement p in namespace ns",
		"Normal ScoreUpdate/ScoreUpdated: c001:100 c002:100 ",
		"Normal DecisionDelete/DecisionDeleted: Decision p-decision-1 is deleted with placement p in namespace ns",
	}
	if diff := cmp.Diff(want, recorder.lines); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}

	api := clusterv1beta1.GroupVersion.String()
	for n := range recorder.lines {
		regarding := corev1.ObjectReference{APIVersion: api, Kind: "Placement", Namespace: "ns", Name: "p", UID: "1", ResourceVersion: "7"}
		related := corev1.ObjectReference{
			APIVersion: api, Kind: "PlacementDecision", Namespace: "ns", Name: "p-decision-1", UID: "2", ResourceVersion: "8",
		}

		if diff := cmp.Diff([]any{regarding, related}, []any{recorder.regarding[n], recorder.related[n]}); diff != "" {
			t.Errorf("%s is about (-want +got):\n%s", recorder.lines[n], diff)
		}
	}
}

// upstream 1.12: the list of scores is cut at 1,000 bytes, between two clusters.
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

		if got := scores(answer(t, placement, tc.clusters)); got != want.String()+tc.cut {
			t.Errorf("%d clusters: %d bytes %q, want %d clusters and %q", tc.clusters, len(got), got, tc.listed, tc.cut)
		}
	}
}

// Texts that nobody reads are not made, and one text does for all pages of an evaluation.
func TestScoresArePutIntoWordsOnce(t *testing.T) {
	placement, recorder := somePlacement(), &told{deaf: true}
	news := reporter{recorder: recorder}.about(placement, answer(t, placement, 2))
	once, asked := news.scores, 0
	news.scores = func() string {
		asked++

		return once()
	}

	news.tell(decision.ActionFill, somePage())

	if asked != 0 {
		t.Error("a text was made for nobody")
	}

	recorder.deaf = false

	for range 2 {
		news.tell(decision.ActionFill, somePage())
	}

	if allocations := testing.AllocsPerRun(10, func() { _ = once() }); asked != 2 || allocations != 0 {
		t.Errorf("asked %d times, and every time makes a text anew with %v allocations", asked, allocations)
	}
}
