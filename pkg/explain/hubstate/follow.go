// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// Follow returns a Watcher of all objects of the kinds that decide about some results, and of others, as far as the hub serves them. Its watches have
// begun, and end with ctx; a forbidden one ends it. mapper knows the versions of kinds of which the table has none.
func Follow(
	ctx context.Context, config *rest.Config, mapper meta.RESTMapper, concern explain.Concern, others ...schema.GroupVersionKind,
) (*Watcher, error) {
	w := newWatcher(concern)
	if err := w.open(config, cache.Options{}); err != nil {
		return nil, err
	}
	kinds := w.kinds(concern, func(*explain.Kind) bool { return true })
	for _, kind := range explain.Kinds() {
		if kind.Type != nil || kind.Reads&concern == 0 {
			continue
		}
		mapping, err := mapper.RESTMapping(kind.GroupKind())
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("looking up %s: %w", kind.Several(), err)
		}
		kinds = append(kinds, untyped(mapping.GroupVersionKind))
	}
	for _, kind := range others {
		kinds = append(kinds, untyped(kind))
	}
	err := w.watch(ctx, kinds)
	return w, err
}
