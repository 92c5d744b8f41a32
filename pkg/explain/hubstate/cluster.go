// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// FromCluster reads the State that is needed to evaluate the given Placements, whether they exist or not: bindings, and Placements of the same
// API, of their namespaces, and all other objects of the hub. These include the decisions of every API, because the prioritizers Balance
// and Spread count them. State.Uncounted names an API without a given Placement whose decisions may not be listed.
func FromCluster(ctx context.Context, hub client.Reader, placements []inventory.Key) (*explain.State, error) {
	r := &reader{hub: hub}
	state := &explain.State{
		Clusters:    read[*clusterv1.ManagedCluster](ctx, r, "ManagedClusters", "", &clusterv1.ManagedClusterList{}),
		ClusterSets: read[*clusterv1beta2.ManagedClusterSet](ctx, r, "ManagedClusterSets", "", &clusterv1beta2.ManagedClusterSetList{}),
		Scores:      read[*clusterv1alpha1.AddOnPlacementScore](ctx, r, "AddOnPlacementScores", "", &clusterv1alpha1.AddOnPlacementScoreList{}),
	}

	for _, namespace := range namespacesOf(placements, api.Adapters()...) {
		state.Bindings = append(state.Bindings, read[*clusterv1beta2.ManagedClusterSetBinding](
			ctx, r, "ManagedClusterSetBindings", namespace, &clusterv1beta2.ManagedClusterSetBindingList{})...)
	}

	for _, adapter := range api.Adapters() {
		r.readAPI(ctx, state, adapter, namespacesOf(placements, adapter))
	}

	if err := r.err(); err != nil {
		return nil, err
	}

	return state, nil
}

// namespacesOf returns the namespaces of the Placements of some APIs, sorted and without duplicates.
func namespacesOf(placements []inventory.Key, apis ...api.Adapter) []string {
	var namespaces []string

	for _, key := range placements {
		if slices.ContainsFunc(apis, func(adapter api.Adapter) bool { return adapter.Name() == key.API() }) {
			namespaces = append(namespaces, key.Namespace)
		}
	}

	slices.Sort(namespaces)

	return slices.Compact(namespaces)
}

// FleetViewRole is the ClusterRole that has all that an explanation reads beyond the namespace of its object.
const FleetViewRole = "open-cluster-management:placement-hub:fleet-view"

// fleetViewAdvice names the role and what it shows.
const fleetViewAdvice = "the ClusterRole " + FleetViewRole + ", which shows the whole fleet, by a ClusterRoleBinding"

// reader collects errors. It continues after a missing right, so that all of them are reported at once, and stops after any other error.
type reader struct {
	hub       client.Reader
	forbidden []error
	failed    error
}

// readAPI adds the decisions of an API, and its Placements in the namespaces. Without a namespace the decisions are only counted, and may
// be missing.
func (r *reader) readAPI(ctx context.Context, state *explain.State, adapter api.Adapter, namespaces []string) {
	if r.failed != nil {
		return
	}

	decisions, err := list[api.Object](ctx, r.hub, "", adapter.Codec().EmptyList())

	switch {
	case err == nil:
		state.Decisions = append(state.Decisions, decisions...)
	case len(namespaces) == 0 && isUnserved(err): // Then there are none.
	case len(namespaces) == 0 && apierrors.IsForbidden(err):
		state.Uncounted = append(state.Uncounted, adapter)
	default:
		r.record(nameOf("PlacementDecisions", adapter), err)
	}

	for _, namespace := range namespaces {
		state.Placements = append(state.Placements, read[api.Object](ctx, r, nameOf("Placements", adapter), namespace, adapter.EmptyList())...)
	}
}

// nameOf returns the name of a kind for messages.
func nameOf(kind string, adapter api.Adapter) string {
	if adapter == api.V1beta1 {
		return kind
	}

	return kind + "." + string(adapter.Name())
}

func (r *reader) err() error {
	switch {
	case r.failed != nil:
		return r.failed
	case len(r.forbidden) > 0:
		return &refusal{
			what: "the hub does not allow this user to read what placements are decided by", refused: r.forbidden,
			advice: "ask an administrator of the hub for " + fleetViewAdvice +
				"; for placements and managedclustersetbindings a RoleBinding to view in the namespace is enough",
		}
	default:
		return nil
	}
}

func (r *reader) record(kind string, err error) {
	switch {
	case apierrors.IsForbidden(err):
		r.forbidden = append(r.forbidden, err)
	case isUnserved(err):
		r.failed = fmt.Errorf("the hub does not serve %s: %w; name the kubeconfig or context of a hub, or %s", kind, err, installAdvice(err))
	case apierrors.IsUnauthorized(err):
		r.failed = fmt.Errorf("listing %s: the hub does not accept the credentials: %w; renew them, or name another kubeconfig or context",
			kind, err)
	default:
		r.failed = fmt.Errorf("listing %s: %w; check the connection to the hub and try again", kind, err)
	}
}

func isUnserved(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// read lists objects that are required, and records an error.
func read[T runtime.Object](ctx context.Context, r *reader, kind, namespace string, empty runtime.Object) []T {
	if r.failed != nil {
		return nil
	}

	objects, err := list[T](ctx, r.hub, namespace, empty)
	if err != nil {
		r.record(kind, err)
	}

	return objects
}

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

// list lists the objects of a kind in one namespace or in all; empty is an empty list of the kind.
func list[T runtime.Object](
	ctx context.Context, hub client.Reader, namespace string, empty runtime.Object, options ...client.ListOption,
) ([]T, error) {
	var objects []T

	err := eachPage(ctx, hub, namespace, empty, func(page client.ObjectList, first bool) error {
		if first {
			objects = nil
		}

		var err error
		objects, err = appendItems(objects, page)

		return err
	}, options...)
	if err != nil {
		return nil, err
	}

	return objects, nil
}

// eachPage calls visit with the pages of a list; empty is an empty list of the kind. If the continue token has expired, it lists again without a
// limit: visit is called with the first page again.
func eachPage(
	ctx context.Context, hub client.Reader, namespace string, empty runtime.Object, visit func(page client.ObjectList, first bool) error,
	options ...client.ListOption,
) error {
	options = slices.Clip(options)
	next := ""

	for limit := int64(pageSize); ; {
		page, isList := empty.DeepCopyObject().(client.ObjectList)
		if !isList {
			return fmt.Errorf("%T is no list", empty)
		}

		err := hub.List(ctx, page, append(options, client.InNamespace(namespace), client.Limit(limit), client.Continue(next))...)
		if apierrors.IsResourceExpired(err) && next != "" {
			next, limit = "", 0

			continue
		}

		if err != nil {
			return err //nolint:wrapcheck // Callers choose their message by its type.
		}

		if err := visit(page, next == ""); err != nil {
			return err
		}

		if next = page.GetContinue(); next == "" {
			return nil
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
