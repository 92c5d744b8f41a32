// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Definition returns the metadata of the CustomResourceDefinition of a name; nil if there is none. An object that a CustomResourceDefinition takes
// with it is deleted after that, so that a read after the deletion of the object was seen shows the cause.
func Definition(ctx context.Context, live client.Reader, name string) (*metav1.PartialObjectMetadata, error) {
	list := MetadataList(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if err := readOne(ctx, live, list, types.NamespacedName{Name: name}); err != nil {
		return nil, err
	}
	for i := range list.Items {
		return &list.Items[i], nil
	}
	return nil, nil //nolint:nilnil // Absence is no error.
}
