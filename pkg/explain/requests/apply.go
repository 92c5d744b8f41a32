package requests

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// Apply creates or replaces objects and returns all of them. A ClusterProvider of the change that publishes no profile keeps the status that it
// has, because its own process writes that. Apply does not modify its arguments.
func Apply(before, change *Objects) *Objects {
	after := *before
	after.Requests = overlay(before.Requests, change.Requests)
	after.Grants = overlay(before.Grants, change.Grants)
	after.Clusters = overlay(before.Clusters, change.Clusters)
	after.Purposes = overlay(before.Purposes, change.Purposes)
	after.Equivalences = overlay(before.Equivalences, change.Equivalences)

	providers := make([]*openmcpv1alpha1.ClusterProvider, 0, len(change.Providers))

	for _, provider := range change.Providers {
		if at := at(before.Providers, provider); at >= 0 && len(provider.Status.Profiles) == 0 {
			provider = provider.DeepCopy()
			provider.Status = before.Providers[at].Status
		}

		providers = append(providers, provider)
	}

	after.Providers = overlay(before.Providers, providers)

	return &after
}

// Names returns "Kind namespace/name" of each object, or "Kind name".
func (o *Objects) Names() []string {
	var names []string

	names = appendNames(names, "Purpose", o.Purposes)
	names = appendNames(names, "TraitEquivalence", o.Equivalences)
	names = appendNames(names, "ClusterProvider", o.Providers)
	names = appendNames(names, "Cluster", o.Clusters)
	names = appendNames(names, "ClusterRequestGrant", o.Grants)

	return appendNames(names, "ClusterRequest", o.Requests)
}

func appendNames[T metav1.Object](names []string, kind string, objects []T) []string {
	for _, object := range objects {
		name := object.GetName()
		if object.GetNamespace() != "" {
			name = keyOf(object).String()
		}

		names = append(names, kind+" "+name)
	}

	return names
}

// overlay returns a list with more objects, each of which replaces the one of its name.
func overlay[T metav1.Object](list, objects []T) []T {
	list = slices.Clone(list)

	for _, object := range objects {
		if at := at(list, object); at >= 0 {
			list[at] = object
		} else {
			list = append(list, object)
		}
	}

	return list
}

// at returns the index of the object of the same name; -1 if there is none.
func at[T metav1.Object](list []T, object T) int {
	return slices.IndexFunc(list, func(other T) bool { return keyOf(other) == keyOf(object) })
}
