// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"k8s.io/apimachinery/pkg/labels"
)

// Mismatch says why a policy does not apply to Pods. The zero value means that it does.
type Mismatch struct {
	Reason MismatchReason
	// Requirement is the first requirement of the selector that the labels do not meet, such as "app=etcd"; empty for other reasons.
	Requirement string
	// Key is the label key of the requirement.
	Key string
}

// MismatchReason is the part of a policy that does not select Pods.
type MismatchReason string

// The reasons.
const (
	// OtherNamespace: a PodSchedulingPolicy applies to its own namespace only.
	OtherNamespace MismatchReason = "OtherNamespace"
	// NoNamespaceSelector: the namespaceSelector is absent, so it selects no namespaces.
	NoNamespaceSelector MismatchReason = "NoNamespaceSelector"
	// NamespaceLabels: the labels of the namespace do not meet a requirement of the namespaceSelector.
	NamespaceLabels MismatchReason = "NamespaceLabels"
	// NoPodSelector: the podSelector is absent, so it selects no Pods.
	NoPodSelector MismatchReason = "NoPodSelector"
	// PodLabels: the labels of the Pods do not meet a requirement of the podSelector.
	PodLabels MismatchReason = "PodLabels"
)

// Mismatch returns why the policy does not apply to Pods with these labels in a namespace. It is the zero value exactly for the policies
// that Policies.Matching returns.
func (p *Policy) Mismatch(namespace string, namespaceLabels, podLabels map[string]string) Mismatch {
	if p.Namespace != "" && p.Namespace != namespace {
		return Mismatch{Reason: OtherNamespace}
	}
	if mismatch := unmet(p.namespaces, namespaceLabels, NoNamespaceSelector, NamespaceLabels); mismatch != (Mismatch{}) {
		return mismatch
	}
	return unmet(p.pods, podLabels, NoPodSelector, PodLabels)
}

// unmet returns the first requirement of a selector that labels do not meet. A selector that selects nothing has the reason absent.
func unmet(selector labels.Selector, given map[string]string, absent, differs MismatchReason) Mismatch {
	requirements, selectable := selector.Requirements()
	if !selectable {
		return Mismatch{Reason: absent}
	}
	for _, requirement := range requirements {
		if !requirement.Matches(labels.Set(given)) {
			return Mismatch{Reason: differs, Requirement: requirement.String(), Key: requirement.Key()}
		}
	}
	return Mismatch{}
}
