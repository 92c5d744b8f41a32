package clusterset

import (
	"context"
	"hash/fnv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
)

// reviewEvery is how often the API server is asked about the bindings that the cached RBAC grants. An authorizer beside RBAC can come to
// deny one, and no event tells of that.
const reviewEvery = 10 * time.Minute

// recurringReviews remembers when the bindings of each namespace are to be reviewed, and which of them were denied last. It is safe for
// concurrent use; a namespace is looked at by one worker at a time.
type recurringReviews struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	due    map[string]time.Time        // by namespace
	denied map[string]sets.Set[string] // by namespace: the sets of bindings that are there and denied
}

func newRecurringReviews(c clock.PassiveClock) *recurringReviews {
	return &recurringReviews{clock: c, due: map[string]time.Time{}, denied: map[string]sets.Set[string]{}}
}

// denials returns which of the sets that are bound the API server denies to the account of the namespace. All of them are asked for when that is
// due, and at any time those that were denied before. After an error nothing is denied, and the review stays due.
func (r *recurringReviews) denials(ctx context.Context, namespace string, bound sets.Set[string], asked *reviewCache) (sets.Set[string], error) {
	before, due := r.begin(namespace, bound)

	denied := sets.New[string]()

	for _, set := range sets.List(bound) {
		if !due && !before.Has(set) {
			continue
		}

		may, err := asked.mayBind(ctx, set)
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

// begin returns what was denied before, and whether all is to be asked for. What is seen for the first time, such as everything after a
// start, is due at a time of its own, so that the questions are spread.
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

// wait is the time until the bindings of a namespace are to be reviewed; zero means that there is nothing to review.
func (r *recurringReviews) wait(namespace string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()

	due, known := r.due[namespace]
	if !known {
		return 0
	}

	return max(due.Sub(r.clock.Now()), time.Second)
}

// forget drops a namespace that is gone.
func (r *recurringReviews) forget(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.drop(namespace)
}

func (r *recurringReviews) drop(namespace string) {
	delete(r.due, namespace)
	delete(r.denied, namespace)
}

// jitter is a time above zero and up to reviewEvery that differs between namespaces.
func jitter(namespace string) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(namespace)) // It never fails.

	return time.Duration(hash.Sum64()>>1)%reviewEvery + 1
}
