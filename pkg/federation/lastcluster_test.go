// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/property"
)

// halfLimits are the limits of a hub with a removal budget of 50 %.
func halfLimits() Limits { return LimitsOf(removalbudget.Limit{Percent: new(50)}) }

// bind binds the set of the members to the namespace, or removes the binding.
func (h *hub) bind(bound bool) {
	if !bound {
		h.inventory.DeleteBinding("team-a", "members")
		return
	}
	h.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "members"},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "members"},
	})
}

// plan returns the evaluation of an object with the writes for it, of which existing works need none.
func (h *hub) plan(t interface{ Fatal(...any) }, object Object) (*Evaluation, WorkPlan) {
	e := h.evaluate(object)
	plan, err := e.Plan(func(Variant) (string, error) { return "h", nil })
	if err != nil {
		t.Fatal(err)
	}
	return e, plan
}

// replace moves us1 into a set of its own that is bound while that of the members is not.
func (h *hub) replace() {
	h.bind(false)
	h.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "others"}})
	h.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "others"},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "others"},
	})
	h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: "us1", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "others"},
	}})
}

// bindInvalid binds a set whose selector is invalid, besides that of the members.
func (h *hub) bindInvalid() {
	h.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{
		ObjectMeta: metav1.ObjectMeta{Name: "broken"},
		Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: clusterv1beta2.ManagedClusterSelector{
			SelectorType:  clusterv1beta2.LabelSelector,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a b": "c"}},
		}},
	})
	h.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "broken"},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "broken"},
	})
}

// spoil has a cluster with labels, of which one could not be decoded.
func (h *hub) spoil(name string, labels map[string]string) {
	cluster := clusterOf(name, labels)
	if err := unreadable.Mark(cluster, unreadable.Fields{{Path: "metadata.labels[a]", Value: "1", Problem: "is wrong"}}); err != nil {
		panic(err)
	}
	h.inventory.SetCluster(cluster)
}

// terminate has a cluster be deleted, which its finalizers delay.
func (h *hub) terminate(name string) {
	h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: name, DeletionTimestamp: &metav1.Time{Time: epoch}, Finalizers: []string{"example.com/x"},
	}})
}

// docs/spec/differences.md B17: the last cluster of an object does not leave at once because it has left the scope.
func TestB17TheLastClusterKeepsItsWork(t *testing.T) {
	const none, selector, byPlacement = "", `[{"key":"environment","operator":"=","values":["prod"]}]`, "p"
	unbind := func(h *hub) { h.bind(false) }
	for _, tc := range []struct {
		reason      string
		annotations map[string]string
		works       []string
		happen      func(*hub)
		unserved    []string
		hub         removalbudget.Limit
		// kept has the clusters that keep their works, and graced those that leave after ScopeGrace.
		kept, graced, allowed string
	}{
		{reason: "its set is unbound", happen: unbind, kept: "eu1"},
		{reason: "it leaves its set", annotations: map[string]string{SelectorAnnotation: selector}, happen: func(h *hub) {
			h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "eu1"}})
			h.inventory.DeleteCluster("eu2")
			h.inventory.DeleteCluster("us1")
		}, kept: "eu1"},
		{reason: "it is that of a Placement", annotations: map[string]string{PlacementAnnotation: byPlacement}, happen: unbind, kept: "eu1"},
		{reason: "no limit for the object", annotations: map[string]string{removalbudget.PercentAnnotation: "100"}, happen: unbind, kept: "eu1"},
		{reason: "released", annotations: map[string]string{removalbudget.ReleaseAnnotation: "d1"}, happen: unbind, kept: "eu1"},
		{reason: "the selector is invalid", annotations: map[string]string{SelectorAnnotation: "{"}, happen: unbind, kept: "eu1"},
		{reason: "the namespace is suspended", happen: func(h *hub) { h.bind(false); h.namespace.Labels = nil }, kept: "eu1"},
		{reason: "the other one drains", works: []string{"eu1", "eu2"}, happen: func(h *hub) { h.bind(false); h.drain("eu2", "europe") },
			kept: "eu1", graced: "eu2"},
		{reason: "the other one does not match any more", annotations: map[string]string{SelectorAnnotation: selector}, works: []string{"eu1", "us1"},
			happen: func(h *hub) {
				h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "eu1"}})
				h.cluster("us1", map[string]string{"environment": "test"})
				h.drain("us1", "usa")
			}, kept: "eu1", allowed: "us1"},
		{reason: "the other one stays for the budget", annotations: map[string]string{SelectorAnnotation: selector}, works: []string{"eu1", "us1"},
			happen: func(h *hub) {
				h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "eu1"}})
				h.cluster("us1", map[string]string{"environment": "test"})
			}, kept: "us1", graced: "eu1"},
		{reason: "the one that replaces it has no work because a write failed", happen: (*hub).replace, unserved: []string{"us1"}, kept: "eu1"},
		{reason: "the work of that name in another one is of somebody else", happen: func(h *hub) {
			h.bind(false)
			h.works = append(h.works, ExistingWork{Cluster: "us1", Foreign: true})
		}, kept: "eu1"},
		{reason: "the work of another one is being deleted", happen: func(h *hub) {
			h.bind(false)
			h.works = append(h.works, ExistingWork{Cluster: "us1", Deleting: true})
		}, kept: "eu1"},
		{reason: "it may be in a set whose selector is invalid", happen: func(h *hub) { h.bindInvalid(); h.leaveSet("eu1") }},
		{reason: "its labels cannot be read while the namespace is suspended", happen: func(h *hub) {
			h.spoil("eu1", nil)
			h.namespace.Labels = nil
		}},
		{reason: "each cluster in scope is being deleted", works: []string{"eu1", "us1"}, happen: func(h *hub) {
			for _, name := range []string{"eu1", "eu2", "us1"} {
				h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
					Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "members"},
					DeletionTimestamp: &metav1.Time{Time: epoch}, Finalizers: []string{"example.com/x"},
				}})
			}
		}, hub: removalbudget.Limit{Percent: new(removalbudget.NoLimit)}, allowed: "eu1 us1"},
		{reason: "another one replaces it", happen: (*hub).replace, graced: "eu1"},
		{reason: "another one remains", works: []string{"eu1", "us1"}, happen: (*hub).replace, graced: "eu1"},
		{reason: "it drains", happen: func(h *hub) { h.bind(false); h.drain("eu1", "europe") }, graced: "eu1"},
		{reason: "it is being deleted", happen: func(h *hub) { h.bind(false); h.terminate("eu1") }, graced: "eu1"},
		{reason: "it is deleted", works: []string{"gone"}, happen: unbind, graced: "gone"},
		{reason: "its labels change", annotations: map[string]string{SelectorAnnotation: selector}, works: []string{"eu2"},
			happen: func(*hub) {}, allowed: "eu2"},
		{reason: "the object's own edit", annotations: map[string]string{SelectorAnnotation: ControlPlaneOnly}, happen: func(*hub) {},
			allowed: "eu1"},
		{reason: "the hub has no limit", happen: unbind, hub: removalbudget.Limit{Percent: new(removalbudget.NoLimit)}, graced: "eu1"},
		{reason: "a hub without flags", annotations: map[string]string{removalbudget.PercentAnnotation: "50"}, happen: unbind,
			hub: removalbudget.Limit{Percent: nil, CountReplaced: new(false)}, graced: "eu1"},
		{reason: "as upstream", happen: unbind,
			hub: removalbudget.Limit{Percent: new(50), LastCluster: new(removalbudget.UpstreamLastCluster)}, graced: "eu1"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub()
			h.decisions = map[string]Decisions{byPlacement: {Clusters: []string{"eu1"}}}
			if tc.works == nil {
				tc.works = []string{"eu1"}
			}
			h.works = withWorks(tc.works...)
			tc.happen(h)
			limits := halfLimits()
			if tc.hub != (removalbudget.Limit{}) {
				limits = LimitsOf(tc.hub)
			}

			e, plan := h.plan(t, configMap(tc.annotations))
			got := e.Outcome(plan, tc.unserved, limits, Past{}, epoch)
			for _, list := range []struct {
				what, want string
				got        []string
			}{{"kept", tc.kept, got.Kept}, {"graced", tc.graced, got.Graced}, {"allowed", tc.allowed, got.Allowed}} {
				if strings.Join(list.got, " ") != list.want {
					t.Errorf("%s: %q, want %q: %s", list.what, list.got, list.want, got.Held)
				}
			}
			if (tc.kept != none) != (got.Reason == ReasonRemovalHeld) {
				t.Errorf("reason %q: %s", got.Reason, got.Held)
			}

			// What has left the scope leaves after the hold of the hub.
			later := e.Outcome(plan, tc.unserved, limits, got.Past, epoch.Add(limits.ScopeHold))
			if len(later.Graced) > 0 || slices.ContainsFunc(later.Kept, later.outOfScope) {
				t.Errorf("after the hold %q and %q stay: %s", later.Kept, later.Graced, later.Held)
			}
		})
	}
}

// docs/spec/differences.md B17: the Event about the last cluster says what holds its work, and for how long.
func TestB17TheEventOfTheLastCluster(t *testing.T) {
	h := newHub()
	h.works = withWorks("eu1")
	h.bind(false)
	e, plan := h.plan(t, configMap(nil))
	got := e.Outcome(plan, nil, halfLimits(), Past{}, epoch)
	const want = "clusters eu1 have left the scope of ConfigMap/team-a/x, and the hub holds the works of the last clusters for 10m0s at most while " +
		"no other cluster replaces them; bind the set again, or wait"
	if got.Held != want || !got.KeptLast || got.Exceeded || !got.RequeueAt.Equal(epoch.Add(removalbudget.DefaultLostScopeHold)) {
		t.Errorf("looks again at %v, last %v: %q", got.RequeueAt, got.KeptLast, got.Held)
	}
}

// docs/spec/differences.md B17: whatever becomes of sets, labels and clusters, an object does not lose its last work for lost scope before the hold
// of the hub is over, and it loses it then.
func TestB17NoObjectIsEmptyForLostScope(t *testing.T) {
	limits, names := halfLimits(), []string{"eu1", "eu2", "us1"}
	property.Check(t, func(t *rapid.T) {
		h, now, past := newHub(), epoch, Past{}
		bound, members := true, map[string]bool{"eu1": true, "eu2": true, "us1": true}
		lost := map[string]time.Time{} // since when each cluster is out of scope
		object := configMap(map[string]string{SelectorAnnotation: rapid.SampledFrom([]string{"[]", europe, usa}).Draw(t, "selector")})

		for range rapid.IntRange(1, 30).Draw(t, "events") {
			cluster := rapid.SampledFrom(names).Draw(t, "cluster")
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				bound = !bound
				h.bind(bound)
			case 1:
				members[cluster] = !members[cluster]
				h.cluster(cluster, map[string]string{"location": map[bool]string{true: "europe", false: "usa"}[cluster != "us1"]})
				if !members[cluster] {
					h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}})
				}
			case 2:
				now = now.Add(time.Duration(rapid.IntRange(1, 60).Draw(t, "seconds")) * time.Second)
			default:
				now = now.Add(removalbudget.DefaultLostScopeHold)
			}
			for _, name := range names {
				if bound && members[name] {
					delete(lost, name)
				} else if _, known := lost[name]; !known {
					lost[name] = now
				}
			}

			e, plan := h.plan(t, object)
			outcome := e.Outcome(plan, nil, limits, past, now)
			past = outcome.Withdrew(outcome.Allowed, now)
			had := len(h.works)
			h.works = slices.DeleteFunc(append(h.works, withWorks(plan.Gain...)...), func(work ExistingWork) bool {
				return slices.Contains(outcome.Allowed, work.Cluster)
			})
			if had == 0 || len(h.works) > 0 {
				continue
			}
			for _, cluster := range outcome.Allowed {
				if since, out := lost[cluster]; out && now.Before(since.Add(limits.ScopeHold)) {
					t.Fatalf("%s loses the last work %s after it has left the scope", cluster, now.Sub(since))
				}
			}
		}

		h.bind(false)
		e, plan := h.plan(t, object)
		past = e.Outcome(plan, nil, limits, past, now).Past
		if left := e.Outcome(plan, nil, limits, past, now.Add(limits.ScopeHold)); len(left.Allowed) != len(h.works) {
			t.Fatalf("after the hold %q of %d works are withdrawn: %s", left.Allowed, len(h.works), left.Held)
		}
	})
}
