package hubstate

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is the limit of objects of one list request.
const pageSize = 500

// ClusterSets lists all ManagedClusterSets.
func ClusterSets(ctx context.Context, hub client.Reader) ([]*clusterv1beta2.ManagedClusterSet, error) {
	return list[*clusterv1beta2.ManagedClusterSet](ctx, hub, "", &clusterv1beta2.ManagedClusterSetList{})
}

// Bindings lists the ManagedClusterSetBindings of a namespace.
func Bindings(ctx context.Context, hub client.Reader, namespace string) ([]*clusterv1beta2.ManagedClusterSetBinding, error) {
	return list[*clusterv1beta2.ManagedClusterSetBinding](ctx, hub, namespace, &clusterv1beta2.ManagedClusterSetBindingList{})
}

// list lists the objects of a kind in one namespace or in all; empty is an empty list of the kind. If the continue token has expired, it
// lists again without a limit.
func list[T runtime.Object](ctx context.Context, hub client.Reader, namespace string, empty runtime.Object) ([]T, error) {
	var (
		objects []T
		next    string
	)

	for limit := int64(pageSize); ; {
		page, isList := empty.DeepCopyObject().(client.ObjectList)
		if !isList {
			return nil, fmt.Errorf("%T is no list", empty)
		}

		err := hub.List(ctx, page, client.InNamespace(namespace), client.Limit(limit), client.Continue(next))
		if apierrors.IsResourceExpired(err) && next != "" {
			objects, next, limit = nil, "", 0

			continue
		}

		if err != nil {
			return nil, err //nolint:wrapcheck // Its kind decides what the user is told.
		}

		if objects, err = appendItems(objects, page); err != nil {
			return nil, err
		}

		if next = page.GetContinue(); next == "" {
			return objects, nil
		}
	}
}

func appendItems[T runtime.Object](objects []T, page runtime.Object) ([]T, error) {
	err := meta.EachListItem(page, func(object runtime.Object) error {
		typed, isOne := object.(T)
		if !isOne {
			return fmt.Errorf("%T holds a %T", page, object)
		}

		objects = append(objects, typed)

		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading a list: %w", err)
	}

	return objects, nil
}
