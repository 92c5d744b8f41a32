// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/federated"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// managedWorks selects the ManifestWorks of delivered objects.
var managedWorks = client.MatchingLabels{federation.ManagedLabel: "true"}

// The consequences of kinds that are not there, for Objects.Missing.
const (
	noWorks     = "the report does not say where objects are applied, nor what is to be written"
	noNamespace = "whether its objects are delivered is not known"
	noObjects   = "they are not in the report"
)

// FederatedFromCluster reads the delivered objects of a namespace, or of all that take part when it is empty, and the State that decides about
// them. kinds are the delivered kinds; nil means federation.DefaultKinds.
//
// If the user may not read the clusters, sets, bindings, Placements or decisions, the error names all missing rights, and the State is for
// State.WrittenObjects. Kinds, Namespaces and ManifestWorks that may not be read are in Objects.Missing. After any other error the State is
// nil.
func FederatedFromCluster(ctx context.Context, hub client.Reader, namespace string, kinds []federation.Kind) (*explain.State, error) {
	r := &reader{hub: hub}
	state := &explain.State{
		Clusters:    read[*clusterv1.ManagedCluster](ctx, r, "ManagedClusters", "", &clusterv1.ManagedClusterList{}),
		ClusterSets: read[*clusterv1beta2.ManagedClusterSet](ctx, r, "ManagedClusterSets", "", &clusterv1beta2.ManagedClusterSetList{}),
		Bindings: read[*clusterv1beta2.ManagedClusterSetBinding](
			ctx, r, "ManagedClusterSetBindings", namespace, &clusterv1beta2.ManagedClusterSetBindingList{}),
		Placements: read[api.Object](ctx, r, "Placements", namespace, api.V1beta1.EmptyList()),
		Decisions:  read[api.Object](ctx, r, "PlacementDecisions", namespace, api.V1beta1.Codec().EmptyList()),
	}

	if err := r.err(); err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}

	if err := AddFederated(ctx, hub, state, namespace, kinds); err != nil {
		return nil, err
	}

	return state, r.err()
}

// AddFederated adds to a State the delivered objects of a namespace, or of all that take part when it is empty. The works of others are those
// with the names of works of these objects, and of given ones, which the hub may not have yet. What the user may not read is in
// Objects.Missing.
func AddFederated(
	ctx context.Context, hub client.Reader, state *explain.State, namespace string, kinds []federation.Kind, given ...*unstructured.Unstructured,
) error {
	if kinds == nil {
		kinds = federation.DefaultKinds()
	}

	r := &federatedReader{hub: hub, objects: &state.Federated}
	r.objects.Kinds = kinds
	r.readWorks(ctx, namespace)
	r.readNamespaces(ctx, namespace)

	namespaces := []string{namespace}
	if namespace == "" {
		namespaces = r.takingPart()
		r.objects.WithoutNamespace = r.withoutNamespace(state.Clusters)
	}

	for _, kind := range kinds {
		r.readKind(ctx, kind, namespaces)
	}

	r.readForeign(ctx, given)
	r.readGuard(ctx)

	return r.err
}

// federatedReader reads federated.Objects. It continues after a missing right, and stops after any other error.
type federatedReader struct {
	hub     client.Reader
	objects *federated.Objects
	// namespacesUnread reports that the Namespaces could not be read.
	namespacesUnread bool
	err              error
}

// missing records what could not be read; false if there is nothing to record.
func (r *federatedReader) missing(kind, consequence string, err error) bool {
	var text string

	switch {
	case err == nil:
		return false
	case apierrors.IsForbidden(err):
		text = fmt.Sprintf("%s may not be read by this user; %s", kind, consequence)
	case isUnserved(err):
		text = fmt.Sprintf("%s are not installed on this hub%s; %s", kind, installs(err), consequence)
	case r.err == nil:
		r.err = fmt.Errorf("listing %s: %w; check the connection to the hub and try again", kind, err)

		return true
	default:
		return true
	}

	if !slices.Contains(r.objects.Missing, text) {
		r.objects.Missing = append(r.objects.Missing, text)
	}

	return true
}

// readWorks reads the works of the objects of one namespace, or of all.
func (r *federatedReader) readWorks(ctx context.Context, namespace string) {
	selected := maps.Clone(managedWorks)
	if namespace != "" {
		selected[federation.NamespaceLabel] = namespace
	}

	works, err := list[*workv1.ManifestWork](ctx, r.hub, "", &workv1.ManifestWorkList{}, selected)
	if r.missing("ManifestWorks", noWorks, err) {
		r.objects.WorksUnread = true
	}

	r.objects.Works = works
}

// readNamespaces reads one Namespace, or all that have the label. It lists, because a Watcher serves lists.
func (r *federatedReader) readNamespaces(ctx context.Context, name string) {
	if r.err != nil {
		return
	}

	var options []client.ListOption
	if name != "" {
		options = append(options, client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector(nameField, name)})
	}

	namespaces, err := list[*corev1.Namespace](ctx, r.hub, "", &corev1.NamespaceList{}, options...)
	if name != "" && apierrors.IsForbidden(err) {
		namespace := &corev1.Namespace{}
		if err = r.hub.Get(ctx, client.ObjectKey{Name: name}, namespace); err == nil {
			namespaces = []*corev1.Namespace{namespace}
		}
	}

	r.namespacesUnread = r.missing("Namespaces", noNamespace, err)

	r.objects.Namespaces = slices.DeleteFunc(namespaces, func(namespace *corev1.Namespace) bool { return name != "" && namespace.Name != name })
}

// takingPart returns the names of the Namespaces whose objects are delivered, or were before.
func (r *federatedReader) takingPart() []string {
	var names []string

	for _, namespace := range r.objects.Namespaces {
		if r.objects.TakesPart(namespace.Name) {
			names = append(names, namespace.Name)
		}
	}

	return names
}

// withoutNamespace returns the clusters that have no Namespace, after all Namespaces were read.
func (r *federatedReader) withoutNamespace(clusters []*clusterv1.ManagedCluster) []string {
	if r.namespacesUnread {
		return nil
	}

	exists := map[string]bool{}
	for _, namespace := range r.objects.Namespaces {
		exists[namespace.Name] = namespace.DeletionTimestamp == nil // The API server creates nothing in one that is terminating.
	}

	var without []string

	for _, cluster := range clusters {
		if !exists[cluster.Name] {
			without = append(without, cluster.Name)
		}
	}

	return without
}

func (r *federatedReader) readKind(ctx context.Context, kind federation.Kind, namespaces []string) {
	for _, namespace := range namespaces {
		if r.err != nil {
			return
		}

		empty := &unstructured.UnstructuredList{}
		empty.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))

		objects, err := list[*unstructured.Unstructured](ctx, r.hub, namespace, empty)
		if r.missing(kind.GroupKind().String()+"s", noObjects, err) && !slices.Contains(r.objects.KindsUnread, kind.Kind) {
			r.objects.KindsUnread = append(r.objects.KindsUnread, kind.Kind)
		}

		for _, object := range objects {
			r.objects.Objects = append(r.objects.Objects, pruned(object))
		}
	}
}
