// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

func TestSelectionText(t *testing.T) {
	for want, report := range map[string]Report{
		"no cluster selected":                         {Target: federation.Target{Nowhere: true}.String()},
		"no cluster selected of the Namespace":        {Target: federation.Target{Nowhere: true}.String(), FromNamespace: true},
		"1 cluster selected, all in scope":            {Target: federation.Target{}.String(), Selected: []string{"eu1"}},
		"2 clusters selected by location in (europe)": {Target: "location in (europe)", Selected: []string{"eu1", "eu2"}},
		"no cluster selected by Placement p":          {Target: federation.Target{Placement: "p"}.String()},
	} {
		if got := report.selectionText(); got != want {
			t.Errorf("selectionText is %q, want %q", got, want)
		}
	}
}

// U10: the report says that ManifestWorks could not be read, instead of printing zero.
func TestU10ManifestWorksThatCouldNotBeRead(t *testing.T) {
	replicas := &Replicas{Total: 9}
	for _, tc := range []struct {
		report Report
		want   string
	}{
		{Report{}, "not evaluated; ManifestWorks in 0 clusters"},
		{Report{WorksUnread: true}, "not evaluated; its ManifestWorks could not be read"},
		{Report{State: "Held", WorksUnread: true}, "held, its ManifestWorks could not be read"},
		{Report{State: "Deleting", WorksUnread: true}, "being deleted, its ManifestWorks could not be read"},
		{Report{State: "NotDelivered", WorksUnread: true}, "not delivered"},
		{
			Report{State: "Delivering", Selected: []string{"eu1"}, WorksUnread: true, Replicas: replicas},
			"1 cluster selected; its ManifestWorks could not be read; 9 replicas",
		},
		{
			Report{State: "Delivering", Selected: []string{"eu1"}, Delivered: 1, Replicas: replicas},
			"1 cluster selected, applied in 0; 0 of 9 replicas ready",
		},
	} {
		if got := tc.report.headline().String(); got != tc.want {
			t.Errorf("the headline is %q, want %q", got, tc.want)
		}
	}

	report := Report{Replicas: replicas, WorksUnread: true}
	if cell := report.row(&Cluster{Name: "eu1", Wanted: ptr.To(int32(3))}, document.Options{}).Cells[4].Text; cell != "-/3" {
		t.Errorf("replicas are %q, want the wanted ones alone", cell)
	}
}
