// SPDX-License-Identifier: Apache-2.0

package federation

import "testing"

// docs/spec/differences.md E1a: the reason of every work that is withdrawn, whatever the state of its object.
func TestReasonsOfClusters(t *testing.T) {
	deleting := &Evaluation{State: Deleting}
	if got, want := deleting.ReasonOf("eu1"), "the object is being deleted"; got != want {
		t.Errorf("deleting: got %q, want %q", got, want)
	}
	gone := &Evaluation{State: Delivering, Target: Target{Placement: "p"}, Selected: []string{"eu1"}}
	for cluster, want := range map[string]string{"eu1": "decision of Placement p", "eu2": "ManagedCluster is deleted"} {
		if got := gone.ReasonOf(cluster); got != want {
			t.Errorf("%s: got %q, want %q", cluster, got, want)
		}
	}
}
