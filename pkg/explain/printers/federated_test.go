package printers

import (
	"testing"

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
