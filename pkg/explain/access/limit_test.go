// SPDX-License-Identifier: Apache-2.0

package access

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

func TestE1aClustersOutOfScopeAreNotExplained(t *testing.T) {
	for _, tc := range []struct {
		reason    string
		explained counterfactual.ClusterExplanation
		want      bool
	}{
		{"a cluster of a bound set", counterfactual.ClusterExplanation{Verdict: "Predicate", Taints: []counterfactual.Taint{{Text: "a"}}}, true},
		{"a cluster of no bound set", counterfactual.ClusterExplanation{Verdict: "OutOfScope"}, false},
		{"a held cluster", counterfactual.ClusterExplanation{Verdict: "Held", Hold: &document.Hold{Verdict: "OutOfScope"}}, true},
		{"a misconfigured Placement", counterfactual.ClusterExplanation{Taints: []counterfactual.Taint{{Text: "a"}}}, false},
		{"a misconfigured Placement, and a cluster that is deleted", counterfactual.ClusterExplanation{Terminating: true}, false},
		{"nothing is shown of the cluster", counterfactual.ClusterExplanation{Reason: "no answer"}, true},
	} {
		if got := InScope(tc.explained); got != tc.want {
			t.Errorf("%s: InScope is %t, want %t", tc.reason, got, tc.want)
		}
	}
}

// Of a held cluster that has left the scope nothing is shown that the decisions and their status do not have.
func TestE1aHeldClustersOutOfScopeHaveAVerdictAlone(t *testing.T) {
	verdict := counterfactual.ClusterExplanation{
		Cluster: "eu1", Verdict: "Held", Reason: "not in a bound set", Hold: &document.Hold{Verdict: "OutOfScope", Release: "leaves at noon"},
		Decided: true, Kept: true, Decision: &counterfactual.Location{Page: "p-decision-1"},
	}
	explained := verdict
	explained.Terminating, explained.Gone = true, "secret"
	explained.Sets = []counterfactual.Set{{Name: "secret", Contains: true}}
	explained.Predicates = []counterfactual.Predicate{{Number: 1, Clauses: []counterfactual.Clause{{Failure: "label a: is secret"}}}}
	explained.Taints = []counterfactual.Taint{{Text: "secret:NoSelect"}}
	explained.AntiAffinity = &counterfactual.Domain{Key: "label a", Value: new("secret")}
	explained.Spread = []counterfactual.Domain{*explained.AntiAffinity}
	explained.Counterfactuals = []counterfactual.Counterfactual{{Text: "would be selected if set secret were bound"}}
	LimitCluster(&explained)
	if diff := cmp.Diff(verdict.VerdictAlone(), explained); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
	if text, err := json.Marshal(explained); err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), "terminating") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestE1aSetsThatAreNotBoundAreNotNamed(t *testing.T) {
	explained := counterfactual.ClusterExplanation{
		Sets: []counterfactual.Set{{Name: "secret", Contains: true}, {Name: "prod", Contains: true, Bound: true}},
		Counterfactuals: []counterfactual.Counterfactual{
			{Text: "bind", Changes: []counterfactual.Change{{Kind: "Label"}, {Kind: counterfactual.KindBinding, Text: "secret were bound"}}},
			{Text: "label", Changes: []counterfactual.Change{{Kind: "Label"}}},
		},
	}
	LimitCluster(&explained)

	want := counterfactual.ClusterExplanation{
		Sets:            []counterfactual.Set{{Name: "prod", Contains: true, Bound: true}},
		Counterfactuals: []counterfactual.Counterfactual{{Text: "label", Changes: []counterfactual.Change{{Kind: "Label"}}}},
	}
	if diff := cmp.Diff(want, explained); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
}

func TestE1aClustersOfOtherNamespacesAreOnlyCounted(t *testing.T) {
	report := requests.Report{
		Namespace: "team-a", Cluster: &requests.Granted{Namespace: "platform", Name: "shared"},
		Clusters: []requests.Cluster{
			{Namespace: "platform", Name: "shared", Rank: 1}, {Namespace: "team-a", Name: "own", Lack: "x", LackKind: "Trait"},
			{Namespace: "team-b", Name: "theirs", Lack: "the request of team-b", LackKind: "Tenancy"}, {Namespace: "team-c", Name: "free", Rank: 2},
		},
		Changes: []requests.Change{
			{Edits: []string{"e"}, Cluster: "team-b/theirs"}, {Edits: []string{"f"}, Cluster: "team-a/own"},
			{Edits: []string{"g"}, Cluster: "platform/new", New: true},
		},
	}
	LimitRequest(&report)

	if diff := cmp.Diff([]requests.Cluster{
		{Namespace: "platform", Name: "shared", Rank: 1}, {Namespace: "team-a", Name: "own", Lack: "x", LackKind: "Trait"},
	}, report.Clusters); diff != "" {
		t.Errorf("Clusters (-want +got):\n%s", diff)
	}
	if got := report.Changes[0].Cluster + ", " + report.Changes[1].Cluster + ", " + report.Changes[2].Cluster; got !=
		"a Cluster of another namespace, team-a/own, platform/new" {
		t.Errorf("changes grant %s", got)
	}

	if got := strings.Join(report.Notes, ""); got != "Clusters of other namespaces are only counted: 1 lack Tenancy, 1 lack nothing" {
		t.Errorf("notes %q", got)
	}
}

func TestE1aNodesOfDifferencesAreNotNamed(t *testing.T) {
	nodes := func(fit ...string) *pods.Nodes {
		return &pods.Nodes{
			Total: 3, Fit: fit, Message: "the others do not fit", Rejected: []pods.Rejection{{Reason: "taint", Nodes: []string{"secret-node"}}},
		}
	}
	differences := pods.Differences{Workloads: []pods.Difference{
		{Kind: "Deployment", Namespace: "a", Name: "web", Lacks: []string{"tolerations"}, Before: nodes("n1", "n2"), After: nodes("n1")},
		{Kind: "Pod", Namespace: "a", Name: "p"},
	}, Notes: []string{"a note"}}
	LimitPodDifferences(&differences)

	want := pods.Differences{Workloads: []pods.Difference{
		{Kind: "Deployment", Namespace: "a", Name: "web", Lacks: []string{"tolerations"}}, {Kind: "Pod", Namespace: "a", Name: "p"},
	}, Notes: []string{"a note", "Deployment a/web: 1 of 3 nodes fit (2 before), which are not named: the others do not fit"}}
	if diff := cmp.Diff(want, differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestE1aNodesAreNotNamed(t *testing.T) {
	report := pods.Report{
		Policies: []pods.Policy{
			{Policy: "ClusterPodSchedulingPolicy etcd", Matches: true}, {Policy: "ClusterPodSchedulingPolicy of-others"},
			{Policy: "PodSchedulingPolicy team-a/own"},
		},
		Nodes: &pods.Nodes{
			Total: 2, Fit: []string{"node-a"}, Message: "1/2 nodes are available: 1 node(s) were unschedulable.",
			Rejected: []pods.Rejection{{Nodes: []string{"node-b"}}},
		},
	}
	LimitWorkload(&report)

	want := pods.Report{
		Policies: []pods.Policy{{Policy: "ClusterPodSchedulingPolicy etcd", Matches: true}, {Policy: "PodSchedulingPolicy team-a/own"}},
		Notes: []string{
			"ClusterPodSchedulingPolicies that do not match are only counted: 1",
			"1 of 2 nodes fit, which are not named: 1/2 nodes are available: 1 node(s) were unschedulable.",
		},
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestE1aADifferenceOfRequestsNamesNoClusterOfOthers(t *testing.T) {
	difference := requests.Difference{
		Granted: 7, Before: requests.Totals{Requests: 9}, After: requests.Totals{Requests: 10},
		Requests: []requests.RequestDifference{
			{Namespace: "team-a", Name: "ci", Before: "Denied, NoMatchingProfile", After: "Granted Cluster team-b/theirs"},
			{Namespace: "team-a", Name: "own", Before: "Granted Cluster team-a/own", After: "Granted new Cluster shared/new"},
			{Namespace: "team-a", Name: "unlisted", After: "Granted Cluster team-a/own"}, {Namespace: "team-b", Name: "ci"},
		},
	}
	LimitRequestDifference(&difference, func(name types.NamespacedName) bool { return name.Namespace == "team-a" && name.Name != "unlisted" })

	want := requests.Difference{Limited: true, Requests: []requests.RequestDifference{
		{Namespace: "team-a", Name: "ci", Before: "Denied, NoMatchingProfile", After: "Granted Cluster of another namespace"},
		{Namespace: "team-a", Name: "own", Before: "Granted Cluster team-a/own", After: "Granted new Cluster shared/new"},
	}}
	if diff := cmp.Diff(want, difference); diff != "" {
		t.Errorf("difference (-want +got):\n%s", diff)
	}
}
