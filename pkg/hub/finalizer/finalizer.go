package finalizer

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// object is a pointer to an object of the API that can be copied.
type object[T any] interface {
	client.Object
	DeepCopy() T
}

// Add adds a finalizer to an object and to the given copy of it, unless the copy has the finalizer. The API server refuses the change with a
// conflict if the object is not the one of the copy any more.
func Add[T object[T]](ctx context.Context, writer client.Client, of T, name string) error {
	before := of.DeepCopy()
	if !controllerutil.AddFinalizer(of, name) {
		return nil
	}

	if err := writer.Patch(ctx, of, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("add the finalizer to %s: %w", identity(writer, of), err)
	}

	return nil
}

// Remove removes a finalizer from an object, unless the given copy of it, which it does not modify, has no such finalizer. The API server
// refuses the change with a conflict if the object is not the one of the copy any more. That the object is gone is no error.
func Remove[T object[T]](ctx context.Context, writer client.Client, from T, name string) error {
	freed := from.DeepCopy()
	if !controllerutil.RemoveFinalizer(freed, name) {
		return nil
	}

	err := writer.Patch(ctx, freed, client.MergeFromWithOptions(from, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer from %s: %w", identity(writer, from), err)
	}

	return nil
}

// identity returns the kind and the name of an object.
func identity(known client.Client, of client.Object) string {
	kind := fmt.Sprintf("%T", of)
	if found, err := known.GroupVersionKindFor(of); err == nil {
		kind = found.Kind
	}

	return kind + " " + client.ObjectKeyFromObject(of).String()
}
