// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// heldUntil are the holds of eu1 and eu2.
func heldUntil(release string) map[string]removalbudget.Hold {
	return map[string]removalbudget.Hold{"eu1": {Release: release}, "eu2": {Release: release}}
}

// away has a cluster of the set not be available.
func (h *hub) away(name, location string) {
	h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "members", "location": location},
	}})
}

// E1: each cluster that keeps its work, for whatever cause, and no other one has what ends that.
func TestE1KeptClustersHaveHolds(t *testing.T) {
	mars := configMap(map[string]string{SelectorAnnotation: `[{"key":"location","operator":"=","values":["mars"]}]`})
	for _, c := range []struct {
		reason   string
		object   Object
		unserved []string
		edit     func(*hub)
		budget   Budget
		past     Past
		want     map[string]removalbudget.Hold
	}{
		{
			reason: "the scope is lost, of one cluster earlier", object: inUSA(), budget: Budget{Percent: 100, Hub: Limits{ScopeHold: time.Hour}},
			past: Past{Target: "location=usa", OutOfScope: map[string]time.Time{"eu1": epoch.Add(-time.Minute)}},
			edit: func(h *hub) { h.inventory.DeleteBinding("team-a", "members") },
			want: map[string]removalbudget.Hold{
				"eu1": removalbudget.NewScopeHold(epoch.Add(59 * time.Minute)), "eu2": removalbudget.NewScopeHold(epoch.Add(time.Hour)),
			},
		},
		{
			reason: "no cluster matches", object: mars, budget: Budget{Percent: 100, Hub: Limits{Percent: 100}},
			past: Past{Target: "location=mars", Selected: "location=usa"},
			want: heldUntil("stays until the selector matches a cluster in scope, or the object has the annotation " +
				"placement-hub.open-cluster-management.io/release-removal=d1"),
		},
		{
			reason: "a selected cluster cannot get the object", object: inUSA(), unserved: []string{"us1"},
			budget: Budget{Percent: 100, Hub: Limits{Percent: 100}}, past: Past{Target: "location=usa"},
			want: func() map[string]removalbudget.Hold {
				until := epoch.Add(GainWait)
				hold := removalbudget.Hold{
					Until: until, Release: "leaves at " + until.UTC().Format(time.RFC3339) + ", or when clusters us1 have the object",
				}
				return map[string]removalbudget.Hold{"eu1": hold, "eu2": hold}
			}(),
		},
		{
			reason: "a selected cluster cannot get the object, and one that has it is not available", object: inUSA(), unserved: []string{"us1"},
			edit:   func(h *hub) { h.away("eu2", "europe") },
			budget: Budget{Percent: 100, Hub: Limits{Percent: 100}}, past: Past{Target: "location=usa"},
			want: map[string]removalbudget.Hold{"eu1": {
				Until: epoch.Add(GainWait), Release: "leaves at 2026-01-01T00:05:00Z, or when clusters us1 have the object",
			}},
		},
		{
			reason: "a selected cluster cannot get the object, and those that have it are not available", object: inUSA(), unserved: []string{"us1"},
			edit:   func(h *hub) { h.away("eu1", "europe"); h.away("eu2", "europe") },
			budget: Budget{Percent: 100, Hub: Limits{Percent: 100}}, past: Past{Target: "location=usa"},
		},
		{reason: "nothing holds them", object: inUSA(), budget: Budget{Percent: 100, Hub: Limits{Percent: 100}}, past: Past{Target: "location=usa"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			h := newHub()
			h.works = withWorks("eu1", "eu2", "us1")
			if c.edit != nil {
				c.edit(h)
			}
			got := h.evaluate(c.object).withdrawal(WorkPlan{Lose: []string{"eu1", "eu2"}}, c.unserved, c.budget, c.past, epoch)
			if diff := cmp.Diff(c.want, got.Holds); diff != "" || len(got.Kept) != len(got.Holds) {
				t.Errorf("%v stay (-want +got):\n%s", got.Kept, diff)
			}
			if (got.Held == "") != (len(got.Kept) == 0) {
				t.Errorf("%v stay: %q", got.Kept, got.Held)
			}
			var next time.Time
			for _, hold := range got.Holds {
				if next.IsZero() || hold.Until.Before(next) {
					next = hold.Until
				}
			}
			if !got.RequeueAt.Equal(next) {
				t.Errorf("the next look is at %v, and the first hold ends at %v", got.RequeueAt, next)
			}
		})
	}
}
