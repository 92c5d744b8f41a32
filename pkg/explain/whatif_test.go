// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

func whatIfTable(t *testing.T, state *explain.State, changes ...whatif.Change) string {
	t.Helper()
	after, err := whatif.Apply(state, noon, changes...)
	if err != nil {
		t.Fatal(err)
	}
	whatIf := explain.NewWhatIf(state, after, nil, noon)
	for _, change := range changes {
		whatIf.Changes = append(whatIf.Changes, change.String())
	}

	var out bytes.Buffer
	if err := printers.Print(&out, printers.FormatTable, whatIf, printers.Style{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWhatIf(t *testing.T) {
	const disabled = ", annotations: {cluster.open-cluster-management.io/experimental-scheduling-disable: \"true\"}"
	named := func(name, document string) string {
		return strings.NewReplacer("name: a,", "name: "+name+",", "placement: a,", "placement: "+name+",", "a-decision", name+"-decision").
			Replace(document)
	}
	newcomers := whatif.Taint{Cluster: "eu1", Taint: clusterv1.Taint{Key: "full", Effect: clusterv1.TaintEffectNoSelectIfNew}}
	broken := "---\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: broken}\n" +
		"spec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {matchLabels: {\"no key\": a}}}}\n" +
		"---\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n" +
		"metadata: {name: broken, namespace: ns}\nspec: {clusterSet: broken}\n"
	for _, tc := range []struct {
		reason, state string
		change        whatif.Change
		want          string
	}{
		{
			reason: "the largest loss comes first, what does not differ is counted",
			state: named("a", placementA("", "{}")+page(1, 0, "", "eu1", "eu2", "eu3-large", "us1", "us2")) +
				named("b", placementA("", inEurope)+page(1, 0, "", "eu1", "eu2", "eu3-large")) +
				named("c", placementA("", inAmerica)+page(1, 0, "", "us1", "us2")),
			change: whatif.Label{Cluster: "eu1", Key: "region", Value: "us"},
			want: "what if: label eu1 region=us\n1 placement loses 1 cluster, 1 gains 1; 1 does not change\n\n" +
				"ns/b: 0 gained, 1 lost, 2 kept\n  - eu1  predicate 1 label region In [eu]: is us\n  = 2 kept\n\n" +
				"ns/c: 1 gained, 0 lost, 2 kept\n  + eu1  score -100, rank 3 of 3\n  = 2 kept\n",
		},
		{
			reason: "a placement without decisions has those that it is about to get, and Steady and NoSelectIfNew see them",
			state:  placementA("", "{numberOfClusters: 1}"), change: newcomers,
			want: "what if: taint eu1 full:NoSelectIfNew\nno placement gains or loses a cluster; 1 does not change\n",
		},
		{
			reason: "one that is decided stays as it is decided",
			state:  placementA("", "{numberOfClusters: 1}") + page(1, 0, "", "us2"), change: newcomers,
			want: "what if: taint eu1 full:NoSelectIfNew\nno placement gains or loses a cluster; 1 does not change\n",
		},
		{
			reason: "decisions that are behind come up to date with the change, and count as unchanged",
			state:  placementA("", inEurope) + page(1, 0, "", "eu1"), change: whatif.Drain{Cluster: "eu2"},
			want: "what if: drain eu2\nno placement gains or loses a cluster; 1 does not change but for what is due anyway (1)\n\n" +
				"ns/a: 1 gained, 0 lost, 1 kept\n" +
				"  due anyway: 1 of the differences, because the written decisions are behind the present state of the hub\n" +
				"  + eu3-large  score 100, rank 2 of 2 (due anyway)\n  = 1 kept\n",
		},
		{
			reason: "a placement that is not the hub's to schedule stays as it is",
			state:  placementA(disabled, "{}") + page(1, 0, "", "eu1"), change: whatif.Remove{Cluster: "eu1"},
			want: "what if: remove eu1\nno placement gains or loses a cluster; 1 does not change\n",
		},
		{
			reason: "placements without an answer are said, whether the change concerns them or not",
			state: named("a", placementA("", "{clusterSets: [broken]}")) +
				named("b", placementA("", "{numberOfClusters: -1, clusterSets: [default]}")) + broken,
			change: whatif.Label{Cluster: "eu1", Key: "other", Value: "x"},
			want: "what if: label eu1 other=x\nno placement gains or loses a cluster; 2 are stalled and keep their last decisions\n\n" +
				"ns/a: stalled; ManagedClusterSet broken: spec.clusterSelector.labelSelector.matchLabels: Invalid value: \"no key\": name part " +
				"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName', " +
				" or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'); " +
				"correct this set on the hub first\n" +
				"ns/b: stalled; spec.numberOfClusters: Invalid value: -1: must be 0 or more, or absent for all clusters; correct it first\n",
		},
		{
			reason: "satisfied no more, and another group",
			state: named("a", placementA("", "{numberOfClusters: 5}")+page(1, 0, "", "eu1", "eu2", "eu3-large", "us1", "us2")) +
				named("b", placementA("", usCanary)+page(1, 0, "canary", "us1", "us2")+page(2, 1, "", "eu1", "eu2", "eu3-large")),
			change: whatif.Remove{Cluster: "us1"},
			want: "what if: remove us1\n2 placements lose 2 clusters; 1 is satisfied no more\n\n" +
				"ns/a: 0 gained, 1 lost, 4 kept; 4 of 5 wanted\n" +
				"  PlacementSatisfied=False (NotAllDecisionsScheduled): 1 cluster decisions unscheduled; 4 of 4 clusters in scope selected\n" +
				"  - us1  ManagedCluster is deleted\n  = 4 kept\n\n" +
				"ns/b: 0 gained, 1 lost, 4 kept\n  - us1  ManagedCluster is deleted\n  = 4 kept\n",
		},
		{
			reason: "the older API", state: olderA("{}") + olderPage("eu1", "eu2", "eu3-large", "us1", "us2"), change: whatif.Drain{Cluster: "us1"},
			want: "what if: drain us1\n1 placement loses 1 cluster\n\n" +
				"ns/a (placement.open-cluster-management.io): 0 gained, 1 lost, 4 kept\n  - us1  taint drain:NoSelect not tolerated\n  = 4 kept\n",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, whatIfTable(t, read(t, diffFleet+tc.state), tc.change)); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}

// A Placement that the second State has changed or added is compared as well.
func TestWhatIfOfPlacements(t *testing.T) {
	state := read(t, diffFleet+placementA("", inEurope)+page(1, 0, "", "eu1", "eu2", "eu3-large"))
	after := *state
	after.Placements = append([]api.Object{}, read(t, placementA("", inAmerica)+olderA("{numberOfClusters: 1}")).Placements...)

	whatIf := explain.NewWhatIf(state, &after, nil, noon)
	if want := (explain.WhatIfSummary{Affected: 2, Losing: 1, Lost: 3, Gaining: 2, Gained: 3}); whatIf.Summary != want {
		t.Errorf("summary is %+v, want %+v", whatIf.Summary, want)
	}
	if len(whatIf.Placements) != 2 || whatIf.Placements[0].New || !whatIf.Placements[1].New {
		t.Errorf("differences are %+v, want one of a placement that is new", whatIf.Placements)
	}

	none := explain.NewWhatIf(state, &after, func(inventory.Key) bool { return false }, noon)
	if none.Summary != (explain.WhatIfSummary{}) || none.Differs() {
		t.Errorf("nothing was asked, and the answer is %+v", none)
	}
}

// docs/spec/differences.md E1a: a comparison for a user may take one goroutine, and ends with the request.
func TestE1aWhatIfOnOneGoroutine(t *testing.T) {
	state := benchmarkState()
	state.Clusters, state.Placements = state.Clusters[:100], state.Placements[:20]

	after, err := whatif.Apply(state, noon, whatif.Remove{Cluster: state.Clusters[0].Name})
	if err != nil {
		t.Fatal(err)
	}
	want := explain.NewWhatIf(state, after, nil, noon)
	if len(want.Placements) == 0 {
		t.Fatal("nothing differs")
	}
	state.Workers = 1

	if diff := cmp.Diff(want, explain.NewWhatIf(state, after, nil, noon)); diff != "" {
		t.Errorf("with one goroutine (-want +got):\n%s", diff)
	}
	done := make(chan struct{})
	close(done)
	state.Done = done
	if got := explain.NewWhatIf(state, after, nil, noon); len(got.Placements)+len(got.Stalled) > 0 {
		t.Errorf("%d Placements were compared after the end", len(got.Placements))
	}
}
