// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

var (
	start    = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	errAway  = errors.New("the API server is away")
	accessAt = client.ObjectKey{Namespace: "team-a", Name: "reader"}
)

// sharedAccess returns an AccessRequest that was granted on a shared Cluster for its former generation, and that Cluster.
func sharedAccess() (*openmcpv1alpha1.AccessRequest, *openmcpv1alpha1.Cluster) {
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "c"}}
	cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
	cluster.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws"}

	access := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: accessAt.Namespace, Name: accessAt.Name, Generation: 2, CreationTimestamp: metav1.NewTime(start),
		Finalizers: []string{openmcpv1alpha1.AccessFinalizer},
	}}
	access.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Name: cluster.Name}
	access.Spec.Requester = &openmcpv1alpha1.Requester{Username: "alice"}
	access.Status.ClusterRef = &openmcpv1alpha1.NamespacedName{Namespace: "team-a", Name: "c"}
	access.Status.Conditions = []metav1.Condition{{
		Type: openmcpv1alpha1.ConditionResolved, Status: metav1.ConditionTrue, Reason: openmcpv1alpha1.ReasonAccessAllowed, ObservedGeneration: 1,
	}}
	return access, cluster
}

// newReconciler returns a reconciler over objects and the client, which responds to reviews as review says.
func newReconciler(review func(*authorizationv1.SubjectAccessReview) error, functions interceptor.Funcs, objects ...client.Object) (
	*reconciler, client.Client,
) {
	functions.Create = func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
		if asked, isReview := object.(*authorizationv1.SubjectAccessReview); isReview {
			return review(asked)
		}
		return c.Create(ctx, object, options...)
	}
	gardener := &openmcpv1alpha1.ClusterProvider{
		ObjectMeta: metav1.ObjectMeta{Name: "gardener"}, Spec: openmcpv1alpha1.ClusterProviderSpec{Access: true},
	}
	objects = append(objects, gardener)
	c := fake.NewClientBuilder().WithScheme(scheme.Known()).WithObjects(objects...).
		WithStatusSubresource(&openmcpv1alpha1.AccessRequest{}).WithInterceptorFuncs(functions).Build()

	clock := clocktesting.NewFakePassiveClock(start)
	return &reconciler{
		cached: c, live: c, writer: c, recorder: events.NewFakeRecorder(1), clock: clock, rights: newRecentRights(clock), reviews: newReviews(clock),
		conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}, c
}

func says(allowed bool) func(*authorizationv1.SubjectAccessReview) error {
	return func(review *authorizationv1.SubjectAccessReview) error {
		review.Status.Allowed = allowed
		return nil
	}
}

// resolved returns the status of the condition Resolved.
func resolved(t *testing.T, c client.Client) metav1.ConditionStatus {
	t.Helper()
	access := &openmcpv1alpha1.AccessRequest{}
	if err := c.Get(t.Context(), accessAt, access); err != nil {
		t.Fatal(err)
	}
	return meta.FindStatusCondition(access.Status.Conditions, openmcpv1alpha1.ConditionResolved).Status
}

func TestReviewIsAskedForAgain(t *testing.T) {
	for _, tc := range []struct {
		name    string
		allowed bool
		ttl     time.Duration
		want    time.Duration
	}{
		{"cluster-request C40: a no is final", false, 0, 0},
		{"cluster-request C34: the ttl of one that was refused", false, time.Minute, time.Minute},
		{"R8: every 5 minutes after a yes", true, 0, 5 * time.Minute},
		{"cluster-request C34: the ttl is over before that", true, time.Minute, time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			access, cluster := sharedAccess()
			if tc.ttl > 0 {
				access.Spec.TTL = &metav1.Duration{Duration: tc.ttl}
			}
			r, c := newReconciler(says(tc.allowed), interceptor.Funcs{}, access, cluster)

			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: accessAt})
			if err != nil || result.RequeueAfter != tc.want {
				t.Errorf("after %s, %v, want %s", result.RequeueAfter, err, tc.want)
			}
			if got := resolved(t, c); (got == metav1.ConditionTrue) != tc.allowed {
				t.Errorf("Resolved is %s", got)
			}
		})
	}
}

func TestFailureTakesNoAccessAway(t *testing.T) {
	for _, tc := range []struct {
		name   string
		review func(*authorizationv1.SubjectAccessReview) error
		read   error
	}{
		{"cluster-request 4.1.6: a review that fails", func(*authorizationv1.SubjectAccessReview) error { return errAway }, nil},
		{"cluster-request 4.1.6: a read that fails", says(false), errAway},
	} {
		t.Run(tc.name, func(t *testing.T) {
			access, cluster := sharedAccess()
			functions := interceptor.Funcs{Get: func(
				ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption,
			) error {
				if _, isCluster := object.(*openmcpv1alpha1.Cluster); isCluster && tc.read != nil {
					return tc.read
				}
				return c.Get(ctx, key, object, options...)
			}}
			r, c := newReconciler(tc.review, functions, access, cluster)

			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: accessAt}); !errors.Is(err, errAway) {
				t.Errorf("got %v", err)
			}
			if got := resolved(t, c); got != metav1.ConditionTrue {
				t.Errorf("Resolved is %s", got)
			}
		})
	}
}

// Admission knows the provider of an AccessRequest by its label, which users can remove: the AccessRequest could not go.
func TestTheLabelOfADeletedAccessRequestIsRestored(t *testing.T) {
	for _, tc := range []struct {
		name   string
		labels map[string]string
		want   string
	}{
		{"R7: a user has removed it", nil, "gardener"},
		{"cluster-request C43: a user has set it otherwise", map[string]string{openmcpv1alpha1.ProviderLabel: "other"}, "other"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			access, cluster := sharedAccess()
			access.Labels, access.DeletionTimestamp = tc.labels, &metav1.Time{Time: start}
			r, c := newReconciler(says(true), interceptor.Funcs{}, access, cluster)
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: accessAt}); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), accessAt, access); err != nil || access.Labels[openmcpv1alpha1.ProviderLabel] != tc.want {
				t.Errorf("labels %v, %v", access.Labels, err)
			}
		})
	}
}
