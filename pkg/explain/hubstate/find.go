// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// nameField is the field selector for the name, which needs only the verb list.
const nameField = "metadata.name"

// Find returns the keys whose Placements exist, in their order. APIs that the hub does not serve are skipped, and so are those that the
// user may not list, unless no Placement is found.
func Find(ctx context.Context, hub client.Reader, keys []inventory.Key) ([]inventory.Key, error) {
	r := newReader(ctx, hub, nil, forPlacements)
	var found []inventory.Key
	for _, key := range keys {
		placement, err := get(ctx, hub, key)
		switch {
		case err == nil && placement != nil:
			found = append(found, key)
		case err == nil, len(keys) > 1 && isUnserved(err):
		default:
			r.record(explain.FindKind(api.Of(key).Kind()).Several(), "", err)
		}
	}

	if r.failed != nil || len(found) == 0 && len(r.forbidden) > 0 {
		return nil, r.err()
	}
	return found, nil
}

// get returns a Placement, or nil when there is none. It lists, because a user with the verb list may lack the verb get.
func get(ctx context.Context, hub client.Reader, key inventory.Key) (*api.Placement, error) {
	objects, err := listByName(ctx, hub, key.Namespace, key)
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	return api.Read(objects[0]), nil
}

func listByName(ctx context.Context, hub client.Reader, namespace string, key inventory.Key) ([]api.Object, error) {
	page, isList := api.Of(key).EmptyList().(client.ObjectList)
	if !isList {
		return nil, fmt.Errorf("%T is no list", api.Of(key).EmptyList())
	}
	if err := hub.List(ctx, page, client.InNamespace(namespace), client.MatchingFields{nameField: key.Name}); err != nil {
		return nil, err //nolint:wrapcheck // Callers choose their message by its type.
	}
	return appendItems[api.Object](nil, page)
}

// Namespaces returns the namespaces with a Placement of the same API and name as one of the keys, sorted, as far as the user may list them.
func Namespaces(ctx context.Context, hub client.Reader, keys []inventory.Key) []string {
	var namespaces []string
	for _, key := range keys {
		objects, err := listByName(ctx, hub, "", key)
		if err != nil { // It is a hint: users who may not list all namespaces get none.
			continue
		}
		for _, object := range objects {
			namespaces = append(namespaces, object.GetNamespace())
		}
	}

	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// Written reports the status, decision groups and decisions that the hub has written, as far as the user may list them, without an
// evaluation; because is the reason for that.
func Written(ctx context.Context, hub client.Reader, keys []inventory.Key, because string) ([]explain.Report, error) {
	var (
		reports []explain.Report
		errs    []error
	)

	for _, key := range keys {
		p, err := get(ctx, hub, key)
		if err != nil {
			errs = append(errs, fmt.Errorf("reading Placement %s: %w", key, err))
		}
		if p == nil {
			continue
		}
		codec := p.API.Codec()

		objects, err := list[runtime.Object](ctx, hub, key.Namespace, codec.EmptyList())
		if err != nil {
			errs = append(errs, fmt.Errorf("reading the decisions of Placement %s: %w", key, err))
		}
		var pages []*api.Page
		for _, object := range objects {
			if page := codec.Read(object); slices.Contains(placement.PlacementsOf(codec, page), key.Name) {
				pages = append(pages, page)
			}
		}

		report := explain.NewWrittenReport(p, pages, because)
		if err != nil {
			report.Notes = append(report.Notes, "the decisions could not be read: "+err.Error())
		}
		reports = append(reports, report)
	}

	return reports, errors.Join(errs...)
}

// WrittenUnsatisfied lists the Placements of a namespace, or of all when it is empty, whose status says that they are unsatisfied, as far
// as the user may list them.
func WrittenUnsatisfied(ctx context.Context, hub client.Reader, namespace string) (explain.Unsatisfied, error) {
	state := &explain.State{}
	for _, adapter := range api.Adapters() {
		placements, err := list[api.Object](ctx, hub, namespace, adapter.EmptyList())
		if err != nil && !isUnserved(err) && !apierrors.IsForbidden(err) {
			return explain.Unsatisfied{}, fmt.Errorf("listing %s: %w", explain.FindKind(adapter.Kind()).Several(), err)
		}
		if len(placements) == 0 {
			continue
		}

		decisions, err := list[api.Object](ctx, hub, namespace, adapter.Codec().EmptyList())
		if apierrors.IsForbidden(err) {
			state.Uncounted = append(state.Uncounted, adapter)
		} else if err != nil {
			return explain.Unsatisfied{}, fmt.Errorf("listing %s: %w", decisionsOf(adapter).Several(), err)
		}
		state.Placements = append(state.Placements, placements...)
		state.Decisions = append(state.Decisions, decisions...)
	}

	return state.WrittenUnsatisfied(), nil
}
