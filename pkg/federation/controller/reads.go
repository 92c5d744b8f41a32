// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// worksNamed returns the ManifestWorks of the name that the works of an object have, from a cache with the index of IndexWorks.
func worksNamed(ctx context.Context, reader client.Reader, of federation.Identity) ([]*workv1.ManifestWork, error) {
	list := &workv1.ManifestWorkList{}
	if err := reader.List(ctx, list, client.MatchingFields{workName: of.WorkName()}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the ManifestWorks of %s: %w", of, err)
	}
	works := make([]*workv1.ManifestWork, 0, len(list.Items))
	for i := range list.Items {
		works = append(works, &list.Items[i])
	}
	return works, nil
}

// namespaceMeta returns the metadata of a Namespace; nil if there is none.
func namespaceMeta(ctx context.Context, reader client.Reader, name string) (*metav1.ObjectMeta, error) {
	namespace := &corev1.Namespace{}
	err := reader.Get(ctx, types.NamespacedName{Name: name}, namespace, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Namespace %s: %w", name, err)
	}
	return &namespace.ObjectMeta, nil
}

// placementNames returns the names of the Placements of a namespace, sorted.
func placementNames(ctx context.Context, reader client.Reader, namespace string) ([]string, error) {
	list := &clusterv1beta1.PlacementList{}
	if err := reader.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the Placements of Namespace %s: %w", namespace, err)
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names, nil
}

// decided are the decisions that an object follows, with the pages that have them.
type decided struct {
	federation.Decisions

	pages []clusterv1beta1.PlacementDecision
	// missing reports that the Placement does not exist.
	missing bool
	err     error
}

// decisionsOf returns the decisions of a Placement.
func decisionsOf(ctx context.Context, reader client.Reader, name types.NamespacedName) decided {
	placement := &clusterv1beta1.Placement{}
	list := &clusterv1beta1.PlacementDecisionList{}

	err := reader.Get(ctx, name, placement, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return decided{Decisions: federation.DecisionsOf(nil, nil), missing: true}
	}
	if err != nil {
		return decided{err: fmt.Errorf("reading Placement %s: %w", name, err)}
	}

	err = reader.List(ctx, list, client.InNamespace(name.Namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: name.Name},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		return decided{err: fmt.Errorf("listing the decisions of Placement %s: %w", name, err)}
	}
	pages := make([][]string, len(list.Items))

	for i := range list.Items {
		for _, decision := range list.Items[i].Status.Decisions {
			pages[i] = append(pages[i], decision.ClusterName)
		}
	}
	return decided{Decisions: federation.DecisionsOf(&placement.ObjectMeta, pages), pages: list.Items}
}

// versions returns a text that is equal for equal pages.
func (d decided) versions() string {
	versions := make([]string, 0, len(d.pages))
	for i := range d.pages {
		versions = append(versions, string(d.pages[i].UID)+"/"+d.pages[i].ResourceVersion)
	}
	slices.Sort(versions)
	return d.Problem + strings.Join(versions, " ")
}

// absent reports whether an error says that an object does not exist. An API server that does not serve the resource, of which there may be
// objects all the same, answers with another body.
func absent(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
