package clusterrequest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
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
	// defaultClusterSet is the ManagedClusterSet of Clusters that name none.
	defaultClusterSet = "default"
	// clusterNameLabel is the label by which Open Cluster Management knows the namespaces of ManagedClusters.
	clusterNameLabel = "open-cluster-management.io/cluster-name"
	// versionClaim is the claim with the version of Kubernetes.
	versionClaim = "kubeversion.open-cluster-management.io"
	// set is the value of labels and claims of which the name says everything.
	set = "true"
)

// ManagedClusterName returns the name of the ManagedCluster of a Cluster and of its namespace: at most 63 characters without a dot, and
// different for different Clusters by a hash at the end.
func ManagedClusterName(cluster types.NamespacedName) string {
	readable := strings.ReplaceAll(cluster.Namespace+"-"+cluster.Name, ".", "-")
	readable = readable[:min(len(readable), managedClusterNameLength-managedClusterHashLength-1)]

	return readable + "-" + hash(cluster.String(), managedClusterHashLength)
}

// ManagedCluster returns the fields of the ManagedCluster of a Cluster that the hub applies.
func ManagedCluster(cluster *openmcpv1alpha1.Cluster) *clusterv1.ManagedCluster {
	labels := publishedLabels(cluster)
	labels[clusterv1beta2.ClusterSetLabel] = defaultClusterSet
	if name := cluster.Annotations[openmcpv1alpha1.ClusterSetAnnotation]; name != "" {
		labels[clusterv1beta2.ClusterSetLabel] = name
	}
	for key, value := range cluster.Labels {
		if name, found := strings.CutPrefix(key, openmcpv1alpha1.PlacementLabelPrefix); found {
			labels[name] = value
		}
	}
	for _, purpose := range cluster.Spec.Purposes {
		labels[openmcpv1alpha1.PurposeKeyPrefix+string(purpose)] = set
	}

	return &clusterv1.ManagedCluster{
		TypeMeta: metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "ManagedCluster"},
		ObjectMeta: metav1.ObjectMeta{
			Name: ManagedClusterName(keyOf(cluster)), Labels: labels, Annotations: publishedAnnotations(cluster),
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

// IsPublished reports whether a ManagedCluster or a namespace was created for a Cluster, by its annotation.
func IsPublished(object metav1.Object, cluster types.NamespacedName) bool {
	return object.GetAnnotations()[openmcpv1alpha1.ClusterAnnotation] == cluster.String()
}

// LeaseName returns the name of the Lease that the provider of a Cluster renews in the namespace of the Cluster.
func LeaseName(cluster types.UID) string { return "cluster-" + string(cluster) }

func publishedLabels(cluster *openmcpv1alpha1.Cluster) map[string]string {
	return map[string]string{openmcpv1alpha1.ClusterLabel: hash(keyOf(cluster).String(), clusterLabelLength)}
}

func publishedAnnotations(cluster *openmcpv1alpha1.Cluster) map[string]string {
	return map[string]string{openmcpv1alpha1.ClusterAnnotation: keyOf(cluster).String()}
}

// Claims returns the claims of the ManagedCluster of a Cluster, by their names. The profile is nil if it is not published.
func Claims(cluster *openmcpv1alpha1.Cluster, profile *openmcpv1alpha1.Profile) map[string]string {
	claims := map[string]string{
		openmcpv1alpha1.ProviderClaim: cluster.Spec.ClusterProviderRef.Name,
		openmcpv1alpha1.ProfileClaim:  string(cluster.Spec.ClusterProviderRef.Profile),
		openmcpv1alpha1.TenancyClaim:  string(cluster.Spec.Tenancy),
	}
	for _, purpose := range cluster.Spec.Purposes {
		claims[openmcpv1alpha1.PurposeKeyPrefix+string(purpose)] = set
	}
	if profile != nil {
		for i := range profile.SupportedTraits {
			claims[openmcpv1alpha1.TraitKeyPrefix+profile.SupportedTraits[i].TraitName()] = set
		}
	}
	if version := versionOf(cluster.Spec.Kubernetes); version != "" {
		claims[versionClaim] = "v" + version
	}

	return claims
}

// MergeClaims returns the claims of a ManagedCluster with those that the hub wants, and the new value of the annotation that records what
// the hub wrote. A claim with another value than the recorded one is that of an agent: it wins, and stays.
func MergeClaims(
	present []clusterv1.ManagedClusterClaim, annotation string, wanted map[string]string,
) (claims []clusterv1.ManagedClusterClaim, record string, err error) {
	written := map[string]string{}
	if annotation != "" {
		if err := json.Unmarshal([]byte(annotation), &written); err != nil {
			return nil, "", fmt.Errorf("annotation %s: %w: remove it, and the claims of removed purposes and traits",
				openmcpv1alpha1.ClaimsAnnotation, err)
		}
	}
	recorded := maps.Clone(wanted)
	for _, claim := range present {
		if value, ours := written[claim.Name]; !ours || value != claim.Value {
			claims = append(claims, claim)
			delete(recorded, claim.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		claims = append(claims, clusterv1.ManagedClusterClaim{Name: name, Value: recorded[name]})
	}
	text, err := json.Marshal(recorded)
	if err != nil {
		return nil, "", fmt.Errorf("encode the names of claims: %w", err)
	}

	return claims, string(text), nil
}
