// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// look has the sweeper look at the cluster of cluster once, and returns the AccessRequests that it found something of.
func (w *world) look() ([]types.NamespacedName, reconcile.Result) {
	w.t.Helper()
	s := &sweeper{reconciler: w.reconciler, found: make(chan event.TypedGenericEvent[client.Object], 10)}
	result, err := s.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(cluster(gardener))})
	if err != nil {
		w.t.Fatal(err)
	}
	close(s.found)
	var found []types.NamespacedName
	for e := range s.found {
		found = append(found, client.ObjectKeyFromObject(e.Object))
	}
	return found, result
}

// strip takes the finalizers off the AccessRequest and deletes it, as a user with a right of cluster-admin can.
func (w *world) strip() {
	w.t.Helper()
	w.change(func(a *openmcpv1alpha1.AccessRequest) { a.Finalizers = nil })
	if err := w.hub.Delete(w.t.Context(), w.access()); err != nil {
		w.t.Fatal(err)
	}
}

func TestWhatIsLeftIsSwept(t *testing.T) {
	// again creates an AccessRequest of the same name.
	again := func(change func(*openmcpv1alpha1.AccessRequest)) func(*world) {
		return func(w *world) {
			w.strip()
			next := resolvedAccess()
			next.UID, next.Labels = "another", map[string]string{}
			change(next)
			if err := w.hub.Create(w.t.Context(), next); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		reason string
		change func(*world)
		left   bool
	}{
		{"T19: the AccessRequest is gone without its finalizer", (*world).strip, false},
		{"T19: another one of the name waits for ever", again(func(a *openmcpv1alpha1.AccessRequest) {
			a.Status = openmcpv1alpha1.AccessRequestStatus{}
		}), false},
		{"T19: another one of the name is to another Cluster", again(func(a *openmcpv1alpha1.AccessRequest) {
			a.Status.ClusterRef.Name = "other"
		}), false},
		{"law 4: it has its access", func(*world) {}, true},
		{"cluster-request C42: its status is lost", func(w *world) {
			w.change(func(a *openmcpv1alpha1.AccessRequest) { a.Status = openmcpv1alpha1.AccessRequestStatus{} })
		}, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t, resolvedAccess(), cluster(gardener))
			w.mustReconcile()
			tc.change(w)

			found, result := w.look()
			if result.RequeueAfter != sweepInterval || len(found) > 0 == tc.left {
				t.Errorf("found %v, again after %s", found, result.RequeueAfter)
			}
			w.mustReconcile()
			if left := w.onMember(); len(left) > 0 != tc.left {
				t.Errorf("on the cluster: %v", left)
			}
			w.look()
			if writes, _ := w.mustReconcile(); len(writes) > 0 {
				t.Errorf("law 4: a settled cluster has %v", writes)
			}
		})
	}
}

// The access of an AccessRequest that takes the place of one that went is given before anything is looked for, and stays.
func TestAnotherAccessRequestTakesOver(t *testing.T) {
	w := newWorld(t, resolvedAccess(), cluster(gardener))
	w.mustReconcile()
	if err := w.hub.Delete(t.Context(), w.kubeconfigSecret()); err != nil { // As the garbage collector does.
		t.Fatal(err)
	}
	w.strip()
	next := resolvedAccess()
	next.UID = "another"
	if err := w.hub.Create(t.Context(), next); err != nil {
		t.Fatal(err)
	}

	w.mustReconcile()
	given := w.onMember()
	if found, _ := w.look(); len(found) > 0 || len(given) == 0 {
		t.Errorf("found %v of %v", found, given)
	}
}

// A read that fails removes nothing, and what was found is removed later.
func TestASweepThatFailsRemovesNothing(t *testing.T) {
	notServed := apierrors.NewNotFound(openmcpv1alpha1.GroupVersion.WithResource("accessrequests").GroupResource(), "")
	for _, tc := range []struct {
		reason string
		fail   func(*world)
		mend   func(*world)
	}{
		{"law 6: the API server does not serve AccessRequests", func(w *world) { w.clusters = failing{w.hub, notServed} },
			func(w *world) { w.clusters = w.hub }},
		{"law 6: the cluster is away", func(w *world) { w.admin = errAway }, func(w *world) { w.admin = nil }},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t, resolvedAccess(), cluster(gardener))
			w.mustReconcile()
			w.strip()
			w.look()
			tc.fail(w)
			_, result, err := w.reconcileOnce()
			if err == nil && result.RequeueAfter == 0 || len(w.onMember()) == 0 {
				t.Errorf("error %v, again after %s, on the cluster: %v", err, result.RequeueAfter, w.onMember())
			}
			tc.mend(w)
			w.mustReconcile()
			if left := w.onMember(); len(left) > 0 {
				t.Errorf("on the cluster: %v", left)
			}
		})
	}
	t.Run("law 6: a cluster that does not answer is looked at again soon", func(t *testing.T) {
		w := newWorld(t, cluster(gardener))
		w.admin = errAway
		if found, result := w.look(); len(found) > 0 || result.RequeueAfter != sweepRetry {
			t.Errorf("found %v, again after %s", found, result.RequeueAfter)
		}
	})
}

// The sweep does not touch objects of other hubs, objects of other providers, and objects without marks.
func TestASweepLeavesTheObjectsOfOthers(t *testing.T) {
	w := newWorld(t, cluster(gardener))
	request := resolvedAccess()
	for name, access := range map[string]*clusterrequest.Access{
		"hub": clusterrequest.NewAccess("other", gardener, request), "provider": clusterrequest.NewAccess("test", "other", request),
	} {
		if err := w.member.Create(t.Context(), &access.Account); err != nil {
			t.Fatal(name, err)
		}
	}
	foreign := clusterrequest.NewAccess("test", gardener, request).Account
	foreign.Labels[openmcpv1alpha1.AccessIDLabel], foreign.Name = strings.Repeat("0", 16), "foreign"
	if err := w.member.Create(t.Context(), &foreign); err != nil {
		t.Fatal(err)
	}
	if found, _ := w.look(); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}

// failing is a reader whose lists fail.
type failing struct {
	client.Reader

	err error
}

// List returns the error.
func (f failing) List(context.Context, client.ObjectList, ...client.ListOption) error { return f.err }
