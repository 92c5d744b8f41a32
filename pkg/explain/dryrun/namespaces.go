// SPDX-License-Identifier: Apache-2.0

package dryrun

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
)

// Namespaces reads the Namespaces of the objects about which the API server has not said what it would store, by whose labels admission policies
// select, into Writes. One that does not exist is left out.
func Namespaces(ctx context.Context, hub client.Reader, manifests []statefile.Manifest, how *statefile.Writes) error {
	names := sets.New[string]()
	for i := range manifests {
		if asked := how.Asked[manifests[i].Identity]; asked == nil || asked.Offline() {
			names.Insert(manifests[i].Object.GetNamespace())
		}
	}
	how.Namespaces, how.Unread = nil, sets.New[string]()
	for _, name := range sets.List(names.Delete("")) {
		namespace := &corev1.Namespace{}
		switch err := hub.Get(ctx, client.ObjectKey{Name: name}, namespace); {
		case err == nil:
			how.Namespaces = append(how.Namespaces, namespace)
		case apierrors.IsForbidden(err):
			how.Unread.Insert(name)
		case !apierrors.IsNotFound(err):
			return fmt.Errorf("reading Namespace %s: %w; check the connection to the hub and try again", name, err)
		}
	}
	return nil
}
