// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
)

// LiveMetadata returns the metadata of the object of a name and of the kind of example; false if there is none.
func LiveMetadata(
	ctx context.Context, live client.Reader, example client.Object, key types.NamespacedName,
) (*metav1.PartialObjectMetadata, bool, error) {
	kind, err := apiutil.GVKForObject(example, scheme.Known())
	if err != nil {
		return nil, false, fmt.Errorf("naming %T: %w", example, err)
	}
	list := MetadataList(kind)
	if err := readOne(ctx, live, list, key); err != nil {
		return nil, false, err
	}

	for i := range list.Items {
		return &list.Items[i], true, nil
	}
	return nil, false, nil
}

// LiveObject reads the object of a name into an empty list of its kind; nil if there is none.
func LiveObject(ctx context.Context, live client.Reader, empty runtime.Object, key types.NamespacedName) (runtime.Object, error) {
	list, ok := empty.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("reading %s: %T is no list", key, empty)
	}
	if err := readOne(ctx, live, list, key); err != nil {
		return nil, err
	}

	objects, err := meta.ExtractList(list)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	for _, object := range objects {
		return object, nil
	}
	return nil, nil
}

// readOne reads the object of a name as a list with the name as its field selector, which is as consistent as a get and needs no permission
// beyond those of a cache.
func readOne(ctx context.Context, live client.Reader, list client.ObjectList, key types.NamespacedName) error {
	err := live.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{metav1.ObjectNameField: key.Name})
	if err != nil {
		return fmt.Errorf("reading %s from the API server: %w", key, err)
	}
	return nil
}
