// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plannerRow is a row of a planner's test table. The maps are texts such as "A:10 B:20".
type plannerRow struct {
	preferences      string
	total            int32
	clusters         string
	ready, want      string
	anyOrder         bool
	otherOrder, note string
}

// plannerRows is the test table of the planner that KubeFed has from Federation v1 (sigs.k8s.io/kubefed v0.10.0, pkg/system/util/planner). A
// row whose result depends on their hash permits any order of the numbers. Rows with a capacity, which the hub does not know, have the result
// without it.
func plannerRows() []plannerRow {
	const (
		equal   = `"*":{"weight":1}`
		ab      = `"A":{"weight":10000},"B":{"weight":1}`
		limited = `"A":{"weight":10000,"maxReplicas":10},"B":{"weight":1},"C":{"weight":1,"maxReplicas":21},"D":{"weight":1,"maxReplicas":10}`
		hash    = "the order depends on the hash"
		beyond  = "the original has a capacity here"
	)
	return []plannerRow{
		{equal, 50, "A B C", "", "A:16 B:17 C:17", true, "", hash},
		{equal, 50, "A B", "", "A:25 B:25", false, "", ""},
		{equal, 1, "A B", "", "A:0 B:1", true, "", hash},
		{equal, 1, "A B C D", "", "A:0 B:0 C:0 D:1", true, "", hash},
		{equal, 1, "A", "", "A:1", false, "", ""},
		{equal, 1, "", "", "", false, "", ""},

		{equal, 50, "A B C", "C:30", "A:10 B:10 C:30", false, "", ""},
		{equal, 50, "A B", "A:30", "A:30 B:20", false, "", ""},
		{equal, 15, "A B", "A:0 B:8", "A:7 B:8", true, "", hash},
		{equal, 15, "A B", "A:1 B:8", "A:7 B:8", true, "", hash},
		{equal, 15, "A B", "A:4 B:8", "A:7 B:8", true, "", hash},
		{equal, 15, "A B", "A:5 B:8", "A:7 B:8", true, "", hash},
		{equal, 15, "A B", "A:6 B:8", "A:7 B:8", true, "", hash},
		{equal, 15, "A B", "A:7 B:8", "A:7 B:8", false, "", ""},
		{equal, 500000, "A B", "A:300000", "A:300000 B:200000", false, "", ""},
		{equal, 50, "A B", "A:10", "A:25 B:25", false, "", ""},
		{equal, 50, "A B", "A:10 B:70", "A:0 B:50", false, "A:10 B:40", hash},
		{equal, 1, "A B", "A:30", "A:1 B:0", false, "", ""},
		{equal, 50, "A B", "A:10 B:20", "A:25 B:25", false, "", ""},

		{`"rebalance"` + equal, 50, "A B C", "", "A:17 B:17 C:16", true, "", hash + " and " + beyond},
		{`"rebalance"` + ab, 50, "B C", "", "B:50 C:0", false, "", beyond},
		{`"rebalance""A":{"weight":1},"B":{"weight":2}`, 60, "A B C", "", "A:20 B:40 C:0", false, "", beyond},
		{`"rebalance"` + limited, 71, "A B C D", "", "A:10 B:30 C:21 D:10", false, "", beyond},
		{`"A":{"weight":1},"B":{"weight":1}`, 60, "A B C", "", "A:30 B:30 C:0", false, "", beyond},
		{`"A":{"weight":1},"B":{"weight":5}`, 60, "A B C", "", "A:10 B:50 C:0", false, "", beyond},
		{`"*":{"minReplicas":20}`, 50, "A B C", "", "A:10 B:20 C:20", true, "", hash + " and " + beyond},
		{`"rebalance""*":{"minReplicas":20,"weight":1}`, 60, "A B", "", "A:30 B:30", false, "", beyond},

		{`"*":{"minReplicas":2}`, 50, "A B C", "", "A:2 B:2 C:2", false, "", ""},
		{`"*":{"minReplicas":20}`, 50, "A B C", "", "A:10 B:20 C:20", true, "", hash},
		{`"*":{"minReplicas":20},"A":{"minReplicas":100,"weight":1}`, 50, "A B C", "", "A:50 B:0 C:0", false, "", ""},
		{`"*":{"minReplicas":10,"weight":1,"maxReplicas":12}`, 50, "A B C", "", "A:12 B:12 C:12", false, "", ""},

		{`"*":{"weight":1,"maxReplicas":2}`, 50, "A B C", "", "A:2 B:2 C:2", false, "", ""},
		{`"*":{"weight":0,"maxReplicas":2}`, 50, "A B C", "", "A:0 B:0 C:0", false, "", ""},

		{`"A":{"weight":1},"B":{"weight":2}`, 60, "A B C", "", "A:20 B:40 C:0", false, "", ""},
		{ab, 50, "A B C", "", "A:50 B:0 C:0", false, "", ""},
		{ab, 50, "B C", "", "B:50 C:0", false, "", ""},
		{`"A":{"weight":10000,"maxReplicas":10},"B":{"weight":1},"C":{"weight":1}`, 50, "A B C", "", "A:10 B:20 C:20", false, "", ""},
		{
			`"A":{"weight":10000,"maxReplicas":10},"B":{"weight":1},"C":{"weight":1,"maxReplicas":10}`,
			50, "A B C", "", "A:10 B:30 C:10", false, "", "",
		},
		{limited, 71, "A B C D", "", "A:10 B:30 C:21 D:10", false, "", ""},
		{limited + `,"E":{"weight":1}`, 91, "A B C D E", "", "A:10 B:25 C:21 D:10 E:25", false, "", ""},
	}
}

// numbers parses a text such as "A:10 B:20".
func numbers(t *testing.T, text string) map[string]int32 {
	t.Helper()
	parsed := map[string]int32{}
	for field := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(field, ":")
		number, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		parsed[name] = int32(number)
	}
	return parsed
}

func TestPlannerTables(t *testing.T) {
	rows := plannerRows()
	if len(rows) != 40 {
		t.Fatalf("%d rows of 40", len(rows))
	}

	for i, row := range rows {
		clusters, rebalance := strings.CutPrefix(row.preferences, `"rebalance"`)

		preferences, err := ParsePreferences(`{"rebalance":` + strconv.FormatBool(rebalance) + `,"clusters":{` + clusters + `}}`)
		if err != nil {
			t.Fatal(err)
		}
		ready := numbers(t, row.ready)

		asked := available(strings.Fields(row.clusters)...)
		for i := range asked {
			asked[i].Ready = ready[asked[i].Name]
		}

		want, got := numbers(t, row.want), PlanReplicas(key, row.total, preferences, asked)
		if row.anyOrder {
			if diff := cmp.Diff(slices.Sorted(maps.Values(want)), slices.Sorted(maps.Values(got))); diff != "" {
				t.Errorf("row %d: %+v: %s", i, row, diff)
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" && (row.otherOrder == "" || cmp.Diff(numbers(t, row.otherOrder), got) != "") {
			t.Errorf("row %d: %+v: %s", i, row, diff)
		}
	}
}

// T15: two clusters of equal weight divide 15 replicas 8/7 whatever of them is ready. A third cluster gets its share of an increase, and
// replicas that are ready stay (docs/spec/federated-selector.md 3.1.6).
func TestPreallocatedReplicas(t *testing.T) {
	for a := range int32(8) {
		for b := range int32(8) {
			clusters := available("A", "B")
			clusters[0].Ready, clusters[1].Ready = a, b
			plan := PlanReplicas(key, 15, DefaultPreferences(), clusters)
			if diff := cmp.Diff([]int32{7, 8}, slices.Sorted(maps.Values(plan))); diff != "" {
				t.Errorf("%d and %d are ready: %s", a, b, diff)
			}
		}
	}

	for _, row := range []plannerRow{
		{total: 30, clusters: "A B C", ready: "A:5 B:4", want: "A:10 B:10 C:10"},
		{total: 50, clusters: "A B", ready: "A:30", want: "A:30 B:20"},
		{total: 2147483647, clusters: "A B", ready: "A:2147483646", want: "A:2147483646 B:1", note: "the largest number"},
	} {
		clusters, ready := available(strings.Fields(row.clusters)...), numbers(t, row.ready)
		for i := range clusters {
			clusters[i].Ready = ready[clusters[i].Name]
		}
		if diff := cmp.Diff(numbers(t, row.want), PlanReplicas(key, row.total, DefaultPreferences(), clusters)); diff != "" {
			t.Errorf("%+v: %s", row, diff)
		}
	}
}
