// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// Explanations is the output of the formats json and yaml.
type Explanations struct {
	// Now is the time of the evaluation.
	Now metav1.Time `json:"now"`
	// Placements are sorted by namespace, name and API.
	Placements []Explanation `json:"placements"`
}

// Explanation is a Report with the explanations of the requested clusters. If there are any, the Report lists no other clusters.
type Explanation struct {
	explain.Report

	Explanations []ClusterExplanation `json:"explanations,omitempty"`
	// Rows explain those clusters of the Report for which details were asked for, without counterfactuals. The dashboard shows them as rows.
	Rows []ClusterExplanation `json:"-"`
}

// NewExplanation returns the Explanation of a Report. With explained clusters, it drops the others from the Report.
func NewExplanation(report explain.Report, clusters []ClusterExplanation) Explanation {
	if len(clusters) > 0 {
		report.Clusters = slices.DeleteFunc(report.Clusters, func(cluster explain.ClusterReport) bool {
			return !slices.ContainsFunc(clusters, func(explained ClusterExplanation) bool { return explained.Cluster == cluster.Name })
		})
	}
	return Explanation{Report: report, Explanations: clusters}
}

// EarliestChange returns the earliest time at which a result can change without an event; zero for never.
func (e Explanations) EarliestChange() time.Time {
	var earliest time.Time
	for i := range e.Placements {
		if at := e.Placements[i].ChangesAt; at != nil && (earliest.IsZero() || at.Time.Before(earliest)) {
			earliest = at.Time
		}
	}
	return earliest
}
