// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/klog/v2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// leftovers counts the works of objects of kinds that are not delivered, by kind.
func (s *state) leftovers(ctx context.Context, cache client.Reader) (map[string]int, error) {
	works := &workv1.ManifestWorkList{}
	if err := cache.List(ctx, works, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing ManifestWorks in the cache: %w", err)
	}
	counts := map[string]int{}

	for i := range works.Items {
		kind, _, valid := federation.ParseObject(works.Items[i].Annotations[federation.ObjectAnnotation])
		if _, delivered := s.kinds[inventory.GroupKind(kind)]; valid && !delivered {
			counts[kind]++
		}
	}
	return counts, nil
}

// logLeftovers logs the kinds that are not delivered any more: nothing removes their works, nor the finalizers, which keep their objects from
// being deleted.
func (s *state) logLeftovers(ctx context.Context, cache client.Reader) error {
	counts, err := s.leftovers(ctx, cache)
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		klog.FromContext(ctx).Info("Objects of a kind that is not delivered keep their ManifestWorks and finalizers; add the kind to "+
			"--federated-kinds, or remove both as docs/federation.md says under \"Fewer kinds, or none\"",
			"kind", kind, "manifestWorks", counts[kind], "finalizer", federation.Finalizer)
	}
	return err
}
