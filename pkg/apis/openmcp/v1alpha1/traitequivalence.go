// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TraitEquivalence lists names of traits that mean the same. TraitEquivalences that share a name add up.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=traitequivalences,scope=Cluster
// +kubebuilder:printcolumn:name="Traits",type=string,JSONPath=`.spec.traits`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type TraitEquivalence struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec lists the names.
	Spec TraitEquivalenceSpec `json:"spec"`
}

// TraitName is the name of a trait.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=200
type TraitName string

// TraitEquivalenceSpec lists names of traits that mean the same.
type TraitEquivalenceSpec struct {
	// traits are the names. At least 2, at most 64.
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=64
	// +listType=set
	Traits []TraitName `json:"traits"`
}

// TraitEquivalenceList is a list of TraitEquivalences.
//
// +kubebuilder:object:root=true
type TraitEquivalenceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TraitEquivalence `json:"items"`
}
