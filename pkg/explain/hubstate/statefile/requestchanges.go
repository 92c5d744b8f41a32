package statefile

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/objectlist"
	"github.com/placement-hub/placement-hub/pkg/explain/requests"
)

var (
	requestKind     = openmcpv1alpha1.GroupVersion.WithKind("ClusterRequest")
	clusterKind     = openmcpv1alpha1.GroupVersion.WithKind("Cluster")
	providerKind    = openmcpv1alpha1.GroupVersion.WithKind("ClusterProvider")
	purposeKind     = openmcpv1alpha1.GroupVersion.WithKind("Purpose")
	equivalenceKind = openmcpv1alpha1.GroupVersion.WithKind("TraitEquivalence")
)

// ApplyRequestsTo applies the ClusterRequests of the files, and what decides about them, to the objects of a hub as `kubectl apply` does: the
// status of an object stays, and a new one has none. It does not modify the given objects.
func (c *ChangeReader) ApplyRequestsTo(hub *requests.Objects) (*requests.Objects, error) {
	state, err := c.State()
	if err != nil {
		return nil, err
	}

	given := &state.ClusterRequests

	m := &merger{reader: c.reader, kept: map[string][]string{}}
	after := *hub
	after.Requests = applied(m, requestKind, given.Requests, hub.Requests)
	after.Clusters = applied(m, clusterKind, given.Clusters, hub.Clusters)
	after.Providers = applied(m, providerKind, given.Providers, hub.Providers)
	after.Purposes = applied(m, purposeKind, given.Purposes, hub.Purposes)
	after.Equivalences = applied(m, equivalenceKind, given.Equivalences, hub.Equivalences)

	for i, provider := range after.Providers {
		if slices.Contains(given.Providers, provider) {
			after.Providers[i] = provider.DeepCopy()
			after.Providers[i].Status = openmcpv1alpha1.ClusterProviderStatus{}
		}
	}

	return &after, m.err
}

// applied returns the live objects after those of the files were applied.
func applied[T any, P interface {
	*T
	metav1.Object
}](m *merger, kind schema.GroupVersionKind, given, live []P) []P {
	return objectlist.Overlay(live, mergeAll[T, P](m, kind, given, live))
}
