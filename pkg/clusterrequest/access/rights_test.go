// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
)

// recordedQueue records what is added to it.
type recordedQueue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	after map[string]time.Duration
}

func (q *recordedQueue) AddAfter(key reconcile.Request, after time.Duration) {
	q.after[key.String()] = after
}

// accessTo returns an AccessRequest to a Cluster with an outcome.
func accessTo(name, cluster string, status openmcpv1alpha1.RequestPhase, reason string) *openmcpv1alpha1.AccessRequest {
	access := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}}
	access.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Namespace: cluster, Name: "c"}
	access.Status.Status, access.Status.Reason = status, reason
	return access
}

// refusedByRequest returns an AccessRequest that was refused, by a ClusterRequest whose Cluster is in the namespace "shared".
func refusedByRequest() []client.Object {
	access := accessTo("by-request", "", openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonAccessNotAllowed)
	access.Spec.ClusterRef, access.Spec.RequestRef = nil, &openmcpv1alpha1.ObjectReference{Name: "r"}
	name := metav1.ObjectMeta{Namespace: "team-a", Name: "r", UID: "u"}
	grant := &openmcpv1alpha1.ClusterRequestGrant{ObjectMeta: *name.DeepCopy()}
	grant.UID, grant.OwnerReferences = "g", []metav1.OwnerReference{{
		APIVersion: openmcpv1alpha1.GroupVersion.String(), Kind: "ClusterRequest", Name: "r", UID: "u", Controller: ptr.To(true),
	}}
	grant.Spec.ClusterRef = openmcpv1alpha1.NamespacedName{Namespace: "shared", Name: "c"}
	return []client.Object{access, grant, &openmcpv1alpha1.ClusterRequest{ObjectMeta: name}}
}

// role returns the metadata of a role or binding, as the cache has it.
func role(namespace, version string) client.Object {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "x", ResourceVersion: version}}
}

func TestRefusedAreReviewedAgainWhenRightsChange(t *testing.T) {
	const denied, notAllowed = openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonAccessNotAllowed

	objects := append(refusedByRequest(),
		accessTo("here", "team-a", denied, notAllowed), accessTo("shared", "shared", denied, notAllowed),
		accessTo("granted", "shared", openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess),
		accessTo("role-exists", "shared", denied, openmcpv1alpha1.ReasonRoleExists),
		accessTo("pending", "shared", openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonInvalidReference),
	)
	c := fake.NewClientBuilder().WithScheme(scheme.Known()).WithObjects(objects...).
		WithIndex(&openmcpv1alpha1.AccessRequest{}, refusedIndex, func(object client.Object) []string {
			access, _ := object.(*openmcpv1alpha1.AccessRequest)
			return refusedKeys(access)
		}).Build()
	handler := rightsChanges(c, newRecentRights(clocktesting.NewFakePassiveClock(start)))
	for _, tc := range []struct {
		reason string
		change func(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request])
		want   []string
	}{
		{"U11: a role of the whole hub is created", func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler.Create(ctx, event.CreateEvent{Object: role("", "1")}, q)
		}, []string{"team-a/by-request", "team-a/here", "team-a/shared"}},
		{"U11: a role in the namespace of Clusters changes", func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler.Update(ctx, event.UpdateEvent{ObjectOld: role("shared", "1"), ObjectNew: role("shared", "2")}, q)
		}, []string{"team-a/by-request", "team-a/shared"}},
		{"law 11: the roles of a tenant concern nobody else", func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler.Create(ctx, event.CreateEvent{Object: role("team-b", "1")}, q)
		}, nil},
		{"law 4: the initial list", func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler.Create(ctx, event.CreateEvent{Object: role("", "1"), IsInInitialList: true}, q)
		}, nil},
		{"law 4: the same version again", func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler.Update(ctx, event.UpdateEvent{ObjectOld: role("", "1"), ObjectNew: role("", "1")}, q)
		}, nil},
		{"U11: RBAC only grants", func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler.Delete(ctx, event.DeleteEvent{Object: role("", "1")}, q)
		}, nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			q := &recordedQueue{after: map[string]time.Duration{}}
			tc.change(t.Context(), q)
			var got []string
			for key, after := range q.after {
				got = append(got, key)
				if after != rightsDelay {
					t.Errorf("%s is reviewed after %s", key, after)
				}
			}
			slices.Sort(got)

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A no that stays is no write, however often roles change, and a yes resolves the AccessRequest.
func TestANoThatStaysWritesNothing(t *testing.T) {
	access, cluster := sharedAccess()
	access.Finalizers, access.Status = nil, openmcpv1alpha1.AccessRequestStatus{}

	allowed, writes := false, 0
	review := func(asked *authorizationv1.SubjectAccessReview) error {
		asked.Status.Allowed = allowed
		return nil
	}
	count := interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			writes++
			return c.Patch(ctx, object, patch, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption,
		) error {
			writes++
			return c.SubResource(name).Patch(ctx, object, patch, options...)
		},
	}
	r, c := newReconciler(review, count, access, cluster)

	reconcileOnce := func() {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: accessAt}); err != nil {
			t.Fatal(err)
		}
	}
	reconcileOnce()
	first := writes
	reconcileOnce()

	if writes != first {
		t.Errorf("U11: %d writes for a no that stays", writes-first)
	}
	refusal := &openmcpv1alpha1.AccessRequest{}
	if err := c.Get(t.Context(), accessAt, refusal); err != nil || !slices.Equal(refusedKeys(refusal), []string{refused}) {
		t.Errorf("the index does not find %+v, %v", refusal.Status, err)
	}
	allowed = true
	reconcileOnce()

	if got := resolved(t, c); got != metav1.ConditionTrue {
		t.Errorf("U11: Resolved is %s after the requester got the right", got)
	}
}

// A right may come between the review and the moment at which the refusal is in the cache, and the API server may know it late.
func TestARefusalBesideAChangeIsReviewedAgain(t *testing.T) {
	for _, tc := range []struct {
		reason    string
		namespace string
		before    time.Duration
		want      time.Duration
	}{
		{"U11: a role of the whole hub", "", rightsDelay - time.Millisecond, rightsDelay},
		{"U11: a role in the namespace of the Cluster", "team-a", 0, rightsDelay},
		{"U11: a change of long ago", "", rightsDelay, reviewPeriod},
		{"law 11: a role in the namespace of somebody else", "team-b", 0, reviewPeriod},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			access, cluster := sharedAccess()
			access.Finalizers, access.Status = nil, openmcpv1alpha1.AccessRequestStatus{}
			r, _ := newReconciler(says(false), interceptor.Funcs{}, access, cluster)

			clock := clocktesting.NewFakePassiveClock(start.Add(-tc.before))
			r.rights.clock = clock
			r.rights.note(tc.namespace)
			clock.SetTime(start)
			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: accessAt})
			if err != nil || result.RequeueAfter != tc.want {
				t.Errorf("reviewed again after %s, %v, want %s", result.RequeueAfter, err, tc.want)
			}
			clock.SetTime(start.Add(rightsDelay))
			r.rights.note("other")

			if len(r.rights.changed) != 1 {
				t.Errorf("trust 1.5: old changes are kept: %v", r.rights.changed)
			}
		})
	}
}
