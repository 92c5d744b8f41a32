// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
)

// review reports whether the API server lets the ServiceAccount of a namespace bind a set.
type review func(ctx context.Context, namespace, set string) (bool, error)

// reviewer returns a review that sends a SubjectAccessReview. RBAC objects arrive in the cache by several watches, each of which can lag
// for long when its connection breaks. The reconciler therefore asks the API server before each write, so that it creates no binding that
// is denied at that moment, and deletes none that is granted.
func reviewer(api client.Client) review {
	return func(ctx context.Context, namespace, set string) (bool, error) {
		asked := &authorizationv1.SubjectAccessReview{Spec: clustersets.Review(namespace, set)}
		if err := api.Create(ctx, asked); err != nil {
			return false, fmt.Errorf("asking whether the ServiceAccount %s/%s may bind cluster set %q: %w", namespace, clustersets.Account, set, err)
		}
		return asked.Status.Allowed, nil
	}
}

// reviewCache has the results of the reviews of one reconcile, so that no review is sent twice.
type reviewCache struct {
	review    review
	namespace string
	results   map[string]bool
}

func (r *rbacBindingReconciler) newReviewCache(namespace string) *reviewCache {
	return &reviewCache{review: r.review, namespace: namespace, results: map[string]bool{}}
}

// mayBind reports whether the ServiceAccount may bind a set. Each set is reviewed by name even if RBAC grants all sets, because another
// authorizer may deny a single one.
func (r *reviewCache) mayBind(ctx context.Context, set string) (bool, error) {
	if may, known := r.results[set]; known {
		return may, nil
	}
	may, err := r.review(ctx, r.namespace, set)
	if err == nil {
		r.results[set] = may
	}
	return may, err
}
