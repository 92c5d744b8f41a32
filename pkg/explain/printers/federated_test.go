// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/explain/federated"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

func TestSelectionText(t *testing.T) {
	for want, report := range map[string]federated.Report{
		"no cluster selected":                         {Target: federation.Target{Nowhere: true}.String()},
		"no cluster selected of the Namespace":        {Target: federation.Target{Nowhere: true}.String(), FromNamespace: true},
		"1 cluster selected, all in scope":            {Target: federation.Target{}.String(), Selected: []string{"eu1"}},
		"2 clusters selected by location in (europe)": {Target: "location in (europe)", Selected: []string{"eu1", "eu2"}},
		"no cluster selected by Placement p":          {Target: federation.Target{Placement: "p"}.String()},
	} {
		if got := selectionText(report); got != want {
			t.Errorf("selectionText is %q, want %q", got, want)
		}
	}
}

// U10: the report says that ManifestWorks could not be read, instead of printing zero.
func TestU10ManifestWorksThatCouldNotBeRead(t *testing.T) {
	replicas := &federated.Replicas{Total: 9}

	for _, tc := range []struct {
		report federated.Report
		want   string
	}{
		{federated.Report{}, "not evaluated; ManifestWorks in 0 clusters"},
		{federated.Report{WorksUnread: true}, "not evaluated; its ManifestWorks could not be read"},
		{federated.Report{State: "Held", WorksUnread: true}, "held, its ManifestWorks could not be read"},
		{federated.Report{State: "Deleting", WorksUnread: true}, "being deleted, its ManifestWorks could not be read"},
		{federated.Report{State: "NotDelivered", WorksUnread: true}, "not delivered"},
		{
			federated.Report{State: "Delivering", Selected: []string{"eu1"}, WorksUnread: true, Replicas: replicas},
			"1 cluster selected; its ManifestWorks could not be read; 9 replicas",
		},
		{
			federated.Report{State: "Delivering", Selected: []string{"eu1"}, Delivered: 1, Replicas: replicas},
			"1 cluster selected, applied in 0; 0 of 9 replicas ready",
		},
	} {
		if got := objectHeadline(tc.report, Style{}); got != tc.want {
			t.Errorf("the headline is %q, want %q", got, tc.want)
		}
	}

	cells := objectCells(federated.Report{Replicas: replicas, WorksUnread: true}, federated.Cluster{Name: "eu1", Wanted: ptr.To(int32(3))}, Style{})
	if cells[4] != "-/3" {
		t.Errorf("replicas are %q, want the wanted ones alone", cells[4])
	}
}
