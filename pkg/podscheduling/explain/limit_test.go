// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestE1aNodesOfDifferencesAreNotNamed(t *testing.T) {
	nodes := func(fit ...string) *Nodes {
		return &Nodes{
			Total: 3, Fit: fit, Message: "the others do not fit", Rejected: []Rejection{{Reason: "taint", Nodes: []string{"secret-node"}}},
		}
	}
	differences := Differences{Workloads: []Difference{
		{Kind: "Deployment", Namespace: "a", Name: "web", Lacks: []string{"tolerations"}, Before: nodes("n1", "n2"), After: nodes("n1")},
		{Kind: "Pod", Namespace: "a", Name: "p"},
	}, Notes: []string{"a note"}}
	LimitDifferences(&differences)

	want := Differences{Workloads: []Difference{
		{Kind: "Deployment", Namespace: "a", Name: "web", Lacks: []string{"tolerations"}}, {Kind: "Pod", Namespace: "a", Name: "p"},
	}, Notes: []string{"a note", "Deployment a/web: 1 of 3 nodes fit (2 before), which are not named: the others do not fit"}}
	if diff := cmp.Diff(want, differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestE1aNodesAreNotNamed(t *testing.T) {
	report := Report{
		Policies: []Policy{
			{Policy: "ClusterPodSchedulingPolicy etcd", Matches: true}, {Policy: "ClusterPodSchedulingPolicy of-others"},
			{Policy: "PodSchedulingPolicy team-a/own"},
		},
		Nodes: &Nodes{
			Total: 2, Fit: []string{"node-a"}, Message: "1/2 nodes are available: 1 node(s) were unschedulable.",
			Rejected: []Rejection{{Nodes: []string{"node-b"}}},
		},
	}
	LimitReport(&report)

	want := Report{
		Policies: []Policy{{Policy: "ClusterPodSchedulingPolicy etcd", Matches: true}, {Policy: "PodSchedulingPolicy team-a/own"}},
		Notes: []string{
			"ClusterPodSchedulingPolicies that do not match are only counted: 1",
			"1 of 2 nodes fit, which are not named: 1/2 nodes are available: 1 node(s) were unschedulable.",
		},
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}
