// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// FromCluster reads the State that is needed to evaluate the given Placements, whether they exist or not: bindings, and Placements of the same
// API, of their namespaces, and all other objects of the hub. These include the decisions of every API, because the prioritizers Balance
// and Spread count them. State.Uncounted names an API without a given Placement whose decisions may not be listed.
func FromCluster(ctx context.Context, hub client.Reader, placements []inventory.Key) (*explain.State, error) {
	return readPlacements(ctx, hub, namespacesOf(placements, api.Adapters()...), func(adapter api.Adapter) ([]string, bool) {
		namespaces := namespacesOf(placements, adapter)
		return namespaces, len(namespaces) > 0
	})
}

// Decided reads the State for Placements that an inventory of the fleet has evaluated: the Placements of their namespaces, and the
// ManagedClusterSets. Of the other objects that decide about them it checks only that the user may list them.
func Decided(ctx context.Context, hub client.Reader, placements []inventory.Key) (*explain.State, error) {
	return FromCluster(ctx, &checking{Reader: hub}, placements)
}

// AllFromCluster reads the State of a hub; Placements and bindings only of one namespace, unless it is empty. The hub may lack the API v1alpha1.
// State.Uncounted names it when it has no Placements and the user may not list its decisions.
func AllFromCluster(ctx context.Context, hub client.Reader, namespace string) (*explain.State, error) {
	namespaces := []string{namespace}
	return readPlacements(ctx, hub, namespaces, func(adapter api.Adapter) ([]string, bool) { return namespaces, adapter == api.V1beta1 })
}

// readPlacements reads a State: bindings of some namespaces, and Placements of those that in returns for their API. It also returns whether the
// hub must have the API.
func readPlacements(
	ctx context.Context, hub client.Reader, namespaces []string, in func(api.Adapter) (namespaces []string, required bool),
) (*explain.State, error) {
	r := newReader(ctx, hub, &explain.State{}, forPlacements)
	r.readAll(r.kinds(func(kind *explain.Kind) bool { return adapterOf(kind) == nil }), namespaces...)
	for _, adapter := range api.Adapters() {
		namespaces, required := in(adapter)
		r.readAPI(adapter, namespaces, required)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.state, nil
}

// adapterOf returns the API of Placements or PlacementDecisions; nil for another kind.
func adapterOf(kind *explain.Kind) api.Adapter {
	for _, adapter := range api.Adapters() {
		if kind == explain.FindKind(adapter.Kind()) || kind == decisionsOf(adapter) {
			return adapter
		}
	}
	return nil
}

// decisionsOf returns the kind of the decisions of an API.
func decisionsOf(adapter api.Adapter) *explain.Kind {
	return explain.FindKind(adapter.Kind().GroupVersion().WithKind("PlacementDecision"))
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

// readAPI adds the Placements of an API in namespaces, and all of its decisions. If the API is not required and has none of these Placements, its
// decisions are only counted, and may be missing.
func (r *reader) readAPI(adapter api.Adapter, namespaces []string, required bool) {
	placements, decisions, before := explain.FindKind(adapter.Kind()), decisionsOf(adapter), len(r.state.Placements)
	for _, namespace := range namespaces {
		if r.failed != nil {
			return
		}
		err := r.add(placements, namespace)
		if isUnserved(err) && !required {
			return // Then there is nothing of it.
		}

		if err != nil {
			required = true
			r.record(placements.Several(), "", err)
		}
	}

	if r.failed != nil {
		return
	}
	required = required || len(r.state.Placements) > before

	switch err := r.add(decisions, ""); {
	case err == nil, !required && isUnserved(err):
	case !required && apierrors.IsForbidden(err):
		r.state.Uncounted = append(r.state.Uncounted, adapter)
	default:
		r.record(decisions.Several(), "", err)
	}
}
