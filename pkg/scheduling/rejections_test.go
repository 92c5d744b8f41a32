// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// causesOf returns the rejections as text, such as "2 Terminating: being deleted".
func causesOf(r *Result) []string {
	texts := []string{}
	for _, cause := range r.Rejections() {
		texts = append(texts, fmt.Sprintf("%d %s: %s", cause.Clusters, cause.Stage, cause.Clause))
	}
	return texts
}

func terminating(cluster *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	cluster.DeletionTimestamp = &metav1.Time{Time: now}
	return cluster
}

// docs/spec/differences.md E2: every cluster in scope that was not selected has one rejection, which is the clause of
// docs/spec/differences.md E1 without values that are particular to the cluster.
func TestCauses(t *testing.T) {
	tainted := named("t1", "region", "eu")
	tainted.Spec.Taints = []clusterv1.Taint{taint("old", "", prefer), taint("gpu", "a100", noSelect), taint("full", "", noSelect)}

	w := newRandomHub(named("e1", "region", "eu"), named("u1", "region", "us"), named("u2", "region", "us"), named("a1", "region", "ap"),
		named("n1"), tainted, terminating(named("g1", "region", "eu")), terminating(named("g2")))
	const (
		deleted = "2 Terminating: being deleted"
		gpu     = "1 Taint: taint gpu=a100:NoSelect not tolerated"
	)
	eu, us, ap := byLabel("region", "eu"), byLabel("region", "us"), byLabel("region", "ap")
	for _, tc := range []struct {
		reason string
		spec   placementSpec
		want   []string
	}{
		{"all that are left are selected", placementSpec{}, []string{deleted, gpu}},
		{"a predicate, whatever the clusters have instead", placementSpec{Predicates: anyOf{eu}, NumberOfClusters: ptr.To[int32](3)},
			[]string{"4 Predicate: predicate 1 label region In [eu]", deleted, gpu}},
		{"the first clause that fails", placementSpec{Predicates: anyOf{byLabel("region", "eu", "zone", "a")}},
			[]string{"4 Predicate: predicate 1 label region In [eu]", deleted, "2 Predicate: predicate 1 label zone In [a]"}},
		{"the clauses of two predicates", placementSpec{Predicates: anyOf{eu, us}},
			[]string{deleted, "2 Predicate: predicate 1 label region In [eu] and predicate 2 label region In [us]", gpu}},
		{"of more predicates only how many there are", placementSpec{Predicates: anyOf{eu, us, ap}},
			[]string{deleted, "1 Predicate: none of the 3 predicates", gpu}},
		{"CEL, whether it is false or fails", placementSpec{Predicates: anyOf{byCEL(`managedCluster.metadata.labels["region"] == "eu"`)}},
			[]string{`4 Predicate: predicate 1 CEL managedCluster.metadata.labels["region"] == "eu"`, deleted, gpu}},
		{"who was not needed", placementSpec{NumberOfClusters: ptr.To[int32](2)}, []string{"3 Rank: not needed, 2 wanted", deleted, gpu}},
		{"none is wanted", placementSpec{NumberOfClusters: ptr.To[int32](0), Predicates: anyOf{us}},
			[]string{"4 Predicate: predicate 1 label region In [us]", deleted, "2 Rank: not needed, 0 wanted"}},
		{"the tolerated taint is not the one", placementSpec{Tolerations: tolerating{exist("gpu", "")}},
			[]string{deleted, "1 Taint: taint full:NoSelect not tolerated"}},
		{"nothing is in scope", placementSpec{ClusterSets: []string{"other"}}, []string{}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			expect(t, "causes", tc.want, causesOf(w.schedule(t, tc.spec)))
		})
	}

	broken := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{Predicates: anyOf{byCEL("1")}}))
	expect(t, "causes of a result that is held", []string{}, causesOf(Schedule(broken, w.inventory.Snapshot(), nil, now)))
}

// docs/spec/differences.md E2: rejections by rules that compare clusters.
func TestCausesAmongClusters(t *testing.T) {
	w := newRandomHub(located("a1", "a", "x"), located("a2", "a", "y"), located("a3", "a", "z"), located("b1", "b", "x"), located("n1", "", ""))
	evenly := over(clusterv1beta1.TopologyKeyTypeLabel, "zone", 1, clusterv1beta1.DoNotSchedule)
	for _, tc := range []struct {
		reason  string
		request *Request
		want    []string
	}{
		{"a domain that is full, and clusters in none", apart(ptr.To[int32](9), nil, evenly),
			[]string{"1 Spread: has no label zone, over which the clusters must be spread", "1 Spread: label zone a is full"}},
		{"values that are taken, and clusters without one", apart(ptr.To[int32](9), byZone), []string{
			"2 AntiAffinity: label zone=a is taken", "1 AntiAffinity: has no label zone, which must differ between the selected clusters",
		}},
		{"not needed at all, and of no use beside the others", apart(ptr.To[int32](1), byRack), []string{
			"2 Rank: not needed, 1 wanted", "1 AntiAffinity: claim rack=x is taken",
			"1 AntiAffinity: has no claim rack, which must differ between the selected clusters",
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			expect(t, "causes", tc.want, causesOf(w.scheduleRequest(t, tc.request)))
		})
	}
}

// TestShort checks that a clause is one valid line of at most 200 bytes.
func TestShort(t *testing.T) {
	for _, tc := range []struct {
		reason, clause, want string
	}{
		{"lines become one", "a &&\n\t b", "a && b"},
		{"as long as allowed", strings.Repeat("x", 200), strings.Repeat("x", 200)},
		{"a byte longer", strings.Repeat("x", 201), strings.Repeat("x", 197) + "..."},
		{"no character is cut", strings.Repeat("é", 101), strings.Repeat("é", 98) + "..."},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			expect(t, "short", tc.want, Rejection{Clause: tc.clause}.Short())
		})
	}
}

// TestSummarize checks that three rejections are listed, and that the clusters of all others are counted together.
func TestSummarize(t *testing.T) {
	found := []Rejection{
		{Clause: "a", Clusters: 9}, {Clause: "b", Clusters: 8}, {Clause: "c", Clusters: 7}, {Clause: "d", Clusters: 3}, {Clause: "e", Clusters: 2},
	}
	for _, tc := range []struct {
		reason     string
		rejections int
		want       string
	}{
		{"none", 0, ""},
		{"as many as are listed", 3, "a (9), b (8), c (7)"},
		{"one more than are listed", 4, "a (9), b (8), c (7), other causes (3)"},
		{"two more than are listed", 5, "a (9), b (8), c (7), other causes (5)"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			expect(t, "summary", tc.want, Summarize(found[:tc.rejections]))
		})
	}
}
