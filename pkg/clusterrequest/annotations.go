// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// The limits of the annotations of a template, which the CustomResourceDefinitions of Purposes and ClusterRequestGrants have, too.
const (
	maxAnnotations           = 64
	maxAnnotationValueLength = 1024 // characters
)

// steeringDomains are the domains of annotations that the hub and other controllers obey, domains below them included.
var steeringDomains = []string{openmcpv1alpha1.GroupName, "kubernetes.io", "k8s.io", "open-cluster-management.io"}

// steers reports whether the key of an annotation is in one of steeringDomains. No template gives a Cluster such an annotation, whatever
// the definition of Purposes accepted: the ManagedClusterSet of a Cluster, for example, needs a right that admission asks for elsewhere.
func steers(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	return found && slices.ContainsFunc(steeringDomains, func(steering string) bool {
		return domain == steering || strings.HasSuffix(domain, "."+steering)
	})
}

// annotationsOf returns the annotations of a new Cluster: those of a template or a Grant, and the one that names its ManagedClusterSet, which
// may be empty. It returns nil for none.
func annotationsOf(wanted map[string]openmcpv1alpha1.AnnotationValue, set string) map[string]string {
	annotations := map[string]string{}
	for key, value := range wanted {
		if !steers(key) {
			annotations[key] = string(value)
		}
	}
	if set != "" {
		annotations[openmcpv1alpha1.ClusterSetAnnotation] = set
	}
	if len(annotations) == 0 {
		return nil
	}

	return annotations
}

// recordedAnnotations returns the annotations of a Cluster that a Grant keeps: those that a template may have, the first by their keys. Others
// would be refused by the definition of Grants, and a Cluster may have any. It returns nil for none.
func recordedAnnotations(annotations map[string]string) map[string]openmcpv1alpha1.AnnotationValue {
	var recorded map[string]openmcpv1alpha1.AnnotationValue
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if steers(key) || utf8.RuneCountInString(annotations[key]) > maxAnnotationValueLength {
			continue
		}
		if recorded == nil {
			recorded = map[string]openmcpv1alpha1.AnnotationValue{}
		}
		if recorded[key] = openmcpv1alpha1.AnnotationValue(annotations[key]); len(recorded) == maxAnnotations {
			break
		}
	}

	return recorded
}
