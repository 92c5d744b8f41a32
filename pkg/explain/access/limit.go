// SPDX-License-Identifier: Apache-2.0

package access

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// InScope reports whether the explanation of a cluster may be shown: the cluster has a verdict and is in a set that the namespace may use, or is held
// in the decisions, which name it, or the explanation has nothing of the cluster. The reply to a question about any other cluster must be the same as
// for one that does not exist.
func InScope(explained counterfactual.ClusterExplanation) bool {
	if explained.Verdict == "" {
		return len(explained.Sets)+len(explained.Predicates)+len(explained.Taints)+len(explained.Spread) == 0 && explained.AntiAffinity == nil &&
			!explained.Terminating && explained.Gone == ""
	}
	return explained.Verdict != scheduling.StageScope.String()
}

// LimitCluster removes the sets that are not bound to the namespace, and the changes that bind one. Of a held cluster that has left the scope it
// leaves the verdict and the decision.
func LimitCluster(explained *counterfactual.ClusterExplanation) {
	if explained.Stage() == scheduling.StageScope {
		*explained = explained.VerdictAlone()
		return
	}
	explained.Sets = slices.DeleteFunc(explained.Sets, func(set counterfactual.Set) bool { return !set.Bound })
	explained.Counterfactuals = slices.DeleteFunc(explained.Counterfactuals, func(alternative counterfactual.Counterfactual) bool {
		return slices.ContainsFunc(alternative.Changes, func(change counterfactual.Change) bool {
			return change.Kind == counterfactual.KindBinding
		})
	})
}

// LimitRequest removes the Clusters of other namespaces, but for the Cluster that the request has, and counts them by what they lack. Changes
// that would grant the Cluster of another namespace do not name it.
func LimitRequest(report *requests.Report) {
	shown := func(namespace, name string) bool {
		return namespace == report.Namespace ||
			report.Cluster != nil && report.Cluster.Namespace == namespace && report.Cluster.Name == name
	}

	lacks := map[string]int{}
	hidden := 0

	report.Clusters = slices.DeleteFunc(report.Clusters, func(cluster requests.Cluster) bool {
		if shown(cluster.Namespace, cluster.Name) {
			return false
		}
		hidden++
		if cluster.LackKind == "" {
			lacks["nothing"]++
		} else {
			lacks[cluster.LackKind]++
		}
		return true
	})

	for i := range report.Changes {
		change := &report.Changes[i]
		if namespace, name, _ := strings.Cut(change.Cluster, "/"); !change.New && !shown(namespace, name) {
			change.Cluster = "a Cluster of another namespace"
		}
	}
	if hidden == 0 {
		return
	}

	counts := make([]string, 0, len(lacks))
	for _, lack := range slices.Sorted(maps.Keys(lacks)) {
		counts = append(counts, fmt.Sprintf("%d lack %s", lacks[lack], lack))
	}
	report.Notes = append(report.Notes, fmt.Sprintf("Clusters of other namespaces are only counted: %s", strings.Join(counts, ", ")))
}

// LimitRequestDifference removes the requests that may not be shown, the counts of all requests, and the names of Clusters of other namespaces but
// for those that are to be created for a request.
func LimitRequestDifference(difference *requests.Difference, shown func(types.NamespacedName) bool) {
	difference.Requests = slices.DeleteFunc(difference.Requests, func(d requests.RequestDifference) bool {
		return !shown(types.NamespacedName{Namespace: d.Namespace, Name: d.Name})
	})
	for i := range difference.Requests {
		d := &difference.Requests[i]
		d.Before, d.After = limitResult(d.Before, d.Namespace), limitResult(d.After, d.Namespace)
	}
	difference.Granted, difference.Before, difference.After = 0, requests.Totals{}, requests.Totals{}
	difference.Limited = true
}

// limitResult returns the result of a request of a namespace without the name of a Cluster of another one.
func limitResult(result, namespace string) string {
	cluster, granted := strings.CutPrefix(result, requests.GrantedPrefix)
	if !granted || strings.HasPrefix(cluster, namespace+"/") {
		return result
	}
	return requests.GrantedPrefix + "of another namespace"
}

// LimitPodDifferences removes the names of nodes. Notes have how many nodes fit the Pods of each workload.
func LimitPodDifferences(differences *pods.Differences) {
	for i := range differences.Workloads {
		d := &differences.Workloads[i]
		if d.After == nil {
			continue
		}
		before := ""
		if d.Before != nil {
			before = fmt.Sprintf(" (%d before)", len(d.Before.Fit))
		}

		differences.Notes = append(differences.Notes, fmt.Sprintf("%s %s/%s: %d of %d nodes fit%s, which are not named: %s",
			d.Kind, d.Namespace, d.Name, len(d.After.Fit), d.After.Total, before, d.After.Message))
		d.Before, d.After = nil, nil
	}
}

// LimitWorkload removes the names of nodes, and the policies of the whole cluster that do not match; it counts both.
func LimitWorkload(report *pods.Report) {
	hidden := 0
	report.Policies = slices.DeleteFunc(report.Policies, func(policy pods.Policy) bool {
		other := !policy.Matches && strings.HasPrefix(policy.Policy, "ClusterPodSchedulingPolicy ")
		if other {
			hidden++
		}
		return other
	})
	if hidden > 0 {
		report.Notes = append(report.Notes, fmt.Sprintf("ClusterPodSchedulingPolicies that do not match are only counted: %d", hidden))
	}

	if report.Nodes == nil {
		return
	}
	report.Notes = append(report.Notes, fmt.Sprintf("%d of %d nodes fit, which are not named: %s",
		len(report.Nodes.Fit), report.Nodes.Total, report.Nodes.Message))
	report.Nodes = nil
}
