// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// hastenedAfter is the shortest time between two reviews of an access, however often roles and bindings change.
const hastenedAfter = 30 * time.Second

// reviews records when the rights of each access that was given are due for a review, and when a review said no. It is safe for concurrent use; one
// worker at a time reconciles an AccessRequest.
type reviews struct {
	clock clock.PassiveClock

	mu sync.Mutex
	of map[types.NamespacedName]reviewState
}

type reviewState struct {
	uid types.UID
	// due is when the rights are reviewed next, and last when they were reviewed.
	due, last time.Time
	// refusedAt is when a review said no after the last one that said yes; zero for none.
	refusedAt time.Time
	// delayed is the generation whose refusal waits for the API server to learn of a change of roles; zero for none.
	delayed int64
}

func newReviews(c clock.PassiveClock) *reviews {
	return &reviews{clock: c, of: map[types.NamespacedName]reviewState{}}
}

// state returns the state of an AccessRequest. The first review of an access from before the start of the process is due after a delay that
// differs between AccessRequests. The lock is held.
func (r *reviews) state(access *openmcpv1alpha1.AccessRequest) reviewState {
	key := client.ObjectKeyFromObject(access)
	state, known := r.of[key]
	if !known || state.uid != access.UID {
		state = reviewState{uid: access.UID, due: r.clock.Now().Add(jitter(key))}
		r.of[key] = state
	}
	return state
}

// due reports whether the rights of an access are due for a review.
func (r *reviews) due(access *openmcpv1alpha1.AccessRequest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.clock.Now().Before(r.state(access).due)
}

// wait returns the time until the next review of an access.
func (r *reviews) wait(access *openmcpv1alpha1.AccessRequest) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.state(access).due.Sub(r.clock.Now()), time.Second)
}

// hasten makes an access due soon, because a role or a binding has changed, and returns after which time to reconcile its AccessRequest.
func (r *reviews) hasten(access *openmcpv1alpha1.AccessRequest) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, state := r.clock.Now(), r.state(access)
	soon := now.Add(rightsDelay)
	if next := state.last.Add(hastenedAfter); !state.last.IsZero() && next.After(soon) {
		soon = next
	}
	if soon.Before(state.due) && state.refusedAt.IsZero() { // A refusal has its own time.
		state.due = soon
		r.of[client.ObjectKeyFromObject(access)] = state
	}
	return max(state.due.Sub(now), rightsDelay)
}

// allowed takes note of a review that said yes.
func (r *reviews) allowed(access *openmcpv1alpha1.AccessRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	r.of[client.ObjectKeyFromObject(access)] = reviewState{uid: access.UID, last: now, due: now.Add(clusterrequest.AccessReviewPeriod)}
}

// refused takes note of a review that said no, and reports whether it is the second one in a row and the access ends.
func (r *reviews) refused(access *openmcpv1alpha1.AccessRequest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, state := r.clock.Now(), r.state(access)
	state.last = now
	if state.refusedAt.IsZero() {
		state.refusedAt = now
	}
	state.due = state.refusedAt.Add(clusterrequest.AccessReviewGrace)
	r.of[client.ObjectKeyFromObject(access)] = state
	return !now.Before(state.due)
}

// delay reports whether the first refusal of a generation waits, and lets it wait once.
func (r *reviews) delay(access *openmcpv1alpha1.AccessRequest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := r.state(access)
	if state.delayed == access.Generation {
		return false
	}
	state.delayed = access.Generation
	r.of[client.ObjectKeyFromObject(access)] = state
	return true
}

// forget drops an AccessRequest that does not exist any more.
func (r *reviews) forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, key)
}

// jitter returns a delay above zero and up to the period of reviews that is derived from the name of an AccessRequest.
func jitter(key types.NamespacedName) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(key.String())) // Write of a hash returns no error.
	return time.Duration(hash.Sum64()>>1)%clusterrequest.AccessReviewPeriod + 1
}

// review asks the API server for the rights of the requester of an AccessRequest, and returns the first one that the requester does not have; nil
// for none.
func (r *reconciler) review(
	ctx context.Context, access *openmcpv1alpha1.AccessRequest, rights []clusterrequest.AccessRight,
) (*clusterrequest.AccessRight, error) {
	for i := range rights {
		allowed, err := r.has(ctx, access, rights[i])
		if err != nil {
			return nil, err
		}
		if !allowed {
			return &rights[i], nil
		}
	}
	return nil, nil //nolint:nilnil // The requester has all rights.
}

// has reports whether the requester of an AccessRequest has a right.
func (r *reconciler) has(ctx context.Context, access *openmcpv1alpha1.AccessRequest, right clusterrequest.AccessRight) (bool, error) {
	if clusterrequest.AccessRequester(access) == "" {
		return false, nil
	}
	requester := access.Spec.Requester

	for _, attributes := range right.Attributes() {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: requester.Username, UID: requester.UID, Groups: requester.Groups, ResourceAttributes: attributes,
		}}
		for key, values := range requester.Extra {
			if review.Spec.Extra == nil {
				review.Spec.Extra = map[string]authorizationv1.ExtraValue{}
			}
			review.Spec.Extra[key] = values
		}
		if err := r.writer.Create(ctx, review); err != nil {
			return false, fmt.Errorf("review whether user %s may %s: %w", requester.Username, right, err)
		}
		if review.Status.Allowed {
			return true, nil
		}
	}
	return false, nil
}
