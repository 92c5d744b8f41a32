// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

func TestRemoval(t *testing.T) {
	usa := configMap(map[string]string{SelectorAnnotation: `[{"key":"location","operator":"=","values":["usa"]}]`})
	same := Past{Target: "location=usa"}
	outBefore := Past{Target: "location=usa", OutOfScope: map[string]time.Time{"eu1": epoch.Add(-ScopeGrace), "eu2": epoch.Add(-ScopeGrace)}}
	tight, noBudget := Budget{Percent: 30, Hub: Limits{Percent: 30}}, Budget{Percent: 100, Hub: Limits{Percent: 100}}
	for _, c := range []struct {
		name   string
		edit   func(*hub)
		budget Budget
		past   Past
		want   Withdrawal
		// onlyScope are those of the allowed clusters that OnlyScope leaves.
		onlyScope []string
	}{
		{name: "federated-selector F15: clusters that are not selected", budget: noBudget, past: same,
			want: Withdrawal{Allowed: []string{"eu1", "eu2"}, OutOfScope: map[string]time.Time{}, Outside: true}},
		{name: "federated-selector F40: more than the budget", budget: tight, past: same, want: Withdrawal{
			Outside: true, Exceeded: true, Reason: ReasonRemovalHeld, Kept: []string{"eu1", "eu2"},
			Held: "2 of 3 clusters would lose ConfigMap/team-a/x within 10m0s, which exceeds 30%: eu1, eu2; they keep it. To withdraw it, " +
				"set the annotation placement-hub.open-cluster-management.io/release-removal=d1",
			Holds: heldUntil("stays until the removal budget permits its removal, or the object has the annotation " +
				"placement-hub.open-cluster-management.io/release-removal=d1"),
		}},
		{name: "federated-selector F40: works of others, and those that are being deleted, are not in the base",
			budget: Budget{Percent: 50}, past: same,
			edit: func(h *hub) {
				h.works = append(h.works, ExistingWork{Cluster: "c1", Foreign: true}, ExistingWork{Cluster: "c2", Deleting: true})
			}, want: Withdrawal{
				Outside: true, Exceeded: true, Reason: ReasonRemovalHeld, Kept: []string{"eu1", "eu2"},
				Held: "2 of 3 clusters would lose ConfigMap/team-a/x within 10m0s, which exceeds 50%: eu1, eu2; they keep it. To withdraw it, " +
					"set the annotation placement-hub.open-cluster-management.io/release-removal=d1",
				Holds: heldUntil("stays until the removal budget permits its removal, or the object has the annotation " +
					"placement-hub.open-cluster-management.io/release-removal=d1"),
			}},
		{name: "federated-selector F40: released", budget: Budget{Percent: 30, Release: "d1"}, past: same,
			want: Withdrawal{Allowed: []string{"eu1", "eu2"}, OutOfScope: map[string]time.Time{}, Outside: true}},
		{name: "federated-selector F15: the user has changed the selector", budget: tight, past: Past{Target: "all clusters"},
			want: Withdrawal{Allowed: []string{"eu1", "eu2"}, OutOfScope: map[string]time.Time{}}},
		{name: "federated-selector F34: out of scope", budget: noBudget, past: same,
			edit: func(h *hub) { h.inventory.DeleteBinding("team-a", "members") }, want: Withdrawal{
				Graced: []string{"eu1", "eu2"}, OutOfScope: map[string]time.Time{"eu1": epoch, "eu2": epoch}, Outside: true,
				RequeueAt: epoch.Add(ScopeGrace),
			}},
		{name: "federated-selector F34: out of scope for longer", budget: noBudget,
			past: Past{Target: "location=usa", OutOfScope: map[string]time.Time{"eu1": epoch.Add(-ScopeGrace)}},
			edit: func(h *hub) { h.inventory.DeleteBinding("team-a", "members") }, want: Withdrawal{
				Allowed: []string{"eu1"}, Graced: []string{"eu2"}, Outside: true, RequeueAt: epoch.Add(ScopeGrace),
				OutOfScope: map[string]time.Time{"eu1": epoch.Add(-ScopeGrace), "eu2": epoch},
			}, onlyScope: []string{"eu1"}},
		{name: "one is out of scope, and the other one is not selected", budget: noBudget,
			past: Past{Target: "location=usa", OutOfScope: map[string]time.Time{"eu1": epoch.Add(-ScopeGrace)}},
			edit: func(h *hub) { h.leaveSet("eu1") }, want: Withdrawal{
				Allowed: []string{"eu1", "eu2"}, OutOfScope: map[string]time.Time{"eu1": epoch.Add(-ScopeGrace)}, Outside: true,
			}, onlyScope: []string{"eu1"}},
		{name: "out of scope, more than the budget of the hub", past: same,
			budget: Budget{Percent: 100, Hub: Limits{Percent: 30, ScopeHold: time.Hour}},
			edit:   func(h *hub) { h.bind(false) }, want: Withdrawal{
				Outside: true, Exceeded: true, Reason: ReasonRemovalHeld, Kept: []string{"eu1", "eu2"},
				Held: "clusters eu1, eu2 have left the scope of ConfigMap/team-a/x, and the removal budget of the hub, 30%, holds their works for " +
					"1h0m0s at most; bind the set again, or wait",
				Holds: map[string]removalbudget.Hold{
					"eu1": removalbudget.NewScopeHold(epoch.Add(time.Hour)), "eu2": removalbudget.NewScopeHold(epoch.Add(time.Hour)),
				},
				OutOfScope: map[string]time.Time{"eu1": epoch, "eu2": epoch}, RequeueAt: epoch.Add(time.Hour),
			}},
		{name: "the budgets of the object and of the hub hold one each", budget: Budget{Hub: Limits{ScopeHold: time.Hour}}, past: same,
			edit: func(h *hub) { h.leaveSet("eu1") }, want: Withdrawal{
				Outside: true, Exceeded: true, Reason: ReasonRemovalHeld, Kept: []string{"eu1", "eu2"},
				Held: "2 of 3 clusters would lose ConfigMap/team-a/x within 10m0s, which exceeds 0%: eu2; they keep it. To withdraw it, " +
					"set the annotation placement-hub.open-cluster-management.io/release-removal=d1; " +
					"clusters eu1 have left the scope of ConfigMap/team-a/x, and the removal budget of the hub, 0%, holds their works for " +
					"1h0m0s at most; bind the set again, or wait",
				Holds: map[string]removalbudget.Hold{
					"eu1": removalbudget.NewScopeHold(epoch.Add(time.Hour)),
					"eu2": {Release: "stays until the removal budget permits its removal, or the object has the annotation " +
						"placement-hub.open-cluster-management.io/release-removal=d1"},
				},
				OutOfScope: map[string]time.Time{"eu1": epoch}, RequeueAt: epoch.Add(time.Hour),
			}},
		{name: "those that have just joined leave while more than the budget has left", budget: tight, past: Past{
			Target: "location=usa", Joined: map[string]time.Time{"eu1": epoch.Add(-time.Minute), "eu2": epoch.Add(-time.Minute)},
			Withdrawn: map[string]time.Time{"c1": epoch.Add(-time.Minute), "c2": epoch.Add(-time.Minute)},
		}, want: Withdrawal{Allowed: []string{"eu1", "eu2"}, Joined: []string{"eu1", "eu2"}, Outside: true}},
		{name: "one that has just joined leaves the scope while the budget of the hub is exceeded",
			budget: Budget{Percent: 100, Hub: Limits{ScopeHold: time.Hour}},
			past:   Past{Target: "location=usa", OutOfScope: outBefore.OutOfScope, Joined: map[string]time.Time{"eu1": epoch.Add(-time.Minute)}},
			edit:   func(h *hub) { h.bind(false) }, want: Withdrawal{
				Outside: true, Exceeded: true, Reason: ReasonRemovalHeld, Allowed: []string{"eu1"}, Joined: []string{"eu1"}, Kept: []string{"eu2"},
				Held: "clusters eu2 have left the scope of ConfigMap/team-a/x, and the removal budget of the hub, 0%, holds their works for " +
					"1h0m0s at most; bind the set again, or wait",
				Holds:      map[string]removalbudget.Hold{"eu2": removalbudget.NewScopeHold(epoch.Add(time.Hour - ScopeGrace))},
				OutOfScope: outBefore.OutOfScope, RequeueAt: epoch.Add(time.Hour - ScopeGrace),
			}, onlyScope: []string{"eu1"}},
		{name: "federated-selector 3.2: users leave before what they need, on a hub without a limit",
			budget: Budget{Percent: 100, Hub: Limits{Percent: 100, ScopeHold: time.Hour}}, past: outBefore,
			edit: func(h *hub) { h.bind(false); h.users.Clusters = []string{"eu2"} }, want: Withdrawal{
				Graced: []string{"eu2"}, Allowed: []string{"eu1"}, OutOfScope: outBefore.OutOfScope, Outside: true, RequeueAt: epoch.Add(ScopeGrace),
			}, onlyScope: []string{"eu1"}},
		{name: "federated-selector 3.2: users leave before what they need, on a hub that may hold them",
			budget: Budget{Percent: 100, Hub: Limits{Percent: 70, ScopeHold: time.Hour}}, past: outBefore,
			edit: func(h *hub) { h.bind(false); h.users.Clusters = []string{"eu2"} }, want: Withdrawal{
				Graced: []string{"eu2"}, Allowed: []string{"eu1"}, OutOfScope: outBefore.OutOfScope, Outside: true, RequeueAt: epoch.Add(time.Hour),
			}, onlyScope: []string{"eu1"}},
		{name: "federated-selector 3.2: a user that is not known yet", budget: noBudget, past: same,
			edit: func(h *hub) { h.users.Pending = "Deployment.apps/team-a/web" }, want: Withdrawal{
				Outside: true, RequeueAt: epoch.Add(pendingRetry), Kept: []string{"eu1", "eu2"},
				Held:  "no work is withdrawn until the dependencies of Deployment.apps/team-a/web are known",
				Holds: heldUntil("stays until the dependencies of Deployment.apps/team-a/web are known"),
			}},
		{name: "federated-selector 3.2: a user that is not known yet holds no cluster that is out of scope", budget: noBudget, past: same,
			edit: func(h *hub) { h.bind(false); h.users.Pending = "Deployment.apps/team-a/web" }, want: Withdrawal{
				Graced: []string{"eu1", "eu2"}, OutOfScope: map[string]time.Time{"eu1": epoch, "eu2": epoch}, Outside: true,
				RequeueAt: epoch.Add(ScopeGrace),
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHub()
			h.works = withWorks("eu1", "eu2", "us1")
			if c.edit != nil {
				c.edit(h)
			}
			got := h.evaluate(usa).withdrawal(WorkPlan{Lose: []string{"eu1", "eu2"}}, nil, c.budget, c.past, epoch)
			if c.want.OutOfScope == nil {
				c.want.OutOfScope = map[string]time.Time{}
			}

			c.want.Unserved = map[string]time.Time{}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if got.ForScope() != (len(c.onlyScope) > 0) {
				t.Errorf("ForScope is %v", got.ForScope())
			}
			got.OnlyScope()
			if !slices.Equal(got.Allowed, c.onlyScope) {
				t.Errorf("OnlyScope leaves %v, want %v", got.Allowed, c.onlyScope)
			}
		})
	}
	if got := newHub().evaluate(deployment9()).ReleaseToken(); got != "4" {
		t.Errorf("the removals of an object of generation 4 are released by %q", got)
	}
}

// TestRemovalWindow checks that works which are withdrawn one by one count together (docs/spec/federated-selector.md 3.1.4).
func TestRemovalWindow(t *testing.T) {
	h := newHub()
	h.works = withWorks("eu1", "eu2")
	past := Past{Target: "default", Withdrawn: map[string]time.Time{"us1": epoch.Add(-time.Minute)}}
	limits := Limits{Percent: 50}

	held := h.evaluate(configMap(nil)).Outcome(WorkPlan{Lose: []string{"eu1"}}, nil, limits, past, epoch)
	if held.Reason != ReasonRemovalHeld || !held.RequeueAt.Equal(epoch.Add(removalbudget.Window-time.Minute)) {
		t.Errorf("two of three works: %+v", held)
	}
	later := h.evaluate(configMap(nil)).Outcome(WorkPlan{Lose: []string{"eu1"}}, nil, limits, held.Past, epoch.Add(removalbudget.Window))
	if len(later.Allowed) != 1 {
		t.Errorf("one of two works, after the window: %+v", later)
	}
}

func TestDeletion(t *testing.T) {
	deletion := metav1.NewTime(epoch)
	for _, c := range []struct {
		name   string
		orphan bool
		works  []ExistingWork
		want   Deletion
	}{
		{"federated-selector F20: works are deleted", false, withWorks("us1", "eu1"), Deletion{Delete: []string{"eu1", "us1"}}},
		{"federated-selector F20: an agent that is away", false,
			[]ExistingWork{{Cluster: "eu2", Deleting: true}}, Deletion{Waiting: []string{"eu2"}}},
		{"federated-selector F20: a cluster that is gone", false, []ExistingWork{{Cluster: "gone", Deleting: true}},
			Deletion{Release: []string{"gone"}}},
		{"federated-selector F21: no work", false, nil, Deletion{}},
		{"federated-selector F22: the agents are told first", true, withWorks("eu1", "gone"),
			Deletion{Orphan: []string{"eu1", "gone"}}},
		{"T11: a detached cluster, whose copies stay, is not waited for", true, []ExistingWork{{Cluster: "gone", Orphan: true}},
			Deletion{Delete: []string{"gone"}}},
		{"federated-selector F22: the agents have to see it", true,
			[]ExistingWork{{Cluster: "eu1", Orphan: true}, {Cluster: "eu2", Orphan: true, OrphanSeen: true}},
			Deletion{Delete: []string{"eu2"}, Waiting: []string{"eu1"}}},
		{"federated-selector 3.1.4: a work of somebody else", false, []ExistingWork{{Cluster: "eu1", Foreign: true}}, Deletion{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, object := newHub(), configMap(nil)
			h.works, object.Meta.DeletionTimestamp = c.works, &deletion
			if c.orphan {
				object.Meta.Annotations = map[string]string{OrphanAnnotation: "true"}
			}
			got := h.evaluate(object).Deletion()
			if diff := cmp.Diff(c.want, got); diff != "" || got.Done() != (len(c.works) == 0 || c.works[0].Foreign) {
				t.Errorf("done: %t, %s", got.Done(), diff)
			}
		})
	}

	h, object := newHub(), configMap(nil)
	h.works, object.Meta.DeletionTimestamp = []ExistingWork{{Cluster: "eu2", Deleting: true}}, &deletion
	if got := h.evaluate(object).Message; got != "waiting for clusters eu2 to remove team-a/x" {
		t.Error(got)
	}
	h.works = withWorks("eu2")
	if got := h.evaluate(object).Message; got != "ConfigMap/team-a/x is being deleted" {
		t.Errorf("no agent has to act: %s", got)
	}
	h.works = []ExistingWork{{Cluster: "eu2", Deleting: true, DeletedAt: metav1.NewTime(epoch.Add(-FinalizerTimeout)), KeptBy: "a/a"}}
	got, want := h.evaluate(object).Message, "waiting for clusters eu2 to remove team-a/x; finalizers keep the ManifestWork fed-"
	if !strings.HasPrefix(got, want) {
		t.Errorf("a finalizer keeps the work: %s", got)
	}
}

// federated-selector 3.1.5: the deletion of an object waits for agents. The message names those that seem to be away. The hub alone removes the
// finalizers of clusters that do not exist.
func TestAgentsThatAreAway(t *testing.T) {
	h, object := newHub(), configMap(nil)
	object.Meta.DeletionTimestamp = &metav1.Time{Time: epoch}
	h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "eu2"}})
	h.works = []ExistingWork{
		{Cluster: "us1", Deleting: true}, {Cluster: "eu2", Deleting: true}, {Cluster: "gone", Deleting: true}, {Cluster: "c1", Deleting: true},
		{Cluster: "eu1"}, {Cluster: "away"}, {Cluster: "foreign", Deleting: true, Foreign: true},
	}
	e := h.evaluate(object)
	for _, tc := range []struct {
		reason string
		now    time.Time
		want   []string
	}{
		{"one is not available", epoch.Add(DeletionTimeout - 1), []string{"eu2"}},
		{"each one is late", epoch.Add(DeletionTimeout), []string{"eu2", "us1"}},
	} {
		if diff := cmp.Diff(tc.want, e.Away(tc.now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
	if diff := cmp.Diff([]string{"c1", "gone"}, e.Abandoned()); diff != "" {
		t.Errorf("works without a cluster (-want +got):\n%s", diff)
	}

	object.Meta.DeletionTimestamp = nil
	e = h.evaluate(object)
	if got := e.Away(epoch.Add(time.Hour)); len(got) > 0 {
		t.Errorf("nothing waits for %v while the object is not being deleted", got)
	}
	if diff := cmp.Diff([]string{"c1", "gone"}, e.Abandoned()); diff != "" {
		t.Errorf("works without a cluster of an object that stays (-want +got):\n%s", diff)
	}
	h.namespace = nil
	if got := h.evaluate(object).Abandoned(); len(got) > 0 {
		t.Errorf("%v are abandoned while clusters are not known", got)
	}
}
