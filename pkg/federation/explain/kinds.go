// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// shortNames are those of kubectl.
var shortNames = map[string]string{
	"cm": "ConfigMap", "svc": "Service", "ds": "DaemonSet", "deploy": "Deployment", "rs": "ReplicaSet", "ing": "Ingress",
}

// FindKind returns the kind that a user names as kubectl does: deployment, deployments, deploy, deployments.apps or deployments.v1.apps.
func FindKind(kinds []federation.FederatedKind, text string) (federation.FederatedKind, bool) {
	name, suffix, qualified := strings.Cut(strings.ToLower(text), ".")
	for _, kind := range kinds {
		named := strings.EqualFold(name, kind.Kind) || name == kind.Resource || shortNames[name] == kind.Kind
		if named && (!qualified || suffix == kind.Group || suffix == kind.Version+"."+kind.Group) {
			return kind, true
		}
	}
	return federation.FederatedKind{}, false
}

// KindsOf returns the kinds that a hub delivers.
func KindsOf(delivered []federation.FederatedKind) []schema.GroupVersionKind {
	kinds := make([]schema.GroupVersionKind, 0, len(delivered))
	for _, kind := range delivered {
		kinds = append(kinds, kind.GroupVersionKind)
	}
	return kinds
}
