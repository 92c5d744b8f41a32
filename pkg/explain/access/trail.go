// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Trail has the reviews on which a result is based, with their decisions. It is safe for concurrent use.
type Trail struct {
	mu      sync.Mutex
	decided map[string]decided
}

// decided is a review with its decision.
type decided struct {
	asked    authorizer.AttributesRecord
	decision authorizer.Decision
}

// trailKey is the key of a Trail in a context.
type trailKey struct{}

// WithTrail returns a context with a Trail, to which the functions of this package add what they ask.
func WithTrail(ctx context.Context) (context.Context, *Trail) {
	trail := &Trail{decided: map[string]decided{}}
	return context.WithValue(ctx, trailKey{}, trail), trail
}

// Holds reports whether each review of the Trail is decided as it was: what the user was shown is what the user may still see, and more is not to be
// seen. An error means that it is not known.
func (t *Trail) Holds(ctx context.Context, authority Authorizer) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, each := range t.decided {
		decision, _, err := authority.Authorize(ctx, each.asked)
		if err != nil {
			return false, fmt.Errorf("asking the API server for rights again: %w", err)
		}
		if (decision == authorizer.DecisionAllow) != (each.decision == authorizer.DecisionAllow) {
			return false, nil
		}
	}
	return true, nil
}

// ask asks an authority, and adds the review to the Trail of the context.
func ask(ctx context.Context, authority Authorizer, asked authorizer.AttributesRecord) (authorizer.Decision, error) {
	decision, _, err := authority.Authorize(ctx, asked)
	if trail, has := ctx.Value(trailKey{}).(*Trail); has && err == nil {
		key := fmt.Sprintf("%s %s/%s/%s %s/%s", asked.Verb, asked.APIGroup, asked.Resource, asked.Subresource, asked.Namespace, asked.Name)
		trail.mu.Lock()
		trail.decided[key] = decided{asked: asked, decision: decision}
		trail.mu.Unlock()
	}
	return decision, err
}
