// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// AddFinalizer adds a finalizer to an object and to the given copy of it, unless the copy has the finalizer.
func AddFinalizer[T object[T]](ctx context.Context, writer client.Client, to T, finalizer string, all ...Option) error {
	before := to.DeepCopy()
	if !controllerutil.AddFinalizer(to, finalizer) {
		return nil
	}
	if err := Patch(ctx, writer, before, to, all...); err != nil {
		to.SetFinalizers(before.GetFinalizers())
		return fmt.Errorf("add the finalizer to %s: %w", identity(writer, before), err)
	}
	return nil
}

// RemoveFinalizer removes a finalizer from an object and from the given copy of it, unless the copy has no such finalizer. That the object is
// gone is no error, but the observer gets it.
func RemoveFinalizer[T object[T]](ctx context.Context, writer client.Client, from T, finalizer string, all ...Option) error {
	before := from.DeepCopy()
	if !controllerutil.RemoveFinalizer(from, finalizer) {
		return nil
	}
	if err := client.IgnoreNotFound(Patch(ctx, writer, before, from, all...)); err != nil {
		from.SetFinalizers(before.GetFinalizers())
		return fmt.Errorf("remove the finalizer from %s: %w", identity(writer, before), err)
	}
	return nil
}
