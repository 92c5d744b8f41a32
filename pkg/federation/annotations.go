// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of objects and, where a comment says so, of Namespaces.
const (
	// SelectorAnnotation has a JSON array of requirements on the labels of clusters; on a Namespace it is the default of its objects.
	SelectorAnnotation = "federation.alpha.kubernetes.io/cluster-selector"
	// PlacementAnnotation names a Placement of the same namespace; on a Namespace it is the default of its objects.
	PlacementAnnotation = "placement.open-cluster-management.io/placement"
	// ReplicaSetPreferencesAnnotation and DeploymentPreferencesAnnotation have the replica preferences of a workload as JSON.
	ReplicaSetPreferencesAnnotation = "federation.kubernetes.io/replica-set-preferences"
	DeploymentPreferencesAnnotation = "federation.kubernetes.io/deployment-preferences"
	// PropagateDependenciesAnnotation with the value "true" delivers the dependencies of a workload too; on a Namespace, of all its workloads.
	PropagateDependenciesAnnotation = "federation.kubernetes.io/propagate-dependencies"
	// OrphanAnnotation with the value "true" keeps the copies in the members when the object is deleted.
	OrphanAnnotation = "federation.kubernetes.io/orphan"
)

const (
	// FederatedLabel with the value "true" on a Namespace lets its objects take part.
	FederatedLabel = "federation.kubernetes.io/federated"
	// Finalizer is on each object that has ManifestWorks.
	Finalizer = "federation.kubernetes.io/delete-from-underlying-clusters"
	// ControlPlaneOnly is the value of SelectorAnnotation that selects no cluster.
	ControlPlaneOnly = "federation.kubernetes.io/federation-control-plane=true"
	// TerminatingTaint is the key of the only taint that objects with a selector do not tolerate.
	TerminatingTaint = "cluster.openmcp.cloud/terminating"

	enabled = "true"
)

// objectAnnotations are the annotations that decide about the delivery of an object, besides those with hubPrefix.
var objectAnnotations = []string{
	SelectorAnnotation, PlacementAnnotation, ReplicaSetPreferencesAnnotation, DeploymentPreferencesAnnotation, PropagateDependenciesAnnotation,
	OrphanAnnotation,
}

// HubAnnotations returns those of the annotations of an object that decide about its delivery, unknown ones included, which hold it; nil if there are
// none.
func HubAnnotations(annotations map[string]string) map[string]string {
	var kept map[string]string
	for name, value := range annotations {
		if !slices.Contains(objectAnnotations, name) && !strings.HasPrefix(name, hubPrefix) && UnknownAnnotation(name) == "" {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[name] = value
	}
	return kept
}

// leaderAnnotation is on the objects that are the records of leader elections.
const leaderAnnotation = "control-plane.alpha.kubernetes.io/leader"

// MetadataAnnotations returns HubAnnotations and, without its value, the annotation by which ExcludedByMetadata knows the record of a leader
// election; nil if there are none.
func MetadataAnnotations(annotations map[string]string) map[string]string {
	kept := HubAnnotations(annotations)
	if _, leads := annotations[leaderAnnotation]; leads {
		if kept == nil {
			kept = map[string]string{}
		}
		kept[leaderAnnotation] = ""
	}
	return kept
}

// SameDefaults reports whether two states of a Namespace mean the same for its objects.
func SameDefaults(before, after metav1.Object) bool {
	return before.GetUID() == after.GetUID() && before.GetLabels()[FederatedLabel] == after.GetLabels()[FederatedLabel] &&
		maps.Equal(HubAnnotations(before.GetAnnotations()), HubAnnotations(after.GetAnnotations()))
}
