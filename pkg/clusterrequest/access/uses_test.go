// SPDX-License-Identifier: Apache-2.0

package access

import (
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// newRequested returns an AccessRequest for a ClusterRequest with two Purposes that is not decided on, and the Purposes that its requester may use.
func newRequested(t *testing.T) (v *reviewed, usable map[string]bool) {
	t.Helper()
	access, cluster := sharedAccess()
	cluster.Spec.Tenancy = openmcpv1alpha1.TenancyExclusive
	access.Generation, access.UID, access.Finalizers = 1, "u", nil
	access.Spec.ClusterRef, access.Spec.RequestRef = nil, &openmcpv1alpha1.ObjectReference{Name: "r"}
	access.Status = openmcpv1alpha1.AccessRequestStatus{}
	name := metav1.ObjectMeta{Namespace: "team-a", Name: "r", UID: "r"}
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: name}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{"build", "test"}
	grant := &openmcpv1alpha1.ClusterRequestGrant{ObjectMeta: name}
	grant.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: openmcpv1alpha1.GroupVersion.String(), Kind: "ClusterRequest", Name: "r", UID: "r", Controller: ptr.To(true),
	}}
	grant.Spec.ClusterRef = openmcpv1alpha1.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}

	usable = map[string]bool{"build": true, "test": true}
	v = &reviewed{t: t, allowed: true, events: events.NewFakeRecorder(10)}
	v.reconciler, v.client = newReconciler(func(review *authorizationv1.SubjectAccessReview) error {
		v.asked++
		review.Status.Allowed = v.allowed
		if asked := review.Spec.ResourceAttributes; asked.Verb == "use" {
			review.Status.Allowed = usable[asked.Name] && asked.Resource == "purposes" && asked.Namespace == "team-a"
		}
		return v.err
	}, interceptor.Funcs{}, access, cluster, request, grant)
	v.clock = clocktesting.NewFakePassiveClock(start)
	v.reconciler.clock, v.rights.clock, v.reviews.clock, v.recorder = v.clock, v.clock, v.clock, v.events
	return v, usable
}

// get returns the AccessRequest.
func (r *reviewed) get() *openmcpv1alpha1.AccessRequest {
	r.t.Helper()
	access := &openmcpv1alpha1.AccessRequest{}
	if err := r.client.Get(r.t.Context(), accessAt, access); err != nil {
		r.t.Fatal(err)
	}
	return access
}

// docs/spec/trust.md T20: an access for a ClusterRequest ends when its requester may no longer use one of the Purposes.
func TestT20AnAccessEndsWithTheUseOfAPurpose(t *testing.T) {
	v, usable := newRequested(t)
	v.after(0)
	v.has(metav1.ConditionTrue, "a requester with all rights")
	if !meta.IsStatusConditionTrue(v.get().Status.Conditions, openmcpv1alpha1.ConditionPurposesUsable) {
		t.Fatalf("conditions %v", v.get().Status.Conditions)
	}
	v.after(clusterrequest.AccessReviewPeriod)
	v.has(metav1.ConditionTrue, "a review that says yes")

	usable["test"] = false
	if again := v.after(clusterrequest.AccessReviewPeriod); again != clusterrequest.AccessReviewGrace {
		t.Errorf("again after %s", again)
	}
	v.has(metav1.ConditionTrue, "the first refusal")
	v.after(clusterrequest.AccessReviewGrace)
	v.has(metav1.ConditionFalse, "the second refusal")
	const want = "ClusterRequest 'team-a/r' has Purpose 'test', and user 'alice' has no permission to use purposes of 'team-a/test'"
	if got := v.get().Status; got.Reason != openmcpv1alpha1.ReasonAccessNotAllowed || !strings.Contains(got.Message, want) {
		t.Errorf("status %s %q", got.Reason, got.Message)
	}
	usable["test"] = true
	for range 2 { // The provider has removed the access.
		v.after(time.Hour)
	}
	v.has(metav1.ConditionFalse, "a right that comes back")
}

// A colleague who may not use the Purposes of a ClusterRequest keeps the access to its Cluster.
func TestAnAccessThatNeededNoUseKeepsWithoutIt(t *testing.T) {
	v, usable := newRequested(t)
	delete(usable, "test")
	v.after(0)
	v.has(metav1.ConditionTrue, "a requester without the right to a Purpose")
	if !meta.IsStatusConditionFalse(v.get().Status.Conditions, openmcpv1alpha1.ConditionPurposesUsable) {
		t.Fatalf("conditions %v", v.get().Status.Conditions)
	}
	delete(usable, "build")
	for range 3 {
		v.after(clusterrequest.AccessReviewPeriod)
	}
	v.has(metav1.ConditionTrue, "rights that the access did not need")
	if len(v.events.Events) > 0 {
		t.Errorf("Event %s", <-v.events.Events)
	}
}

// What is recorded for an access from before the condition is what the requester may do at the next review. The status of the provider stays.
func TestTheUsesOfAnOlderAccessAreRecorded(t *testing.T) {
	v, usable := newRequested(t)
	v.after(0)
	access := v.get()
	given := access.DeepCopy()
	given.Status.Status, given.Status.Reason = openmcpv1alpha1.RequestGranted, "Given"
	meta.RemoveStatusCondition(&given.Status.Conditions, openmcpv1alpha1.ConditionPurposesUsable)
	if err := v.client.Status().Patch(t.Context(), given, client.MergeFrom(access)); err != nil {
		t.Fatal(err)
	}
	v.after(clusterrequest.AccessReviewPeriod)
	status := v.get().Status
	if !meta.IsStatusConditionTrue(status.Conditions, openmcpv1alpha1.ConditionPurposesUsable) || status.Status != openmcpv1alpha1.RequestGranted ||
		status.Reason != "Given" {
		t.Errorf("status %+v", status)
	}
	usable["build"] = false
	v.after(clusterrequest.AccessReviewPeriod)
	v.err = errAway
	if _, err := v.Reconcile(t.Context(), reconcile.Request{NamespacedName: accessAt}); err != nil {
		t.Log(err)
	}
	v.has(metav1.ConditionTrue, "a review that fails")
}
