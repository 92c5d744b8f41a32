// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/test/property"
)

// hub runs the controller for one cluster, in the time of a bubble of synctest. The events of its own writes and of the cluster come at once.
type hub struct {
	t       *testing.T
	api     client.Client
	r       *managedClusterTaintsReconciler
	changes predicate.Predicate
	// due is when the cluster is reconciled next; zero for never.
	due    time.Time
	writes int
}

func newHub(t *testing.T, period time.Duration, cluster *clusterv1.ManagedCluster) *hub {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clusterv1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	h := &hub{t: t}
	h.api = fake.NewClientBuilder().WithScheme(scheme).WithObjects(cluster).WithStatusSubresource(cluster).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			h.writes++
			return c.Patch(ctx, object, patch, options...)
		},
	}).Build()
	h.start(period)
	return h
}

// start starts the controller, as after a restart of the hub.
func (h *hub) start(period time.Duration) {
	h.r = &managedClusterTaintsReconciler{
		client: h.api, clock: clock.RealClock{}, grace: newGracePeriod(period, clock.RealClock{}),
		conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}
	h.changes, h.due = h.r.changes(), time.Time{}
	if h.changes.Create(event.CreateEvent{Object: h.cluster()}) {
		h.due = time.Now()
	}
}

func (h *hub) cluster() *clusterv1.ManagedCluster {
	h.t.Helper()
	cluster := &clusterv1.ManagedCluster{}
	if err := h.api.Get(context.Background(), client.ObjectKey{Name: "c1"}, cluster); err != nil {
		h.t.Fatal(err)
	}
	return cluster
}

// taints returns the keys of the taints.
func (h *hub) taints() string {
	h.t.Helper()
	var keys []string
	for _, taint := range h.cluster().Spec.Taints {
		keys = append(keys, shortKey(taint.Key))
	}
	return strings.Join(keys, " ")
}

func shortKey(key string) string {
	return strings.TrimPrefix(key, "cluster.open-cluster-management.io/")
}

// changed handles an event.
func (h *hub) changed(before *clusterv1.ManagedCluster) {
	if h.changes.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: h.cluster()}) {
		h.due = time.Now()
	}
}

// report writes the condition; an empty status removes it. The time of the condition is that of an agent whose clock is wrong.
func (h *hub) report(status metav1.ConditionStatus) {
	h.t.Helper()
	before := h.cluster()
	reported := before.DeepCopy()
	reported.Status.Conditions = nil
	if status != "" {
		condition := available(status)
		condition.LastTransitionTime = metav1.NewTime(time.Now().AddDate(-1, 0, 0))
		reported.Status.Conditions = []metav1.Condition{condition}
	}
	if err := h.api.Status().Update(context.Background(), reported); err != nil {
		h.t.Fatal(err)
	}
	h.changed(before)
}

// setTaints writes the taints as a user does.
func (h *hub) setTaints(taints ...clusterv1.Taint) {
	h.t.Helper()
	before := h.cluster()
	edited := before.DeepCopy()
	edited.Spec.Taints = taints
	if err := h.api.Update(context.Background(), edited); err != nil {
		h.t.Fatal(err)
	}
	h.changed(before)
}

// sleep lets time pass, and reconciles when it is due, also now.
func (h *hub) sleep(duration time.Duration) {
	h.t.Helper()
	for end := time.Now().Add(duration); ; {
		if h.due.IsZero() || h.due.After(end) {
			time.Sleep(time.Until(end))
			return
		}
		time.Sleep(time.Until(h.due))
		h.due = time.Time{}
		before := h.cluster()
		result, err := h.r.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "c1"}})
		if err != nil {
			h.t.Fatal(err)
		}
		if result.RequeueAfter > 0 {
			h.due = time.Now().Add(result.RequeueAfter)
		} else {
			h.changed(before)
		}
	}
}

func (h *hub) expect(reason, taints string, writes int) {
	h.t.Helper()
	if got := h.taints(); got != taints || h.writes != writes {
		h.t.Fatalf("%s: taints %q after %d writes, want %q after %d", reason, got, h.writes, taints, writes)
	}
}

func availableCluster(status metav1.ConditionStatus, taints ...clusterv1.Taint) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c1", UID: "1"}, Spec: clusterv1.ManagedClusterSpec{Taints: taints},
	}
	if status != "" {
		cluster.Status.Conditions = []metav1.Condition{available(status)}
	}
	return cluster
}

const (
	yes    = metav1.ConditionTrue
	no     = metav1.ConditionFalse
	nobody = metav1.ConditionUnknown
	grace  = 5 * time.Second
)

// docs/spec/differences.md B21, step by step.
func TestB21TheFirstTaintWaits(t *testing.T) {
	tainted := clusterv1.Taint{Key: unreachable, Effect: noSelect, TimeAdded: earlier}
	for _, tc := range []struct {
		reason  string
		period  time.Duration
		cluster *clusterv1.ManagedCluster
		run     func(h *hub)
	}{
		{"a flap is no reason for a taint", grace, availableCluster(yes), func(h *hub) {
			for range 3 {
				h.report(nobody)
				h.sleep(grace - 1)
				h.report(yes)
				h.sleep(time.Second)
			}
			h.sleep(time.Minute)
			h.expect("after three flaps", "", 0)
		}},
		{"the taint comes when the period ends, and goes at once", grace, availableCluster(yes), func(h *hub) {
			h.report(no)
			h.sleep(grace - 1)
			h.expect("before the end", "", 0)
			h.sleep(1)
			h.expect("at the end", "unavailable", 1)
			h.report(yes)
			h.sleep(0)
			h.expect("available again", "", 2)
		}},
		{"a period of zero does not wait", 0, availableCluster(yes), func(h *hub) {
			h.report(nobody)
			h.sleep(0)
			h.expect("at once", "unreachable", 1)
		}},
		{"a cluster that has never reported does not wait", grace, availableCluster(""), func(h *hub) {
			h.sleep(0)
			h.expect("at once", "unreachable", 1)
		}},
		{"a cluster whose first report comes before its taint does not wait", grace, availableCluster(""), func(h *hub) {
			h.report(no)
			h.sleep(0)
			h.expect("at once", "unavailable", 1)
		}},
		{"a tainted cluster gets the other taint at once", grace, availableCluster(nobody, tainted), func(h *hub) {
			h.report(no)
			h.sleep(0)
			h.expect("at once", "unavailable", 1)
		}},
		{"unknown and false in turn are one time without True", grace, availableCluster(yes), func(h *hub) {
			h.report(nobody)
			h.sleep(3 * time.Second)
			h.report(no)
			h.sleep(2 * time.Second)
			h.expect("five seconds in all", "unavailable", 1)
		}},
		{"a condition that disappears is unknown", grace, availableCluster(yes), func(h *hub) {
			h.report(no)
			h.sleep(time.Second)
			h.report("")
			h.sleep(0)
			h.expect("before the end", "", 0)
			h.sleep(4 * time.Second)
			h.expect("at the end", "unreachable", 1)
		}},
		{"a taint that a user removes is back at once", grace, availableCluster(no), func(h *hub) {
			h.sleep(time.Minute)
			h.expect("tainted", "unavailable", 1)
			h.setTaints()
			h.sleep(0)
			h.expect("tainted again", "unavailable", 2)
		}},
		{"the taint of another effect is corrected at once", grace, availableCluster(nobody, clusterv1.Taint{
			Key: unreachable, Effect: noSelectIfNew, TimeAdded: earlier,
		}), func(h *hub) {
			h.sleep(0)
			h.expect("corrected", "unreachable", 1)
		}},
		{"a restart within the period begins it again", grace, availableCluster(yes), func(h *hub) {
			h.report(nobody)
			h.sleep(4 * time.Second)
			h.start(grace)
			h.sleep(4 * time.Second)
			h.expect("in the second period", "", 0)
			h.sleep(time.Second)
			h.expect("at its end", "unreachable", 1)
		}},
		{"a restart writes nothing for a tainted cluster", grace, availableCluster(nobody, tainted), func(h *hub) {
			h.start(grace)
			h.sleep(time.Minute)
			h.expect("as before", "unreachable", 0)
		}},
		{"heartbeats neither prolong the period nor write", grace, availableCluster(yes), func(h *hub) {
			for range 5 {
				h.report(nobody)
				h.sleep(time.Second)
			}
			h.expect("at the end", "unreachable", 1)
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { tc.run(newHub(t, tc.period, tc.cluster)) })
		})
	}
}

// A cluster that is created again under the same name has a grace period of its own, and the one that is gone is forgotten.
func TestB21ADeletedClusterIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGracePeriod(grace, clock.RealClock{})
		first := availableCluster(no)
		if wait := g.observe(first); wait != grace {
			t.Errorf("the first one waits %s", wait)
		}
		time.Sleep(3 * time.Second)
		second := availableCluster(no)
		second.UID = "2"
		if wait := g.observe(second); wait != grace {
			t.Errorf("the second one waits %s", wait)
		}

		r := &managedClusterTaintsReconciler{grace: g}
		if r.changes().Delete(event.DeleteEvent{Object: second}) || len(g.since) != 0 {
			t.Errorf("a deletion leaves %v", g.since)
		}
	})
}

// report is a report of an agent, after which some seconds pass.
type report struct {
	status  metav1.ConditionStatus
	seconds int
}

// Over random reports: a taint is there exactly if the condition has not been True for the period or longer, and each change of that is one
// write at that time.
func TestB21Property(t *testing.T) {
	property.Check(t, func(drawn *rapid.T) {
		period := time.Duration(rapid.IntRange(0, 5).Draw(drawn, "period")) * time.Second
		reports := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) report {
			return report{
				rapid.SampledFrom([]metav1.ConditionStatus{yes, no, nobody}).Draw(t, "status"), rapid.IntRange(0, 6).Draw(t, "seconds"),
			}
		}), 1, 12).Draw(drawn, "reports")

		synctest.Test(t, func(t *testing.T) {
			h := newHub(t, period, availableCluster(yes))
			var bad time.Time
			want, writes := "", 0
			for i, reported := range reports {
				switch {
				case reported.status == yes:
					bad = time.Time{}
				case bad.IsZero():
					bad = time.Now()
				}
				h.report(reported.status)
				for second := range reported.seconds + 1 {
					h.sleep(time.Duration(min(second, 1)) * time.Second)
					due := ""
					if !bad.IsZero() && time.Since(bad) >= period {
						due = shortKey(clustersets.AvailabilityTaint([]metav1.Condition{available(reported.status)}))
					}
					if due != want {
						want, writes = due, writes+1
					}
					h.expect(fmt.Sprintf("period %s, second %d of report %d of %v", period, second, i, reports), want, writes)
				}
			}
			if kept := h.r.grace.since; bad.IsZero() && len(kept) > 0 {
				t.Errorf("%v is remembered", kept)
			}
		})
	})
}
