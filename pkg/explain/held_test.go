// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

const (
	noneMayGo = ", generation: 2, annotations: {placement-hub.open-cluster-management.io/max-removal-percent: \"0\", " +
		"placement-hub.open-cluster-management.io/max-removal-counts-replaced: \"true\"}"
	permitted = "stays until the removal budget permits its removal, or generation "
	apart     = "{numberOfClusters: 2, predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {region: eu}}}}], spreadPolicy: " +
		"{spreadConstraints: [" +
		"{topologyKey: region, topologyKeyType: Label, maxSkew: 9, whenUnsatisfiable: DoNotSchedule}]}}"
)

// heldWorlds have removals that are held for each cause, and the first lines of the table of placement ns/a.
var heldWorlds = []struct {
	reason, content string
	limit           removalbudget.Limit
	// applied is the generation of the spec that the decisions were written for.
	applied int64
	want    []string
}{
	{
		reason:  "too many: one that has a taint, one whose label was changed, and one that is deleted",
		content: taintedFleet("gpu") + placementA(halfMayGo, inEurope) + page(1, 0, "", "eu1", "us1", "gone1"),
		applied: 1,
		want: []string{
			"eu1  Held  would leave: taint gpu:NoSelect not tolerated; " + permitted + "1 is released",
			"gone1  Held  would leave: ManagedCluster is deleted; " + permitted + "1 is released",
			"us1  Held  would leave: predicate 1 label region In [eu]: is us; " + permitted + "1 is released",
			"eu2  Selected  score 100, rank 1 of 2",
		},
	},
	{
		reason: "the scope is lost", content: diffClusters("eu1", "eu2") + placementA(", generation: 1", "{}") + page(1, 0, "", "eu1", "eu2"),
		limit: removalbudget.Limit{Percent: new(50)}, applied: 1,
		want: []string{
			"eu1  Held  would leave: no cluster set is bound to the namespace; leaves at 2026-01-31T12:10:00Z unless a bound set has it again",
			"eu2  Held  would leave: no cluster set is bound to the namespace; leaves at 2026-01-31T12:10:00Z unless a bound set has it again",
		},
	},
	{
		reason: "the last cluster does not report",
		content: taintedFleet(labelPrefix+"unreachable") +
			placementA(", generation: 1", "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {name: eu1}}}}]}") +
			page(1, 0, "", "eu1"),
		limit: removalbudget.Limit{Percent: new(50)}, applied: 1,
		want: []string{
			"eu1  Held  would leave: taint " + labelPrefix + "unreachable:NoSelect not tolerated; stays until it is available again, " +
				"another cluster can replace it, or generation 1 is released",
			"eu2  Predicate  predicate 1 label name In [eu1]: not set",
		},
	},
	{
		reason:  "a hard constraint keeps a cluster that the new spec excludes beside the one that is held",
		content: diffFleet + placementA(noneMayGo, apart) + page(1, 0, "", "gone1", "us1"), applied: 1,
		want: []string{
			"gone1  Held  would leave: ManagedCluster is deleted; " + permitted + "2 is released",
			"us1  Held  would leave: predicate 1 label region In [eu]: is us; stays while the removal budget holds other clusters",
			"eu1  Selected  score 100, rank 1 of 3",
		},
	},
}

// taintedFleet is diffFleet, in which eu1 has a taint and the label name.
func taintedFleet(taint string) string {
	return strings.Replace(diffFleet, "metadata: {name: eu1, labels: {",
		"spec: {taints: [{key: "+taint+", effect: NoSelect, timeAdded: \"2026-01-01T00:00:00Z\"}]}\nmetadata: {name: eu1, labels: {name: eu1, ", 1)
}

func heldState(t *testing.T, content string, limit removalbudget.Limit, applied int64) *explain.State {
	t.Helper()
	state := read(t, content)
	state.Limit = limit
	placement, is := state.Placements[0].(*clusterv1beta1.Placement)
	if !is {
		t.Fatalf("the placement is a %T", state.Placements[0])
	}
	placement.Status.Conditions = []metav1.Condition{{
		Type: clusterv1beta1.PlacementConditionSatisfied, Status: metav1.ConditionTrue, ObservedGeneration: applied,
	}}
	return state
}

// docs/spec/differences.md E1: held is a verdict of its own, before all others, with why the cluster would leave and what ends the hold.
func TestE1HeldIsAVerdict(t *testing.T) {
	for _, tc := range heldWorlds {
		t.Run(tc.reason, func(t *testing.T) {
			reports := reportsOf(heldState(t, tc.content, tc.limit, tc.applied), false, nil)
			var out bytes.Buffer
			if err := printers.Print(&out, printers.FormatTable, reports, printers.Style{}); err != nil {
				t.Fatal(err)
			}
			_, table, _ := strings.Cut(out.String(), "REASON\n")
			var got []string
			for line := range strings.Lines(table) {
				cluster, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				verdict, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
				_, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
				got = append(got, cluster+"  "+verdict+"  "+strings.TrimSpace(reason))
			}
			if diff := cmp.Diff(tc.want, got[:min(len(tc.want), len(got))]); diff != "" {
				t.Errorf("lines (-want +got):\n%s\n%s", diff, out.String())
			}
		})
	}
}

// docs/spec/differences.md E1: the JSON of a held cluster has the stage that rejects it with its clause, as before, and the hold.
func TestE1HeldInJSON(t *testing.T) {
	want := [][]string{
		{`"decided":true,"reason":"taint gpu:NoSelect not tolerated"`, `"verdict":"Taint"`},
		{`"decided":true,"reason":"no cluster set is bound to the namespace"`, `"verdict":"OutOfScope","until":"2026-01-31T12:10:00Z"`},
		{`"decided":true,"reason":"taint ` + labelPrefix + `unreachable:NoSelect not tolerated"`, `"verdict":"Taint"`},
		{`"decided":true,"reason":"ManagedCluster is deleted"`, `"verdict":"Terminating"`},
	}
	for i, tc := range heldWorlds {
		report := reportsOf(heldState(t, tc.content, tc.limit, tc.applied), false, nil).Placements[0]
		text, err := json.Marshal(report.Clusters[0])
		if err != nil {
			t.Fatal(err)
		}
		_, hold, _ := strings.Cut(string(text), `"hold":{`)
		if !strings.Contains(string(text), `"verdict":"Held",`+want[i][0]) || !strings.HasPrefix(hold, want[i][1]+`,"release":"`) {
			t.Errorf("%s: got %s, want %q", tc.reason, text, want[i])
		}
	}
}

// Clusters that are held are counted before those that no decision has, however many these are.
func TestHeldClustersAreGroupedFirst(t *testing.T) {
	var content strings.Builder
	names := make([]string, 0, 2*document.RejectedListed)
	for i := range 2 * document.RejectedListed {
		names = append(names, "gone"+strconv.Itoa(100+i))
		content.WriteString(diffClusters("us" + strconv.Itoa(10+i)))
		content.WriteString(diffClusters("us" + strconv.Itoa(100+i)))
	}
	content.WriteString(diffFleet + placementA(halfMayGo, inEurope) + page(1, 0, "", names...))
	var out bytes.Buffer
	style := printers.Style{Options: document.Options{Grouped: "--all-clusters"}}
	reports := reportsOf(heldState(t, content.String(), removalbudget.Limit{}, 1), false, nil)
	if err := printers.Print(&out, printers.FormatTable, reports, style); err != nil {
		t.Fatal(err)
	}
	want := "  CLUSTERS  VERDICT    NAMES                           CAUSE\n" +
		"  30        Held       gone130, gone131, gone132, ...  ManagedCluster is deleted\n" +
		"  122       Predicate  us1, us10, us100, ...           predicate 1 label region In [eu]\n"
	if _, table, _ := strings.Cut(out.String(), "--all-clusters lists them)\n"); table != want {
		t.Errorf("got\n%s, want\n%s", table, want)
	}
	if !strings.Contains(out.String(), "  gone129") || strings.Contains(out.String(), "  gone130 ") {
		t.Errorf("the first %d held clusters are listed:\n%s", document.RejectedListed, out.String())
	}
}
