// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// ReportOptions say what of a State is reported.
type ReportOptions struct {
	// All lists the clusters out of scope too.
	All bool
	// Wanted selects Placements. PlacementsOnly leaves out the objects of other systems, because the user has named Placements.
	Wanted         func(inventory.Key) bool
	PlacementsOnly bool
	// Namespace is that of the objects of other systems; empty for all.
	Namespace string
	// Files reports that the State is of files, of which workloads and ClusterRequests are reported.
	Files bool
}

// inNamespace reports whether an object is in the namespace, if there is one.
func (o *ReportOptions) inNamespace(key inventory.Key) bool {
	return o.Namespace == "" || o.Namespace == key.Namespace
}

// Report evaluates a State without changes.
func (o *ReportOptions) Report(state *explain.State, now time.Time) (explain.Reports, error) {
	reports := explain.Reports{Now: metav1.NewTime(now), Placements: []explain.Report{}}
	for _, each := range With[Reporter]() {
		if err := each.Report(o, state, &reports); err != nil {
			return reports, err
		}
	}
	return reports, nil
}

// ReportsOthers reports whether the report of a State has objects that are no Placements.
func (o *ReportOptions) ReportsOthers(state *explain.State) bool {
	return slices.ContainsFunc(With[OtherReporter](), func(each OtherReporter) bool { return each.HasReport(o, state) })
}

// Addition is the added objects that a system simulates.
type Addition struct {
	System Simulator
	// Given are the objects of the files, and Hub those that they are added to.
	Given, Hub *explain.State
	// Unread says which objects of the hub the user may not read.
	Unread error
}
