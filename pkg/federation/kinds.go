// SPDX-License-Identifier: Apache-2.0

package federation

import "k8s.io/apimachinery/pkg/runtime/schema"

const (
	kindDeployment = "Deployment"
	kindReplicaSet = "ReplicaSet"
	kindDaemonSet  = "DaemonSet"
	kindService    = "Service"
	kindSecret     = "Secret"
	kindConfigMap  = "ConfigMap"
	kindNamespace  = "Namespace"
	kindPlacement  = "Placement"

	versionV1 = "v1"
	groupApps = "apps"
)

// placements is the kind that a hub of hubs delivers to other hubs, which decide about their own clusters.
var placements = schema.GroupVersionKind{Group: "cluster." + groupOCM, Version: "v1beta1", Kind: kindPlacement}

// FederatedKind is a kind of objects that are delivered.
type FederatedKind struct {
	schema.GroupVersionKind

	// Resource is the plural name in URLs.
	Resource string
}

// DefaultKinds returns the kinds that are delivered without configuration.
func DefaultKinds() []FederatedKind {
	return []FederatedKind{
		newKind("", kindConfigMap, "configmaps"),
		newKind("", kindSecret, "secrets"),
		newKind("", kindService, "services"),
		newKind(groupApps, kindDaemonSet, "daemonsets"),
		newKind(groupApps, kindDeployment, "deployments"),
		newKind(groupApps, kindReplicaSet, "replicasets"),
		newKind("networking.k8s.io", "Ingress", "ingresses"),
	}
}

func newKind(group, kind, resource string) FederatedKind {
	return FederatedKind{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: versionV1, Kind: kind}, Resource: resource}
}

// SelectsClusters reports whether objects of the kind select clusters of the hub that gets them.
func (k FederatedKind) SelectsClusters() bool { return k.GroupVersionKind == placements }

// HasReplicas reports whether the replicas of the kind are distributed over the clusters.
func (k FederatedKind) HasReplicas() bool {
	return k.Group == groupApps && (k.Kind == kindDeployment || k.Kind == kindReplicaSet)
}
