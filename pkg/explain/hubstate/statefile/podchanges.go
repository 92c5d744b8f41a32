package statefile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/explain/pods"
)

// comparedKinds are the kinds besides Placements that a ChangeReader reads.
var comparedKinds = []schema.GroupVersionKind{
	policyKind, clusterPolicyKind, classKind, tenantKind, corev1.SchemeGroupVersion.WithKind("Namespace"),
	requestKind, clusterKind, providerKind, purposeKind, equivalenceKind,
}

// clusterWide are the kinds among them without a namespace.
var clusterWide = []schema.GroupVersionKind{
	clusterPolicyKind, classKind, corev1.SchemeGroupVersion.WithKind("Namespace"), providerKind, purposeKind, equivalenceKind,
}

// ApplyPodsTo applies the policies, classes and Tenants of the files to the objects of a cluster as `kubectl apply` does, and a Namespace
// that does not exist yet. The result has an entry for each of them but Namespaces. It does not modify the given objects.
func (c *ChangeReader) ApplyPodsTo(hub *pods.Objects) (*pods.Objects, []pods.Applied, error) {
	state, err := c.State()
	if err != nil {
		return nil, nil, err
	}

	given := &state.Pods

	m := &merger{reader: c.reader, kept: map[string][]string{}}
	change := &pods.Objects{
		ClusterPolicies: mergeAll(m, clusterPolicyKind, given.ClusterPolicies, hub.ClusterPolicies),
		Policies:        mergeAll(m, policyKind, given.Policies, hub.Policies),
		Classes:         mergeAll(m, classKind, given.Classes, hub.Classes),
		Tenants:         mergeAll(m, tenantKind, given.Tenants, hub.Tenants),
	}

	if m.err != nil {
		return nil, nil, m.err
	}

	for _, namespace := range given.Namespaces {
		if !slices.ContainsFunc(hub.Namespaces, func(live *corev1.Namespace) bool { return live.Name == namespace.Name }) {
			change.Namespaces = append(change.Namespaces, namespace)
		}
	}

	after, applied := pods.Apply(hub, change)
	for i := range applied {
		applied[i].Kept = m.kept[applied[i].Object]
	}

	return after, applied, nil
}
