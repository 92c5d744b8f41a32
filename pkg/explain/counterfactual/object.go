// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// ObjectExplanations is the output of the formats json and yaml for objects that are delivered.
type ObjectExplanations struct {
	// Now is the time of the evaluation.
	Now metav1.Time `json:"now"`
	// Objects are sorted by namespace, name and kind.
	Objects []ObjectExplanation `json:"objects"`
	// Notes name what could not be read.
	Notes []string `json:"notes,omitempty"`
}

// ObjectExplanation is a Report with the explanations of the requested clusters. If there are any, the Report lists no other clusters.
type ObjectExplanation struct {
	federated.Report

	Explanations []ClusterExplanation `json:"explanations,omitempty"`
}

// WorkloadExplanations is the output of the formats json and yaml for workloads: where their Pods may run, and where they are delivered.
type WorkloadExplanations struct {
	pods.Reports

	// Federated has the workloads whose Namespace takes part in delivery; absent if there are none.
	Federated *ObjectExplanations `json:"federated,omitempty"`
}

// NewObjectExplanation returns the Explanation of an evaluated object of a State, with clusters in full and counterfactuals for them. With all
// it lists the clusters out of scope too. It returns the name of a cluster that does not exist, or "".
func NewObjectExplanation(
	state *explain.State, e federated.Evaluation, clusters []string, all bool, now time.Time,
) (explanation ObjectExplanation, unknown string) {
	report := federated.NewReport(e, all || len(clusters) > 0)
	explanation.Report = report
	for _, cluster := range clusters {
		explained, known := explainObject(e, report, cluster)
		if !known {
			return explanation, cluster
		}
		if e.Result != nil && e.State == federation.Delivering {
			explained.Counterfactuals = append(explained.Counterfactuals, Search(state, e.Key(), cluster, now)...)
		}
		explanation.Explanations = append(explanation.Explanations, explained)
	}

	if len(clusters) > 0 {
		explanation.Clusters = slices.DeleteFunc(slices.Clone(report.Clusters), func(other federated.Cluster) bool {
			return !slices.Contains(clusters, other.Name)
		})
	}
	return explanation, ""
}

// explainObject explains an evaluated object for a cluster, with the verdict of its report. It returns false when there is no such cluster.
func explainObject(e federated.Evaluation, report federated.Report, name string) (ClusterExplanation, bool) {
	at := slices.IndexFunc(report.Clusters, func(cluster federated.Cluster) bool { return cluster.Name == name })

	explained := ClusterExplanation{
		Cluster: name, Sets: []Set{}, Predicates: []Predicate{}, Taints: []Taint{}, Prioritizers: []Prioritizer{},
		Counterfactuals: []Counterfactual{}, Reason: "no answer: " + e.Message,
	}

	if e.Result != nil {
		if found, known := Explain(explain.Evaluation{Result: e.Result}, name); known {
			explained = found
		} else if at < 0 {
			return ClusterExplanation{}, false
		}
	}

	// An object has no prioritizers, so that ranks and scores mean nothing.
	explained.Rank, explained.Score, explained.Prioritizers = 0, nil, []Prioritizer{}
	switch {
	case at >= 0:
		cluster := report.Clusters[at]
		explained.Verdict, explained.Hold = cluster.Verdict, cluster.Hold
		if cluster.Reason != "" {
			explained.Reason = cluster.Reason
		}
	case e.Target.Placement != "" && e.State == federation.Delivering:
		explained.Reason = "no decision of Placement " + e.Target.Placement
	}

	return explained, true
}
