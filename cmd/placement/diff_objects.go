// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/requests"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// decidesDelivery reports whether there is an object that is delivered, a binding, or a Namespace that says something about delivery.
func decidesDelivery(given *explain.State) bool {
	return len(given.Federated.Objects)+len(given.Bindings) > 0 || slices.ContainsFunc(given.Federated.Namespaces, saysDelivery)
}

// saysDelivery reports whether a Namespace has the label by which it takes part, or a default of its objects.
func saysDelivery(namespace *corev1.Namespace) bool {
	_, labelled := namespace.Labels[federation.FederatedLabel]
	return labelled || slices.ContainsFunc(deliveryDefaults, func(name string) bool { _, annotated := namespace.Annotations[name]; return annotated })
}

// deliveryDefaults are the annotations of a Namespace that are defaults of its objects.
var deliveryDefaults = []string{federation.SelectorAnnotation, federation.PlacementAnnotation, federation.PropagateDependenciesAnnotation}

// readDelivery reads what objects, Namespaces and bindings of files, and Placements beside them, may change. A namespace is enough if all of
// them are in it.
func (o *diffOptions) readDelivery(
	ctx context.Context, hub client.Reader, placements []inventory.Key, given *explain.State,
) (*explain.State, error) {
	namespaces := make([]string, 0, len(placements))
	for _, key := range placements {
		namespaces = append(namespaces, key.Namespace)
	}
	for _, object := range given.Federated.Objects {
		namespaces = append(namespaces, object.GetNamespace())
	}
	for _, namespace := range given.Federated.Namespaces {
		namespaces = append(namespaces, namespace.Name)
	}
	for _, binding := range given.Bindings {
		namespaces = append(namespaces, binding.Namespace)
	}
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	namespace := ""
	if len(namespaces) == 1 {
		namespace = namespaces[0]
	}
	state, err := hubstate.AllFromCluster(ctx, hub, namespace)
	if err != nil {
		return nil, err
	}
	return state, hubstate.AddFederated(ctx, hub, state, namespace, o.delivered, given.Federated.Objects...)
}

// addFollowers adds to a State the objects that may follow Placements of one namespace.
func (o *diffOptions) addFollowers(ctx context.Context, hub client.Reader, state *explain.State, placements []inventory.Key) error {
	for _, key := range placements {
		if key.Namespace != placements[0].Namespace {
			return hubstate.AddFederated(ctx, hub, state, "", o.delivered)
		}
	}
	return hubstate.AddFederated(ctx, hub, state, placements[0].Namespace, o.delivered)
}

// compareAll compares the Placements of the files, the objects that are delivered, the Pods, and what ClusterRequests get.
func (o *diffOptions) compareAll(
	hub, given *explain.State, changes *statefile.ChangeReader, placements []inventory.Key, now time.Time,
) (explain.Differences, error) {
	differences := explain.Differences{Now: metav1.NewTime(now), Placements: []explain.Difference{}}
	hub.Limit = o.hubLimit
	hub.Federated.SetLimit(o.hubLimit)
	after, applied, err := changes.Apply(hub)
	if err != nil {
		return differences, err
	}
	if len(placements) > 0 {
		differences = compare(hub, after, applied, now)
	}
	differences = differences.WithObjects(hub, after, o.wanted, now)
	if o.effects.decidesPods(given) {
		if differences.Pods, err = diffPods(hub, after, applied); err != nil {
			return differences, err
		}
	}
	if given.Has(explain.OfRequests) {
		differences.Requests = requests.Compare(&hub.ClusterRequests, &after.ClusterRequests, differences.Now)
	}
	return differences, nil
}

// readRequests adds to a State what decides about ClusterRequests on a hub, if the files change any of it.
func (o *diffOptions) readRequests(ctx context.Context, hub client.Reader, given, state *explain.State) error {
	if !given.Has(explain.OfRequests) {
		return nil
	}
	objects, err := hubstate.RequestsFromCluster(ctx, hub)
	if err != nil {
		return err
	}
	state.ClusterRequests = *objects
	state.ClusterRequests.Options = o.requestOptions
	return nil
}
