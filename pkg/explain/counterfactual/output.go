package counterfactual

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// FormatWide is the table with all details.
const FormatWide explain.Format = "wide"

// Formats returns the formats that Write prints.
func Formats() []explain.Format { return append(explain.Formats(), FormatWide) }

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

// Write prints explanations. FormatName prints "namespace/name cluster" for every selected cluster that is explained.
func Write(out io.Writer, format explain.Format, explanations Explanations, style explain.Style) error {
	var text bytes.Buffer

	switch format {
	case explain.FormatTable, FormatWide:
		for i, explanation := range explanations.Placements {
			if i > 0 {
				text.WriteByte('\n')
			}

			explanation.table(&text, style)
		}
	case explain.FormatJSON, explain.FormatYAML:
		if err := explain.Marshal(&text, format, explanations); err != nil {
			return fmt.Errorf("printing the explanations: %w", err)
		}
	case explain.FormatName:
		for _, explanation := range explanations.Placements {
			explanation.names(&text)
		}
	default:
		return fmt.Errorf("unknown format %q; use one of %v", format, Formats())
	}

	if _, err := text.WriteTo(out); err != nil {
		return fmt.Errorf("printing the explanations: %w", err)
	}

	return nil
}

func (e Explanation) table(out *bytes.Buffer, style explain.Style) {
	if len(e.Explanations) == 0 {
		e.Table(out, style)

		return
	}

	e.Head(out, style)

	for _, explained := range e.Explanations {
		out.WriteByte('\n')
		explained.write(out, style)
	}
}

func (e Explanation) names(out *bytes.Buffer) {
	for _, cluster := range e.Selected {
		told := len(e.Explanations) == 0 || slices.ContainsFunc(e.Explanations, func(explained ClusterExplanation) bool {
			return explained.Cluster == cluster
		})
		if told {
			fmt.Fprintf(out, "%s %s\n", e.QualifiedName(), cluster)
		}
	}
}

// selected reports whether the verdict is Selected, which needs no counterfactual.
func (s ClusterExplanation) selected() bool { return s.Verdict == scheduling.StageSelected.String() }
