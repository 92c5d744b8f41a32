// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// counts returns the number of clusters by stage, without stages of no cluster.
func counts(r *Result) map[string]int {
	all := map[string]int{}
	for _, stage := range Stages() {
		if count := r.Count(stage); count != 0 {
			all[stage.String()] = count
		}
	}
	return all
}

// Every cluster in scope counts once, by the stage of its verdict; counting does not compute the verdicts.
func TestClustersAreCountedByStage(t *testing.T) {
	tainted := located("t1", "a", "x")
	tainted.Spec.Taints = []clusterv1.Taint{taint("gpu", "a100", noSelect)}

	w := newRandomHub(located("a1", "a", "x"), located("a2", "a", "y"), located("a3", "a", "z"), located("b1", "b", "x"), located("n1", "", ""),
		tainted, terminating(located("g1", "a", "x")))
	evenly := over(clusterv1beta1.TopologyKeyTypeLabel, "zone", 1, clusterv1beta1.DoNotSchedule)
	lower := func(spec placementSpec) *Request { return ConvertV1beta1(selector.NewCompiler(), placementOf(spec)) }
	for _, tc := range []struct {
		reason  string
		request *Request
		want    map[string]int
	}{
		{"all that fit", lower(placementSpec{}), map[string]int{"Terminating": 1, "Taint": 1, "Selected": 5}},
		{"a predicate comes before a taint", lower(placementSpec{Predicates: anyOf{byLabel("zone", "b")}}),
			map[string]int{"Terminating": 1, "Predicate": 5, "Selected": 1}},
		{"CEL is a predicate", lower(placementSpec{Predicates: anyOf{byCEL(`managedCluster.metadata.labels["zone"] == "a"`)}}),
			map[string]int{"Terminating": 1, "Predicate": 2, "Taint": 1, "Selected": 3}},
		{"not needed", lower(placementSpec{NumberOfClusters: ptr.To[int32](2)}),
			map[string]int{"Terminating": 1, "Taint": 1, "Rank": 3, "Selected": 2}},
		{"spread", apart(ptr.To[int32](9), nil, evenly), map[string]int{"Terminating": 1, "Taint": 1, "Spread": 2, "Selected": 3}},
		{"anti-affinity", apart(ptr.To[int32](9), byZone), map[string]int{"Terminating": 1, "Taint": 1, "AntiAffinity": 3, "Selected": 2}},
		{"nothing is in scope", lower(placementSpec{ClusterSets: []string{"other"}}), map[string]int{}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			result := w.scheduleRequest(t, tc.request)
			expect(t, "counts", tc.want, counts(result))
			byVerdict := map[string]int{}
			for _, verdict := range result.Verdicts() {
				if verdict.Stage != StageScope {
					byVerdict[verdict.Stage.String()]++
				}
			}
			expect(t, "verdicts", tc.want, byVerdict)
		})
	}

	broken := lower(placementSpec{Predicates: anyOf{byCEL("1")}})
	expect(t, "counts of a result that is held", map[string]int{}, counts(Schedule(broken, w.inventory.Snapshot(), nil, now)))
}

// docs/spec/differences.md C3: scores past validUntil count for every prioritizer that reads them, on feasible clusters.
func TestExpiredScoresAreCounted(t *testing.T) {
	w := newRandomHub(named("c1"), named("c2"), named("c3"))
	w.inventory.SetScores(scoreOf("c1", "load", ptr.To(metav1.NewTime(now.Add(-time.Second)))))
	w.inventory.SetScores(scoreOf("c2", "load", ptr.To(metav1.NewTime(now))))
	w.inventory.SetScores(scoreOf("c3", "other", ptr.To(metav1.NewTime(now.Add(-time.Second)))))
	request := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{}))
	request.Prioritizers = []Prioritizer{{Resource: "load", Score: "memory", Weight: 1}, {Resource: "load", Score: "cpu", Weight: 1}}
	result := w.scheduleRequest(t, request)
	expect(t, "expired", 2, result.Expired)
	expect(t, "warnings", []Warning{
		{Source: "AddOn/load/cpu", Message: "AddOnPlacementScores c1/load expired"},
		{Source: "AddOn/load/memory", Message: "AddOnPlacementScores c1/load expired"},
	}, result.Warnings())
}

// The cost of CEL is the same for cached results, and is set even when it was exceeded.
func TestTheCostOfCELIsRecorded(t *testing.T) {
	w := newRandomHub(named("c1"), named("c2"))
	plain := w.schedule(t, placementSpec{Predicates: anyOf{byLabel("a", "b")}})
	expect(t, "cost without CEL", uint64(0), plain.Cost)
	request := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{Predicates: anyOf{byCEL(`managedCluster.metadata.name != "c2"`)}}))
	w.inventory.Subscribe(request.Key, request.Dependencies())
	snapshot := w.inventory.SnapshotFor(request.Key)
	first, again := Schedule(request, snapshot, nil, now), Schedule(request, snapshot, nil, now)
	if first.Cost == 0 || again.Cost != first.Cost {
		t.Errorf("the first evaluation costs %d, and the next one %d", first.Cost, again.Cost)
	}
}

// diary records the calls of a Recorder.
type diary []string

func (d *diary) Begin(step Step) { *d = append(*d, "begin "+string(step)) }
func (d *diary) End(step Step)   { *d = append(*d, "end "+string(step)) }

// docs/spec/upstream-placement.md 1.16: the steps have the names of the plugins, every begun step ends, and prioritizers do not run when
// nothing depends on their scores.
func TestARecorderReceivesTheSteps(t *testing.T) {
	w := newRandomHub(named("c1"), named("c2"))
	filters := []string{"begin Predicate", "end Predicate", "begin TaintToleration", "end TaintToleration"}
	scores := []string{"begin Balance", "end Balance", "begin Steady", "end Steady"}
	asksCEL := []string{
		"begin Predicate", "begin CEL", "end CEL", "end Predicate", "begin TaintToleration", "end TaintToleration",
	}
	for _, tc := range []struct {
		reason string
		spec   placementSpec
		want   []string
	}{
		{"all that fit", placementSpec{}, filters},
		{"the best", placementSpec{NumberOfClusters: ptr.To[int32](1)}, slices.Concat(filters, scores)},
		{"CEL is a part of the predicates", placementSpec{Predicates: anyOf{byCEL("true")}}, asksCEL},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			told := &diary{}
			ScheduleRecorded(ConvertV1beta1(selector.NewCompiler(), placementOf(tc.spec)), w.inventory.Snapshot(), nil, now, told)
			expect(t, "told", tc.want, []string(*told))
		})
	}
}
