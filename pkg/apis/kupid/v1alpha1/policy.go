// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodSchedulingPolicy constrains on which nodes Pods of its namespace may run. Its constraints are injected into pod templates and Pods at
// admission; what exists already stays as it is.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=podschedulingpolicies,scope=Namespaced
type PodSchedulingPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec selects Pods and has the constraints that are injected into them.
	// +optional
	Spec PodSchedulingPolicySpec `json:"spec,omitempty"`
	// status is written by the hub. It is absent while the policy is within the limits of its namespace.
	// +optional
	Status PodSchedulingPolicyStatus `json:"status,omitempty,omitzero"`
}

// The condition of a PodSchedulingPolicy, which it has only while the status is False, and its reason.
const (
	// ConditionWithinLimits is False when a Pod that the policy and all policies of the namespace before it by name select is not given it.
	ConditionWithinLimits = "WithinLimits"
	ReasonTooManyTerms    = "TooManyTerms"
)

// PodSchedulingPolicyStatus is what the hub says about a PodSchedulingPolicy.
type PodSchedulingPolicyStatus struct {
	// conditions has WithinLimits while the policy is beyond the limits for the policies of one namespace.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PodSchedulingPolicySpec selects Pods and has the constraints that are injected into them.
type PodSchedulingPolicySpec struct {
	PodSchedulingPolicyConstraints `json:",inline"`

	// podSelector selects Pods by their labels, and controllers by the labels of their pod template. Absent selects no Pods, {} all.
	// +optional
	PodSelector *metav1.LabelSelector `json:"podSelector,omitempty"`
}

// ClusterPodSchedulingPolicy constrains on which nodes the Pods of selected namespaces may run. Its constraints come before those of
// PodSchedulingPolicies. A ClusterPodSchedulingPolicy has no status.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=clusterpodschedulingpolicies,scope=Cluster
type ClusterPodSchedulingPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec selects namespaces and Pods and has the constraints that are injected into the Pods.
	// +optional
	Spec ClusterPodSchedulingPolicySpec `json:"spec,omitempty"`
}

// ClusterPodSchedulingPolicySpec selects namespaces and Pods and has the constraints that are injected into the Pods.
type ClusterPodSchedulingPolicySpec struct {
	PodSchedulingPolicySpec `json:",inline"`

	// namespaceSelector selects namespaces by their labels. Absent selects no namespaces, {} all.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
}

// PodSchedulingPolicyConstraints are injected into a pod spec. They are added to what the workload has, and never remove or overwrite
// anything of it.
type PodSchedulingPolicyConstraints struct {
	// nodeSelector has labels of nodes. A label whose key the workload already has is skipped.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// nodeName is the name of a node. It is skipped where the workload names a node or has schedulingGates.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// affinity is merged: preferred terms and the terms of podAffinity and podAntiAffinity are appended, and the required terms of
	// nodeAffinity are ANDed with those of the workload.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// schedulerName is the name of a scheduler. It is skipped where the workload names one other than default-scheduler.
	// +optional
	SchedulerName string `json:"schedulerName,omitempty"`
	// tolerations are appended to those of the workload.
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
}

// PodSchedulingPolicyList is a list of PodSchedulingPolicies.
//
// +kubebuilder:object:root=true
type PodSchedulingPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PodSchedulingPolicy `json:"items"`
}

// ClusterPodSchedulingPolicyList is a list of ClusterPodSchedulingPolicies.
//
// +kubebuilder:object:root=true
type ClusterPodSchedulingPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterPodSchedulingPolicy `json:"items"`
}
