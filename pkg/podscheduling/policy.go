// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
)

// Reference names a policy.
type Reference struct {
	// Namespace is empty for a ClusterPodSchedulingPolicy.
	Namespace, Name string
}

// Kind returns the kind of the policy.
func (r Reference) Kind() string {
	if r.Namespace == "" {
		return "ClusterPodSchedulingPolicy"
	}
	return "PodSchedulingPolicy"
}

func (r Reference) String() string {
	if r.Namespace == "" {
		return r.Kind() + " " + r.Name
	}
	return r.Kind() + " " + r.Namespace + "/" + r.Name
}

// Policy is a PodSchedulingPolicy or ClusterPodSchedulingPolicy that is prepared for matching and injecting. It is immutable.
type Policy struct {
	Reference

	// UID is that of the object; empty if an API server has not stored it.
	UID types.UID
	// Errors say why the policy is invalid. An invalid policy injects nothing.
	Errors field.ErrorList
	// Warnings say what the policy never does, though its author may expect it.
	Warnings []string

	namespaces, pods labels.Selector
	inject           injection
}

// NewPolicy prepares a PodSchedulingPolicy, which applies to its own namespace only.
func NewPolicy(policy *kupidv1alpha1.PodSchedulingPolicy) *Policy {
	p := &Policy{
		Reference: Reference{Namespace: policy.Namespace, Name: policy.Name}, UID: policy.UID, namespaces: labels.Everything(),
		Errors: validateMetadata(&policy.ObjectMeta, true),
	}
	p.prepare(&policy.Spec)
	p.refuseUnreadable(policy)
	return p
}

// NewClusterPolicy prepares a ClusterPodSchedulingPolicy, which applies to the namespaces that it selects.
func NewClusterPolicy(policy *kupidv1alpha1.ClusterPodSchedulingPolicy) *Policy {
	p := &Policy{
		Reference: Reference{Name: policy.Name}, UID: policy.UID,
		Errors: validateMetadata(&policy.ObjectMeta, false),
	}
	p.namespaces = p.selector(policy.Spec.NamespaceSelector, "namespaceSelector", "namespaces")
	p.prepare(&policy.Spec.PodSchedulingPolicySpec)
	p.refuseUnreadable(policy)
	return p
}

// refuseUnreadable makes a policy with a field that cannot be decoded invalid, because without the field it would inject something else.
func (p *Policy) refuseUnreadable(policy metav1.Object) {
	for _, unread := range unreadable.Of(policy) {
		p.Errors = append(p.Errors, field.Invalid(field.NewPath(unread.Path), unread.Text(), unread.Problem))
	}
}

func (p *Policy) prepare(spec *kupidv1alpha1.PodSchedulingPolicySpec) {
	p.pods = p.selector(spec.PodSelector, "podSelector", "pods")
	constraints := constraintsOf(&spec.PodSchedulingPolicyConstraints)
	p.Errors = append(p.Errors, constraints.Validate(field.NewPath("spec"))...)
	p.Warnings = append(p.Warnings, constraints.warnings()...)
	if len(p.Errors) == 0 {
		p.inject = newInjection(&constraints)
	}
}

// selector returns the selector of a field of the spec. One that is invalid selects everything, so that the policy is reported wherever it
// might apply.
func (p *Policy) selector(selector *metav1.LabelSelector, name, selected string) labels.Selector {
	path := field.NewPath("spec", name)
	if selector == nil {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s: is absent, so the policy selects no %s; {} selects all", path, selected))
	}
	if errs := validateSelector(selector, path); len(errs) > 0 {
		p.Errors = append(p.Errors, errs...)
		return labels.Everything()
	}
	compiled, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		p.Errors = append(p.Errors, field.Invalid(path, selector, err.Error()))
		return labels.Everything()
	}

	return compiled
}

// warnings says what the constraints never do, though their author may expect it.
func (c *Constraints) warnings() []string {
	if c.empty() {
		return []string{"spec: has no constraint, so the policy changes nothing"}
	}
	terms := c.requiredTerms()
	for _, term := range terms {
		if !emptyTerm(term) {
			return nil
		}
	}
	if len(terms) == 0 {
		return nil
	}

	return []string{emptyTermsWarning}
}

// emptyTermsWarning is about a policy whose required terms match no node, so that none of them is injected.
const emptyTermsWarning = "spec.affinity.nodeAffinity." + requiredField + "." + termsField +
	": has only empty terms, which match no node, so the policy adds no required node affinity"

// matches reports whether the policy selects pods with these labels in a namespace with these labels.
func (p *Policy) matches(namespaceLabels, podLabels labels.Set) bool {
	return p.namespaces.Matches(namespaceLabels) && p.pods.Matches(podLabels)
}
