// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
)

// managedWorks selects the ManifestWorks of delivered objects.
var managedWorks = client.MatchingLabels{federation.ManagedLabel: "true"}

// FederatedFromCluster reads the delivered objects of a namespace, or of all that take part when it is empty, and the State that decides about
// them. kinds are the delivered kinds; nil means federation.DefaultKinds.
//
// If the user may not read the clusters, sets, bindings, Placements or decisions, the error names all missing rights, and the State is for
// State.WrittenObjects. Kinds, Namespaces and ManifestWorks that may not be read are in Objects.Missing. After any other error the State is
// nil.
func FederatedFromCluster(ctx context.Context, hub client.Reader, namespace string, kinds []federation.FederatedKind) (*explain.State, error) {
	r := newReader(ctx, hub, &explain.State{}, forDelivery)
	r.readAll(r.kinds(r.required), namespace)
	if r.failed != nil {
		return nil, r.failed
	}
	if err := AddFederated(ctx, hub, r.state, namespace, kinds); err != nil {
		return nil, err
	}
	return r.state, r.err()
}

// AddFederated adds to a State the delivered objects of a namespace, or of all that take part when it is empty. The works of others are those
// with the names of works of these objects, and of given ones, which the hub may not have yet. What the user may not read is in
// Objects.Missing.
func AddFederated(
	ctx context.Context, hub client.Reader, state *explain.State, namespace string, kinds []federation.FederatedKind,
	given ...*unstructured.Unstructured,
) error {
	if kinds == nil {
		kinds = federation.DefaultKinds()
	}
	r := &federatedReader{reader: newReader(ctx, hub, state, forDelivery), objects: &state.Federated}
	r.objects.Kinds = kinds
	r.readWorks(namespace)
	r.readNamespaces(namespace)

	namespaces := []string{namespace}
	if namespace == "" {
		namespaces = r.takingPart()
		r.objects.WithoutNamespace = r.withoutNamespace(state.Clusters)
	}

	for _, kind := range kinds {
		known := state.DeliveredKind(kind)
		r.read(known, namespaces)
		if r.unread[known] != nil {
			r.objects.KindsUnread = append(r.objects.KindsUnread, kind.Kind)
		}
	}
	r.readForeign(given)
	r.readGuard()
	for _, err := range r.unread {
		r.objects.Forbidden = r.objects.Forbidden || apierrors.IsForbidden(err)
	}
	return r.err()
}

// federatedReader reads federated.Objects. It continues after a missing right, and stops after any other error.
type federatedReader struct {
	*reader

	objects *federated.Objects
	// namespacesUnread reports that the Namespaces could not be read.
	namespacesUnread bool
}

// workKind is the kind of ManifestWorks.
var workKind = explain.FindKind(schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork"))

// readWorks reads the works of the objects of one namespace, or of all.
func (r *federatedReader) readWorks(namespace string) {
	selected := maps.Clone(managedWorks)
	if namespace != "" {
		selected[federation.NamespaceLabel] = namespace
	}
	r.read(workKind, nil, selected)
	r.objects.WorksUnread = r.unread[workKind] != nil
}

// readNamespaces reads one Namespace, or all that have the label. It lists, because a Watcher serves lists.
func (r *federatedReader) readNamespaces(name string) {
	if r.failed != nil {
		return
	}
	var options []client.ListOption
	if name != "" {
		options = append(options, client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector(nameField, name)})
	}

	err := r.add(namespaceKind, "", options...)
	if name != "" && apierrors.IsForbidden(err) {
		namespace := &corev1.Namespace{}
		if err = r.hub.Get(r.ctx, client.ObjectKey{Name: name}, namespace); err == nil {
			r.objects.Namespaces = []*corev1.Namespace{namespace}
		}
	}
	if r.namespacesUnread = err != nil; err != nil {
		r.record(namespaceKind.Several(), namespaceKind.IfMissing[r.concern], err)
	}

	r.objects.Namespaces = slices.DeleteFunc(r.objects.Namespaces, func(namespace *corev1.Namespace) bool {
		return name != "" && namespace.Name != name
	})
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
