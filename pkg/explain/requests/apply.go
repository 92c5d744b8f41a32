package requests

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/objectlist"
)

// Apply creates or replaces objects and returns all of them. A ClusterProvider of the change that publishes no profile keeps the status that it
// has, because its own process writes that. Apply does not modify its arguments.
func Apply(before, change *Objects) *Objects {
	after := *before
	after.Requests = objectlist.Overlay(before.Requests, change.Requests)
	after.Grants = objectlist.Overlay(before.Grants, change.Grants)
	after.Clusters = objectlist.Overlay(before.Clusters, change.Clusters)
	after.Purposes = objectlist.Overlay(before.Purposes, change.Purposes)
	after.Equivalences = objectlist.Overlay(before.Equivalences, change.Equivalences)

	providers := make([]*openmcpv1alpha1.ClusterProvider, 0, len(change.Providers))

	for _, provider := range change.Providers {
		if at := objectlist.Index(before.Providers, provider); at >= 0 && len(provider.Status.Profiles) == 0 {
			provider = provider.DeepCopy()
			provider.Status = before.Providers[at].Status
		}

		providers = append(providers, provider)
	}

	after.Providers = objectlist.Overlay(before.Providers, providers)

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
