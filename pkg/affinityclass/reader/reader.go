// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// Reader reads from the informer cache and, where that may be behind, from the API server. It is safe for concurrent use.
type Reader struct {
	objects.Reader

	tree treeCache
}

// New returns a Reader.
func New(cached, live client.Reader) *Reader {
	return &Reader{Reader: objects.Reader{Cached: cached, Live: live}}
}

// Find reads an object, and reports whether it exists.
func (r *Reader) Find(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) (bool, error) {
	if len(rest.IsValidPathSegmentName(key.Name)) > 0 { // Users name classes, and no object has such a name.
		return false, nil
	}
	err := r.Get(ctx, key, object, options...)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading %T %s: %w", object, key.Name, err)
	default:
		return true, nil
	}
}

// Classes returns a function that reads AffinityClasses.
func (r *Reader) Classes(ctx context.Context) affinityclass.Classes {
	return func(name string) (*cozystackv1alpha1.AffinityClass, error) {
		class := &cozystackv1alpha1.AffinityClass{}
		found, err := r.Find(ctx, client.ObjectKey{Name: name}, class, client.UnsafeDisableDeepCopy)
		if err != nil || !found {
			return nil, err
		}
		return class, nil
	}
}

// Releases returns HelmReleases.
func Releases(ctx context.Context, from client.Reader, options ...client.ListOption) ([]*unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(affinityclass.ReleaseKind.GroupVersion().WithKind(affinityclass.ReleaseKind.Kind + "List"))
	if err := from.List(ctx, list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("listing HelmReleases: %w", err)
	}
	releases := make([]*unstructured.Unstructured, 0, len(list.Items))
	for i := range list.Items {
		releases = append(releases, &list.Items[i])
	}
	return releases, nil
}
