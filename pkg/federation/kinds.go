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

	versionV1 = "v1"
	groupApps = "apps"
)

// Kind is a kind of objects that are delivered.
type Kind struct {
	schema.GroupVersionKind

	// Resource is the plural name in URLs.
	Resource string
}

// DefaultKinds returns the kinds that are delivered without configuration.
func DefaultKinds() []Kind {
	return []Kind{
		newKind("", kindConfigMap, "configmaps"),
		newKind("", kindSecret, "secrets"),
		newKind("", kindService, "services"),
		newKind(groupApps, kindDaemonSet, "daemonsets"),
		newKind(groupApps, kindDeployment, "deployments"),
		newKind(groupApps, kindReplicaSet, "replicasets"),
		newKind("networking.k8s.io", "Ingress", "ingresses"),
	}
}

func newKind(group, kind, resource string) Kind {
	return Kind{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: versionV1, Kind: kind}, Resource: resource}
}

// HasReplicas reports whether the replicas of the kind are distributed over the clusters.
func (k Kind) HasReplicas() bool {
	return k.Group == groupApps && (k.Kind == kindDeployment || k.Kind == kindReplicaSet)
}
