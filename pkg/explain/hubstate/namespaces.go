// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ReadNamespaces reads the Namespaces of the given names that exist. If the user may not read some, the error names the missing right.
func ReadNamespaces(ctx context.Context, hub client.Reader, names []string) ([]*corev1.Namespace, error) {
	var namespaces []*corev1.Namespace
	r := newReader(ctx, hub, nil, forNamespaces)
	for _, name := range names {
		namespace := &corev1.Namespace{}
		switch err := hub.Get(ctx, client.ObjectKey{Name: name}, namespace); {
		case err == nil:
			namespaces = append(namespaces, namespace)
		case !apierrors.IsNotFound(err):
			r.record("Namespaces", "", err)
		}
	}

	if err := r.err(); err != nil {
		return nil, err
	}
	return namespaces, nil
}
