// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PatchStatus writes a change of the status of an object, if it is one, and returns the state after the write; the given state, which it does
// not modify, if nothing was written. The stamps are further changes that are no reason to write, such as the time of the write.
func PatchStatus[T object[T]](ctx context.Context, writer client.Client, of T, change func(T), stamps ...func(T)) (T, error) {
	changed := of.DeepCopy()
	change(changed)
	if equality.Semantic.DeepEqual(of, changed) {
		return of, nil
	}
	for _, stamp := range stamps {
		stamp(changed)
	}

	if err := Patch(ctx, writer, of, changed, OfStatus()); err != nil {
		return of, fmt.Errorf("writing the status of %s: %w", identity(writer, of), err)
	}
	return changed, nil
}

// ApplyStatus applies the fields of the status of an object that the field manager of the writer owns, and takes them from other managers. All
// other fields stay as they are. Unless it is sent WithoutLock, the API server refuses it with a conflict if the object has changed since it was
// read.
func ApplyStatus(ctx context.Context, writer client.Client, of client.Object, own any, all ...Option) error {
	chosen := optionsOf(all)

	kind, err := writer.GroupVersionKindFor(of)
	if err != nil {
		return fmt.Errorf("name %T: %w", of, err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&struct {
		Status any `json:"status"`
	}{own})
	if err != nil {
		return fmt.Errorf("encode the status of %s: %w", identity(writer, of), err)
	}

	applied := &unstructured.Unstructured{Object: content}
	applied.SetGroupVersionKind(kind)
	applied.SetNamespace(of.GetNamespace())
	applied.SetName(of.GetName())
	applied.SetUID(of.GetUID())
	if !chosen.unlocked {
		applied.SetResourceVersion(of.GetResourceVersion())
	}
	err = writer.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.ForceOwnership)
	chosen.observe(err)

	if err != nil {
		return fmt.Errorf("writing the status of %s: %w", identity(writer, of), err)
	}
	return nil
}
