// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

const (
	// WorkAgent is the name of the ServiceAccount of the work agent in the namespace of a ManagedCluster, and of its RoleBinding.
	WorkAgent = "work-agent"
	// WorkAgentRole is the name of the ClusterRole that the RoleBinding binds: the ManifestWorks of the namespace, and nothing else.
	WorkAgentRole = "open-cluster-management:placement-hub:work-agent"
)

// WorkAgentAccount returns the ServiceAccount of the work agent of a Cluster, in the namespace of its ManagedCluster.
func WorkAgentAccount(cluster *openmcpv1alpha1.Cluster) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: rbacv1.ServiceAccountKind},
		ObjectMeta: workAgentMeta(cluster),
	}
}

// WorkAgentBinding returns the RoleBinding of the ServiceAccount of WorkAgentAccount.
func WorkAgentBinding(cluster *openmcpv1alpha1.Cluster) *rbacv1.RoleBinding {
	binding := &rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
		ObjectMeta: workAgentMeta(cluster),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: WorkAgentRole},
	}
	binding.Subjects = []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: binding.Namespace, Name: WorkAgent}}
	return binding
}

func workAgentMeta(cluster *openmcpv1alpha1.Cluster) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: ManagedClusterName(keyOf(cluster)), Name: WorkAgent, Labels: publishedLabels(cluster),
		Annotations: publishedAnnotations(cluster),
	}
}
