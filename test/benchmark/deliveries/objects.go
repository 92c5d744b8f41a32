// SPDX-License-Identifier: Apache-2.0

package deliveries

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
)

// The numbers of the objects.
const (
	// Clusters is the number of clusters; every object is delivered to all of them.
	Clusters = 100
	// Namespaces is the number of namespaces over which the objects are spread.
	Namespaces = 20
	// Steered is the number of objects that cluster 0 loses while it has the value Away of the label State.
	Steered = 20
	// EditedObject is the number of a ConfigMap that is not steered.
	EditedObject = Steered + 3
	// Least is the least number of objects that a scenario has.
	Least = EditedObject + 1
)

// The label that the steered objects read.
const (
	State = "benchmark.example.com/state"
	Away  = "away"
)

// set is the ManagedClusterSet of all clusters.
const set = "everything"

// every tenth object is a Deployment, and every tenth a Secret.
const kinds = 10

// size is that of the fleet that the clusters are taken from.
var size = fleet.Size{Clusters: Clusters, Placements: Clusters}

// ClusterName returns the name of a cluster, counted from 0.
func ClusterName(i int) string { return fleet.ClusterName(i) }

// Cluster returns a cluster with its status, counted from 0.
func Cluster(i int) *clusterv1.ManagedCluster { return size.Cluster(i) }

// ClusterNamespace returns the namespace of a cluster.
func ClusterNamespace(i int) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ClusterName(i)}}
}

// Set returns the set of all clusters.
func Set() *clusterv1beta2.ManagedClusterSet {
	return &clusterv1beta2.ManagedClusterSet{
		ObjectMeta: metav1.ObjectMeta{Name: set},
		Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: clusterv1beta2.ManagedClusterSelector{
			SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{},
		}},
	}
}

func namespaceName(i int) string { return "tenant-" + strconv.Itoa(i%Namespaces) }

// Namespace returns a namespace that takes part.
func Namespace(i int) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespaceName(i), Labels: map[string]string{federation.FederatedLabel: "true"},
	}}
}

// Binding binds a namespace to the set of all clusters.
func Binding(i int) *clusterv1beta2.ManagedClusterSetBinding {
	return &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName(i), Name: set},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	}
}

// Object returns an object, counted from 0: a ConfigMap, a Deployment or a Secret of about 1 KB. The first Steered objects are ConfigMaps that
// select by the label State; all others have no selector.
func Object(i int) client.Object {
	metadata := metav1.ObjectMeta{
		Namespace: namespaceName(i), Name: fmt.Sprintf("object-%05d", i), Labels: map[string]string{"app": "shop"},
	}
	if i < Steered {
		metadata.Annotations = map[string]string{
			federation.SelectorAnnotation: fmt.Sprintf(`[{"key":%q,"operator":"notin","values":[%q]}]`, State, Away),
		}
		return &corev1.ConfigMap{ObjectMeta: metadata, Data: data(i)}
	}
	switch i % kinds {
	case 1:
		return deployment(metadata)
	case 2:
		return &corev1.Secret{ObjectMeta: metadata, StringData: data(i), Type: corev1.SecretTypeOpaque}
	default:
		return &corev1.ConfigMap{ObjectMeta: metadata, Data: data(i)}
	}
}

// Edited returns what an edit of a ConfigMap merges into it; each number is another edit.
func Edited(number int) []byte {
	return fmt.Appendf(nil, `{"data":{"edit":"%d"}}`, number)
}

func data(i int) map[string]string {
	values := map[string]string{}
	for n := range 10 {
		values[fmt.Sprintf("setting-%d", n)] = strings.Repeat(strconv.Itoa(i+n), 80)[:80]
	}
	return values
}

// deployment has three replicas for each cluster on average.
func deployment(metadata metav1.ObjectMeta) *appsv1.Deployment {
	labels := map[string]string{"app": "shop", "instance": metadata.Name}
	container := corev1.Container{Name: "main", Image: "registry.example/shop:1", Args: []string{"--listen=0.0.0.0:8080"}}
	for n := range 10 {
		container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%02d", n), Value: "the value of a setting"})
	}
	return &appsv1.Deployment{
		ObjectMeta: metadata,
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](3 * Clusters),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{container}},
			},
		},
	}
}
