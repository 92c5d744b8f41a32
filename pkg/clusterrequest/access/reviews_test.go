// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// reviewed is a reconciler whose reviews and time a test decides about, and an AccessRequest on a shared Cluster.
type reviewed struct {
	*reconciler
	t *testing.T

	client client.Client
	clock  *clocktesting.FakePassiveClock
	events *events.FakeRecorder

	allowed        bool
	err            error
	asked, written int
}

// newReviewed returns an AccessRequest that is granted, and was reviewed by this process, unless change says otherwise.
func newReviewed(t *testing.T, change func(*openmcpv1alpha1.AccessRequest)) *reviewed {
	t.Helper()
	access, cluster := sharedAccess()
	access.Generation, access.UID = 1, "u"
	access.Labels = map[string]string{openmcpv1alpha1.ProviderLabel: "gardener", openmcpv1alpha1.ProfileLabel: "aws"}
	access.Status.Status, access.Status.SecretRef = openmcpv1alpha1.RequestGranted, &openmcpv1alpha1.ObjectName{Name: "s"}
	change(access)

	v := &reviewed{t: t, allowed: true, events: events.NewFakeRecorder(10)}
	count := interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			v.written++
			return c.Patch(ctx, object, patch, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption,
		) error {
			v.written++
			return c.SubResource(name).Patch(ctx, object, patch, options...)
		},
	}
	v.reconciler, v.client = newReconciler(func(review *authorizationv1.SubjectAccessReview) error {
		v.asked++
		review.Status.Allowed = v.allowed
		return v.err
	}, count, access, cluster)
	v.clock = clocktesting.NewFakePassiveClock(start)
	v.reconciler.clock, v.rights.clock, v.reviews.clock, v.recorder = v.clock, v.clock, v.clock, v.events
	v.reviews.allowed(access)
	return v
}

// after moves the time and reconciles. It returns when the AccessRequest is reconciled again.
func (r *reviewed) after(d time.Duration) time.Duration {
	r.t.Helper()
	r.clock.SetTime(r.clock.Now().Add(d))
	result, err := r.Reconcile(r.t.Context(), reconcile.Request{NamespacedName: accessAt})
	if err != nil && r.err == nil {
		r.t.Fatal(err)
	}
	return result.RequeueAfter
}

// has demands that the condition Resolved has a status.
func (r *reviewed) has(want metav1.ConditionStatus, reason string) {
	r.t.Helper()
	if got := resolved(r.t, r.client); got != want {
		r.t.Errorf("%s: Resolved is %s, want %s", reason, got, want)
	}
}

func asItIs(*openmcpv1alpha1.AccessRequest) {}

// docs/spec/trust.md R8: an access lasts as long as the right that it was given for, and ends after two reviews in a row that say no, a minute
// apart at least.
func TestAnAccessEndsWithItsRight(t *testing.T) {
	v := newReviewed(t, asItIs)
	if again := v.after(clusterrequest.AccessReviewPeriod - time.Second); v.asked != 0 || again != time.Second {
		t.Errorf("%d reviews before the period is over, again after %s", v.asked, again)
	}
	if again := v.after(time.Second); v.asked != 1 || again != clusterrequest.AccessReviewPeriod || v.written > 0 {
		t.Errorf("law 4: %d reviews, %d writes, again after %s", v.asked, v.written, again)
	}

	v.allowed = false
	if again := v.after(clusterrequest.AccessReviewPeriod); again != clusterrequest.AccessReviewGrace {
		t.Errorf("again after %s", again)
	}
	v.after(clusterrequest.AccessReviewGrace - time.Second)
	v.has(metav1.ConditionTrue, "before the second refusal")
	v.allowed = true
	v.after(time.Second)
	v.allowed = false
	v.after(clusterrequest.AccessReviewPeriod)
	v.has(metav1.ConditionTrue, "a yes between two refusals")

	v.err = errAway
	v.after(time.Hour)
	v.has(metav1.ConditionTrue, "law 6: a review that fails")
	v.err = nil
	v.after(time.Second)
	v.has(metav1.ConditionFalse, "the second refusal")
	want := "Warning AccessRemoved Cluster 'team-a/c' is shared, and user 'alice' has no permission to create clusters/access of 'team-a/c': " +
		"ask for it, and then change the spec or create another AccessRequest: the access is removed"
	if len(v.events.Events) != 1 {
		t.Fatalf("%d Events, want 1", len(v.events.Events))
	}
	if got := <-v.events.Events; got != want {
		t.Errorf("Event %q, want %q", got, want)
	}
}

// The right is not asked for once more when the access was taken away, or was never given: until the spec changes.
func TestARefusalIsFinal(t *testing.T) {
	refused := func(a *openmcpv1alpha1.AccessRequest) {
		a.Finalizers, a.Labels, a.Status = nil, nil, openmcpv1alpha1.AccessRequestStatus{}
		a.Generation = 1
	}
	v := newReviewed(t, refused)
	v.allowed = false
	v.after(0)
	v.has(metav1.ConditionFalse, "a refusal")
	asked, written := v.asked, v.written
	v.allowed = true
	v.rights.note("team-a") // A binding that is there for three seconds.
	if again := v.after(time.Second); again != 0 {
		t.Errorf("again after %s", again)
	}
	v.after(time.Hour)
	v.has(metav1.ConditionFalse, "T20: a right that comes later")
	if v.asked != asked || v.written != written {
		t.Errorf("%d reviews and %d writes after the refusal", v.asked-asked, v.written-written)
	}

	access := &openmcpv1alpha1.AccessRequest{}
	if err := v.client.Get(t.Context(), accessAt, access); err != nil {
		t.Fatal(err)
	}
	access.Generation++ // As the API server does when the spec changes.
	if err := v.client.Update(t.Context(), access); err != nil {
		t.Fatal(err)
	}
	v.after(time.Second)
	v.has(metav1.ConditionTrue, "another spec")
}

// The API server may not know a role yet that was written just before the AccessRequest: such a refusal is asked for twice before it is written.
func TestARefusalBesideAChangeWaits(t *testing.T) {
	for _, tc := range []struct {
		reason    string
		namespace string
		before    time.Duration
		waits     bool
	}{
		{"U11: a role of the whole hub", "", rightsDelay - time.Millisecond, true},
		{"U11: a role in the namespace of the Cluster", "team-a", 0, true},
		{"U11: a change of long ago", "", rightsDelay, false},
		{"law 11: a role in the namespace of somebody else", "team-b", 0, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			v := newReviewed(t, func(a *openmcpv1alpha1.AccessRequest) {
				a.Finalizers, a.Labels, a.Status = nil, nil, openmcpv1alpha1.AccessRequestStatus{}
			})
			v.allowed = false
			v.rights.note(tc.namespace)
			again := v.after(tc.before)
			if got := v.written == 0 && again == rightsDelay; got != tc.waits {
				t.Errorf("%d writes, again after %s", v.written, again)
			}
			v.rights.note(tc.namespace) // Changes that do not end let it wait once.
			v.after(time.Second)
			v.has(metav1.ConditionFalse, "the second refusal")
		})
	}
}

// A tenant who writes a label keeps no access by it.
func TestALabelHoldsNoAccess(t *testing.T) {
	v := newReviewed(t, func(a *openmcpv1alpha1.AccessRequest) {
		a.Labels[openmcpv1alpha1.ProfileLabel] = "other"
		a.Status.Conditions[0].Status, a.Status.Conditions[0].Reason = metav1.ConditionUnknown, openmcpv1alpha1.ReasonLabelConflict
	})
	v.after(time.Second)
	v.has(metav1.ConditionUnknown, "a label of a user")
	v.allowed = false
	v.after(clusterrequest.AccessReviewPeriod)
	v.has(metav1.ConditionUnknown, "before the second refusal")
	v.after(clusterrequest.AccessReviewGrace)
	v.has(metav1.ConditionFalse, "the second refusal")
}

// Changes of roles hasten reviews, and do not make them more than two in a minute.
func TestChangesOfRolesHastenReviews(t *testing.T) {
	v := newReviewed(t, asItIs)
	access := &openmcpv1alpha1.AccessRequest{}
	if err := v.client.Get(t.Context(), accessAt, access); err != nil {
		t.Fatal(err)
	}
	if got := v.reviews.hasten(access); got != hastenedAfter {
		t.Errorf("a review right before the change: again after %s, want %s", got, hastenedAfter)
	}
	v.clock.SetTime(start.Add(time.Minute))
	v.reviews.allowed(access)
	v.clock.SetTime(start.Add(3 * time.Minute))
	if got := v.reviews.hasten(access); got != rightsDelay {
		t.Errorf("a review long before the change: again after %s, want %s", got, rightsDelay)
	}
	if again := v.after(rightsDelay); v.asked != 1 || again != clusterrequest.AccessReviewPeriod {
		t.Errorf("%d reviews, again after %s", v.asked, again)
	}
}

// After a start, an access is reviewed within the period, and not all accesses at once.
func TestReviewsAreSpreadAfterAStart(t *testing.T) {
	v := newReviewed(t, asItIs)
	v.reconciler.reviews = newReviews(v.clock)
	again := v.after(0)
	if v.asked != 0 || again <= 0 || again > clusterrequest.AccessReviewPeriod {
		t.Errorf("%d reviews, again after %s", v.asked, again)
	}
	v.after(again)
	if v.asked != 1 {
		t.Errorf("%d reviews", v.asked)
	}
}
