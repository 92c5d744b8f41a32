package statefile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/explain/objectlist"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
)

// comparedKinds are the kinds besides Placements that a ChangeReader reads.
var comparedKinds = []schema.GroupVersionKind{
	policyKind, clusterPolicyKind, classKind, tenantKind, namespaceKind,
	requestKind, clusterKind, providerKind, purposeKind, equivalenceKind,
}

// clusterWide are the kinds among them without a namespace.
var clusterWide = []schema.GroupVersionKind{
	clusterPolicyKind, classKind, namespaceKind, providerKind, purposeKind, equivalenceKind,
}

// ApplyPodsTo applies the policies, classes, Tenants and Namespaces of the files to the objects of a cluster as `kubectl apply` does. The result
// has an entry for each of them. It does not modify the given objects.
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

	if change.Namespaces, err = c.NamespacesAfter(hub.Namespaces); err != nil {
		return nil, nil, err
	}

	after, applied := pods.Apply(hub, change)
	for i := range applied {
		applied[i].Kept = m.kept[applied[i].Object]
	}

	return after, slices.Concat(appliedNamespaces(hub.Namespaces, change.Namespaces), applied), nil
}

// appliedNamespaces returns what applying Namespaces means for Pods.
func appliedNamespaces(live, after []*corev1.Namespace) []pods.Applied {
	applied := make([]pods.Applied, 0, len(after))

	for _, namespace := range after {
		before := objectlist.Find(live, namespace)
		applied = append(applied, pods.Applied{
			Object: namespaceKind.Kind + " " + namespace.Name, New: before == nil, Unchanged: before != nil && pods.ReadsSame(before, namespace),
		})
	}

	return applied
}
