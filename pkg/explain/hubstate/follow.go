// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// Follow returns a Watcher of all objects of the kinds that decide about some results, and of others, as far as the hub serves them. Its watches have
// begun, and end with ctx; a forbidden one ends it.
func Follow(ctx context.Context, config *rest.Config, concern explain.Concern, others ...schema.GroupVersionKind) (*Watcher, error) {
	w := newWatcher(concern)
	if err := w.open(config, cache.Options{}); err != nil {
		return nil, err
	}
	kinds := w.kinds(concern, func(*explain.Kind) bool { return true })
	for _, kind := range others {
		kinds = append(kinds, untyped(kind))
	}
	return w, w.watch(ctx, kinds)
}
