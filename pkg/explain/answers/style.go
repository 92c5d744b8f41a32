// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

// AllClustersFlag is the name of the flag that lists all clusters, which a table that groups them by causes names.
const AllClustersFlag = "all-clusters"

// ReportStyle is the style of the reports of simulate.
var ReportStyle = printers.Style{Options: document.Options{All: "--all"}}

// DifferenceStyle returns the style of differences.
func DifferenceStyle(showKept bool) printers.Style {
	return printers.Style{Options: document.Options{ShowKept: showKept}}
}

// ExplanationStyle returns the style of explanations. Without allClusters, a table that is not wide groups the rejected clusters by their causes.
func ExplanationStyle(output string, allClusters bool) printers.Style {
	wide := printers.Format(output) == printers.FormatWide
	style := printers.Style{Options: document.Options{Scores: true, Wide: wide, All: "-o wide"}}
	if !allClusters && !wide {
		style.Grouped = "--" + AllClustersFlag
	}
	return style
}
