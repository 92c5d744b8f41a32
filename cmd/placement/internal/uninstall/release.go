// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Release removes the finalizers of an object, and no other. An object that is gone, or is another one by now, is left.
func (h *Hub) Release(ctx context.Context, held *Held) error {
	for {
		err := h.tryRelease(ctx, held)
		switch {
		case err == nil, apierrors.IsNotFound(err):
			return nil
		case apierrors.IsConflict(err) && ctx.Err() == nil: // Somebody else has changed the object since it was read.
			continue
		default:
			return fmt.Errorf("releasing %s: %w", held, err)
		}
	}
}

// tryRelease reads an object and patches that version of it.
func (h *Hub) tryRelease(ctx context.Context, held *Held) error {
	client := h.metadata.Resource(held.Resource).Namespace(held.Object.GetNamespace())
	live, err := client.Get(ctx, held.Object.GetName(), metav1.GetOptions{})
	if err != nil {
		return err //nolint:wrapcheck // The caller names the object.
	}
	left := slices.DeleteFunc(slices.Clone(live.Finalizers), func(name string) bool { return slices.Contains(held.Names, name) })
	if live.UID != held.Object.GetUID() || len(left) == len(live.Finalizers) {
		return nil
	}
	patch, err := patchOf(live, left)
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, live.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err //nolint:wrapcheck // The caller names the object.
}

// patchOf returns the merge patch that leaves an object, in the version that was read, with the given finalizers.
func patchOf(live *metav1.PartialObjectMetadata, finalizers []string) ([]byte, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"finalizers": finalizers, "resourceVersion": live.ResourceVersion, "uid": live.UID,
	}})
	if err != nil {
		return nil, fmt.Errorf("making a patch: %w", err)
	}
	return patch, nil
}
