package clusterset

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/scope"
)

// review asks whether the account of a namespace may bind a set.
type review func(ctx context.Context, namespace, set string) (bool, error)

// reviewer asks the API server. What the cache shows of RBAC comes by several watches, each of which can lag behind for long when its
// connection breaks; the API server is asked before anything is written, so that no binding is made that it denies at that moment, and
// none deleted that it grants.
func reviewer(api client.Client) review {
	return func(ctx context.Context, namespace, set string) (bool, error) {
		asked := &authorizationv1.SubjectAccessReview{Spec: scope.Review(namespace, set)}
		if err := api.Create(ctx, asked); err != nil {
			return false, fmt.Errorf("asking whether the ServiceAccount %s/%s may bind cluster set %q: %w", namespace, scope.Account, set, err)
		}

		return asked.Status.Allowed, nil
	}
}

// reviewCache are those of one look at a namespace: none is asked twice.
type reviewCache struct {
	review    review
	namespace string
	results   map[string]bool
}

func (r *rbacBindingReconciler) newReviewCache(namespace string) *reviewCache {
	return &reviewCache{review: r.review, namespace: namespace, results: map[string]bool{}}
}

// mayBind is what the API server answers. Each set is asked for by name, also where RBAC grants all: another authorizer may deny a single one.
func (q *reviewCache) mayBind(ctx context.Context, set string) (bool, error) {
	if may, known := q.results[set]; known {
		return may, nil
	}

	may, err := q.review(ctx, q.namespace, set)
	if err == nil {
		q.results[set] = may
	}

	return may, err
}
