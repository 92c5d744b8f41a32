// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

const (
	// managedClusterNameLength is the greatest length of the name of a namespace and of the value of a label.
	managedClusterNameLength = 63
	managedClusterHashLength = 6
	clusterLabelLength       = 16
	// clusterNameLabel is the label by which Open Cluster Management knows the namespaces of ManagedClusters.
	clusterNameLabel = "open-cluster-management.io/cluster-name"
	// leasePrefix begins the names of the Leases of Clusters.
	leasePrefix = "cluster-"
	// separator is between the names in LabelsAnnotation.
	separator = ","
	// set is the value of labels and claims of which the name says everything.
	set = "true"
)

// DefaultClusterSet is the default of the ManagedClusterSet of Clusters that name none.
const DefaultClusterSet = "default"

// ReasonTerminating of the condition Published means that an earlier ManagedCluster or namespace of the name is being deleted.
const ReasonTerminating = "Terminating"

// IsToBePublished reports whether a Cluster that is not being deleted gets or keeps a ManagedCluster: its provider reports it healthy, it was
// published before, or it was made again while its ManagedCluster is still there.
func IsToBePublished(cluster *openmcpv1alpha1.Cluster, managed bool) bool {
	return managed || slices.Contains(cluster.Finalizers, openmcpv1alpha1.InventoryFinalizer) ||
		meta.IsStatusConditionTrue(cluster.Status.Conditions, openmcpv1alpha1.ConditionClusterHealthy)
}

// ManagedClusterName returns the name of the ManagedCluster of a Cluster and of its namespace: at most 63 characters without a dot, and
// different for different Clusters by a hash at the end.
func ManagedClusterName(cluster types.NamespacedName) string {
	readable := strings.ReplaceAll(cluster.Namespace+"-"+cluster.Name, ".", "-")
	readable = readable[:min(len(readable), managedClusterNameLength-managedClusterHashLength-1)]
	return readable + "-" + hash(cluster.String(), managedClusterHashLength)
}

// ManagedCluster returns the fields of the ManagedCluster of a Cluster that the hub applies. A Cluster that names no ManagedClusterSet is in
// the default one.
func ManagedCluster(cluster *openmcpv1alpha1.Cluster, defaultSet string) *clusterv1.ManagedCluster {
	labels := publishedLabels(cluster)
	labels[clusterv1beta2.ClusterSetLabel] = clusterSet(cluster, defaultSet)
	for key, value := range cluster.Labels {
		if name, found := strings.CutPrefix(key, openmcpv1alpha1.PlacementLabelPrefix); found {
			labels[name] = value
		}
	}
	for _, purpose := range cluster.Spec.Purposes {
		labels[openmcpv1alpha1.PurposeKeyPrefix+string(purpose)] = set
	}
	annotations := publishedAnnotations(cluster)
	annotations[openmcpv1alpha1.LabelsAnnotation] = strings.Join(slices.Sorted(maps.Keys(labels)), separator)

	return &clusterv1.ManagedCluster{
		TypeMeta: metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "ManagedCluster"},
		ObjectMeta: metav1.ObjectMeta{
			Name: ManagedClusterName(keyOf(cluster)), Labels: labels, Annotations: annotations,
		},
		Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: true},
	}
}

// ManagedClusterNamespace returns the namespace of the ManagedCluster of a Cluster.
func ManagedClusterNamespace(cluster *openmcpv1alpha1.Cluster) *corev1.Namespace {
	name := ManagedClusterName(keyOf(cluster))
	labels := publishedLabels(cluster)
	labels[clusterNameLabel] = name
	return &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: publishedAnnotations(cluster)},
	}
}

// Published returns a ManagedCluster with the labels and annotations that the hub wants: labels that it wrote before and does not want any
// more are removed, all others stay. A ManagedCluster whose Cluster is not being deleted does not have the taint TerminatingTaint.
func Published(present, wanted *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	changed := present.DeepCopy()
	for name := range strings.SplitSeq(present.Annotations[openmcpv1alpha1.LabelsAnnotation], separator) {
		if _, keep := wanted.Labels[name]; !keep {
			delete(changed.Labels, name)
		}
	}
	changed.Labels = merge(changed.Labels, wanted.Labels)
	changed.Annotations = merge(changed.Annotations, wanted.Annotations)
	delete(changed.Annotations, openmcpv1alpha1.WithdrawAnnotation) // It is about a Cluster that is gone.
	changed.Spec.HubAcceptsClient = wanted.Spec.HubAcceptsClient
	changed.Spec.Taints = slices.DeleteFunc(changed.Spec.Taints, isTerminating)

	return changed
}

func merge(into, from map[string]string) map[string]string {
	if into == nil {
		into = map[string]string{}
	}
	maps.Copy(into, from)
	return into
}

// KeepSet returns a Cluster whose annotation names the set of a ManagedCluster that is older than the Cluster. Without it, users could move a
// ManagedCluster to another set by deleting its Cluster and creating it again.
func KeepSet(cluster *openmcpv1alpha1.Cluster, managed *clusterv1.ManagedCluster, defaultSet string) *openmcpv1alpha1.Cluster {
	set := managed.Labels[clusterv1beta2.ClusterSetLabel]
	if set == "" || set == clusterSet(cluster, defaultSet) {
		return cluster
	}
	changed := cluster.DeepCopy()
	changed.Annotations = merge(changed.Annotations, map[string]string{openmcpv1alpha1.ClusterSetAnnotation: set})
	return changed
}

func clusterSet(cluster *openmcpv1alpha1.Cluster, defaultSet string) string {
	return cmp.Or(cluster.Annotations[openmcpv1alpha1.ClusterSetAnnotation], defaultSet)
}

// IsPublished reports whether a ManagedCluster or a namespace was created for a Cluster, by its annotation.
func IsPublished(object metav1.Object, cluster types.NamespacedName) bool {
	return object.GetAnnotations()[openmcpv1alpha1.ClusterAnnotation] == cluster.String()
}

// LeaseName returns the name of the Lease that the provider of a Cluster renews in the namespace of the Cluster.
func LeaseName(cluster types.UID) string { return leasePrefix + string(cluster) }

func publishedLabels(cluster *openmcpv1alpha1.Cluster) map[string]string {
	return map[string]string{openmcpv1alpha1.ClusterLabel: hash(keyOf(cluster).String(), clusterLabelLength)}
}

func publishedAnnotations(cluster *openmcpv1alpha1.Cluster) map[string]string {
	return map[string]string{openmcpv1alpha1.ClusterAnnotation: keyOf(cluster).String()}
}
