// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

const (
	// Limit is the number of ClusterRequests that share a Cluster.
	Limit = 20
	// Namespaces is the number of namespaces over which the ClusterRequests are spread.
	Namespaces = 20
	// PerCluster is the number of ClusterRequests for each Cluster of the world into which single ClusterRequests come.
	PerCluster = 5
	// Least is the least number of ClusterRequests that a scenario has: the world has enough Clusters for one of each single request.
	Least = 10 * Limit
	// Provider is the name of the ClusterProvider, and of the provider that is built in.
	Provider = "null"

	profile = "default"
	version = "1.36.3"
)

// The Purposes: that of the ClusterRequests that the hub grants, and that of those that the floor grants.
const (
	HubPurpose   = "hub"
	FloorPurpose = "floor"
)

func namespaceName(i int) string { return "tenant-" + strconv.Itoa(i%Namespaces) }

// Namespace returns a namespace of ClusterRequests.
func Namespace(i int) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName(i)}}
}

// ClusterProvider returns the ClusterProvider without the status, which the provider writes.
func ClusterProvider() *openmcpv1alpha1.ClusterProvider {
	return &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: Provider}}
}

// Purpose returns a Purpose whose Clusters Limit ClusterRequests share.
func Purpose(name string) *openmcpv1alpha1.Purpose {
	return &openmcpv1alpha1.Purpose{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: openmcpv1alpha1.PurposeSpec{TenancyLimit: Limit},
	}
}

// Request returns a ClusterRequest for a purpose, counted from 0. The names of those of one purpose and series differ.
func Request(purpose, series string, i int) *openmcpv1alpha1.ClusterRequest {
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespaceName(i), Name: fmt.Sprintf("%s-%s-%05d", purpose, series, i),
	}}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{openmcpv1alpha1.PurposeName(purpose)}
	return request
}

// Clusters returns how many Clusters n ClusterRequests need.
func Clusters(n int) int { return (n + Limit - 1) / Limit }

// FreeClusters returns how many Clusters without a ClusterRequest make a world of n/PerCluster Clusters, beside those of n ClusterRequests of
// each of the two purposes.
func FreeClusters(n int) int { return n/PerCluster - 2*Clusters(n) }

// FreeCluster returns a shared Cluster for the ClusterRequests of the hub that has none, counted from 0.
func FreeCluster(i int) *openmcpv1alpha1.Cluster {
	return &openmcpv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName(i), Name: fmt.Sprintf("free-%05d", i)},
		Spec: openmcpv1alpha1.ClusterSpec{
			ClusterProviderRef: openmcpv1alpha1.ClusterProviderReference{Name: Provider, Profile: profile},
			Kubernetes:         &openmcpv1alpha1.Kubernetes{Version: version},
			Purposes:           []openmcpv1alpha1.PurposeName{HubPurpose},
			Tenancy:            openmcpv1alpha1.TenancyShared,
		},
	}
}

// KeyOf returns namespace and name of the Cluster that a Grant names.
func KeyOf(grant *openmcpv1alpha1.ClusterRequestGrant) types.NamespacedName {
	return types.NamespacedName{Namespace: grant.Spec.ClusterRef.Namespace, Name: grant.Spec.ClusterRef.Name}
}
