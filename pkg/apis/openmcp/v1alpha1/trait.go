// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "cmp"

// TraitRequirement is one thing that a cluster has to have: a trait, or one of several.
//
// +kubebuilder:validation:XValidation:rule=`[has(self.trait), has(self.name), has(self.anyOf)].filter(given, given).size() == 1`,message=`needs exactly one of trait, name and anyOf: name the trait in one field, or list alternatives`
// +kubebuilder:validation:XValidation:rule=`!has(self.anyOf) || !has(self.negated) || !self.negated`,message=`negated does not go with anyOf: set it on the alternatives`
type TraitRequirement struct {
	// trait is the name of the trait.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Trait string `json:"trait,omitempty"`
	// name is another spelling of the field trait.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Name string `json:"name,omitempty"`
	// anyOf lists alternatives of which one suffices. At most 16.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	AnyOf []TraitAlternative `json:"anyOf,omitempty"`
	// optional prefers clusters that satisfy the requirement, and accepts others.
	// +optional
	Optional bool `json:"optional,omitempty"`
	// negated asks for clusters without the trait.
	// +optional
	Negated bool `json:"negated,omitempty"`
}

// TraitName returns the name of the trait; "" for alternatives.
func (t *TraitRequirement) TraitName() string { return cmp.Or(t.Trait, t.Name) }

// TraitAlternative is one of the alternatives of a TraitRequirement.
//
// +kubebuilder:validation:XValidation:rule=`has(self.trait) != has(self.name)`,message=`needs exactly one of trait and name; anyOf cannot be nested`
type TraitAlternative struct {
	// trait is the name of the trait.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Trait string `json:"trait,omitempty"`
	// name is another spelling of the field trait.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Name string `json:"name,omitempty"`
	// negated is satisfied by clusters without the trait.
	// +optional
	Negated bool `json:"negated,omitempty"`
}

// TraitName returns the name of the trait.
func (t *TraitAlternative) TraitName() string { return cmp.Or(t.Trait, t.Name) }

// SupportedTrait is a trait of a profile.
//
// +kubebuilder:validation:XValidation:rule=`has(self.trait) != has(self.name)`,message=`needs exactly one of trait and name`
type SupportedTrait struct {
	// trait is the name of the trait.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Trait string `json:"trait,omitempty"`
	// name is another spelling of the field trait.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Name string `json:"name,omitempty"`
}

// TraitName returns the name of the trait.
func (t *SupportedTrait) TraitName() string { return cmp.Or(t.Trait, t.Name) }
