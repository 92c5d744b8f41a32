// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/federated"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/federation"
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

// federationTool is the tool of objects that are delivered to clusters.
var federationTool = tool{
	family:  familyDelivered,
	isType:  isDelivered,
	explain: runObjects,
	answer:  answerDelivered,
	changed: func(o *diffOptions, given *explain.State) bool { return o.effects.decidesDelivery(given) },
	read:    readDelivery,
	compare: func(o *diffOptions, c *comparison, differences *explain.Differences) error {
		*differences = differences.WithObjects(c.hub, c.after, o.wanted, c.now)
		return nil
	},
	report: func(o *simulateOptions, in *simulated, wanted wantedObjects, reports *explain.Reports) error {
		if len(wanted.names) == 0 {
			*reports = reports.WithObjects(in.state, o.inNamespace, o.all)
		}
		return nil
	},
}

// isDelivered reports whether a type names a kind of delivered objects.
func isDelivered(o *explainOptions, text string) bool {
	_, is := federated.FindKind(o.delivered, text)
	return is
}

// namespaceOf returns the namespace of what files may change for delivery; empty if it is more than one.
func namespaceOf(given *explain.State) string {
	namespaces := namesOf(given.Federated.Namespaces)
	for _, placement := range given.Placements {
		namespaces = append(namespaces, placement.GetNamespace())
	}
	for _, object := range given.Federated.Objects {
		namespaces = append(namespaces, object.GetNamespace())
	}
	for _, binding := range given.Bindings {
		namespaces = append(namespaces, binding.Namespace)
	}
	slices.Sort(namespaces)
	if namespaces = slices.Compact(namespaces); len(namespaces) == 1 {
		return namespaces[0]
	}
	return ""
}

// readDelivery adds to a State the objects of a hub that files may change the delivery of, or that may follow their Placements.
func readDelivery(ctx context.Context, o *diffOptions, hub client.Client, given, state *explain.State) (unread, err error) {
	switch {
	case o.effects.decidesDelivery(given):
		return nil, hubstate.AddFederated(ctx, hub, state, namespaceOf(given), o.delivered, given.Federated.Objects...)
	case len(given.Placements) > 0 && !o.unfollowed:
		return nil, hubstate.AddFederated(ctx, hub, state, namespaceOf(&explain.State{Placements: given.Placements}), o.delivered)
	default:
		return nil, nil
	}
}
