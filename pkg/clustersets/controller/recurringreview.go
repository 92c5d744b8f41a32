// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"hash/fnv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
)

// reviewEvery is the period in which the API server reviews the existing bindings that the cached RBAC grants. An authorizer beside RBAC
// may deny one later, and no event reports that.
const reviewEvery = 5 * time.Minute

// recurringReviews records when the bindings of each namespace are due for a review, and which of them were denied last. It is safe for
// concurrent use; one worker at a time reconciles a namespace.
type recurringReviews struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	due    map[string]time.Time        // by namespace
	denied map[string]sets.Set[string] // by namespace: the denied sets of existing bindings
}

func newRecurringReviews(c clock.PassiveClock) *recurringReviews {
	return &recurringReviews{clock: c, due: map[string]time.Time{}, denied: map[string]sets.Set[string]{}}
}

// denials returns the bound sets that the API server denies the ServiceAccount of the namespace. It reviews all of them when they are due,
// and otherwise only those that were denied before. After an error it denies nothing, and the review stays due.
func (r *recurringReviews) denials(ctx context.Context, namespace string, bound sets.Set[string], reviews *reviewCache) (sets.Set[string], error) {
	before, due := r.begin(namespace, bound)

	denied := sets.New[string]()
	for _, set := range sets.List(bound) {
		if !due && !before.Has(set) {
			continue
		}
		may, err := reviews.mayBind(ctx, set)
		if err != nil {
			return nil, err
		}
		if !may {
			denied.Insert(set)
		}
	}

	r.end(namespace, denied, due)
	return denied, nil
}

// begin returns the sets that were denied before, and whether all sets are due. The first review of a namespace is due after a delay that
// differs between namespaces, so that the reviews are spread after a start.
func (r *recurringReviews) begin(namespace string, bound sets.Set[string]) (denied sets.Set[string], due bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(bound) == 0 {
		r.drop(namespace)
		return nil, false
	}
	now := r.clock.Now()
	if _, known := r.due[namespace]; !known {
		r.due[namespace] = now.Add(jitter(namespace))
	}
	return r.denied[namespace], !now.Before(r.due[namespace])
}

func (r *recurringReviews) end(namespace string, denied sets.Set[string], reviewed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.denied, namespace)
	if len(denied) > 0 {
		r.denied[namespace] = denied
	}
	if reviewed {
		r.due[namespace] = r.clock.Now().Add(reviewEvery)
	}
}

// wait returns the time until the next review of a namespace; zero means that it has nothing to review.
func (r *recurringReviews) wait(namespace string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	due, known := r.due[namespace]
	if !known {
		return 0
	}
	return max(due.Sub(r.clock.Now()), time.Second)
}

// forget drops a namespace that does not exist any more.
func (r *recurringReviews) forget(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(namespace)
}

func (r *recurringReviews) drop(namespace string) {
	delete(r.due, namespace)
	delete(r.denied, namespace)
}

// jitter returns a delay above zero and up to reviewEvery that is derived from the name of the namespace.
func jitter(namespace string) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(namespace)) // Write of a hash returns no error.
	return time.Duration(hash.Sum64()>>1)%reviewEvery + 1
}
