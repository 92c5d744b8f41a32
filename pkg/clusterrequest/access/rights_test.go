// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
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

// accessTo returns an AccessRequest to a Cluster of a namespace, which it has access to.
func accessTo(name, namespace string) *openmcpv1alpha1.AccessRequest {
	access := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}}
	access.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Namespace: namespace, Name: "c"}
	access.Status.ClusterRef = &openmcpv1alpha1.NamespacedName{Namespace: namespace, Name: "c"}
	return access
}

// role returns the metadata of a role or binding, as the cache has it.
func role(namespace, version string) client.Object {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "x", ResourceVersion: version}}
}

func TestAccessIsReviewedAgainWhenRightsChange(t *testing.T) {
	byRequest, none := accessTo("by-request", "shared"), accessTo("none", "shared")
	byRequest.Spec.ClusterRef, byRequest.Spec.RequestRef = nil, &openmcpv1alpha1.ObjectReference{Name: "r"}
	none.Status.ClusterRef = nil
	c := fake.NewClientBuilder().WithScheme(scheme.Known()).WithObjects(byRequest, none, accessTo("here", ""), accessTo("there", "shared")).
		WithIndex(&openmcpv1alpha1.AccessRequest{}, rightsIndex, func(object client.Object) []string {
			access, _ := object.(*openmcpv1alpha1.AccessRequest)
			return rightsKeys(access)
		}).Build()
	clock := clocktesting.NewFakePassiveClock(start)
	handler := func(clock *clocktesting.FakePassiveClock) handler.EventHandler {
		return rightsChanges(c, newRecentRights(clock), newReviews(clock))
	}
	all := []string{"team-a/by-request", "team-a/here", "team-a/there"}
	for _, tc := range []struct {
		reason string
		change func(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request])
		want   []string
	}{
		{"R8: a role of the whole hub is created", func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler(clock).Create(ctx, event.CreateEvent{Object: role("", "1")}, q)
		}, all},
		{"R8: a binding of the whole hub is deleted", func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler(clock).Delete(ctx, event.DeleteEvent{Object: role("", "1")}, q)
		}, all},
		{"R8: a role in the namespace of Clusters changes", func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler(clock).Update(ctx, event.UpdateEvent{ObjectOld: role("shared", "1"), ObjectNew: role("shared", "2")}, q)
		}, []string{"team-a/by-request", "team-a/there"}},
		{"R8: a binding in the namespace of AccessRequests is deleted", func(
			ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request],
		) {
			handler(clock).Delete(ctx, event.DeleteEvent{Object: role("team-a", "1")}, q)
		}, all},
		{"law 11: the roles of a tenant concern nobody else", func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler(clock).Create(ctx, event.CreateEvent{Object: role("team-b", "1")}, q)
		}, nil},
		{"law 4: the initial list", func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler(clock).Create(ctx, event.CreateEvent{Object: role("", "1"), IsInInitialList: true}, q)
		}, nil},
		{"law 4: the same version again", func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler(clock).Update(ctx, event.UpdateEvent{ObjectOld: role("", "1"), ObjectNew: role("", "1")}, q)
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
