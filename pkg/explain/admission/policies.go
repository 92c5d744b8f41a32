// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"fmt"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/utils/ptr"
)

// Policies are the ValidatingAdmissionPolicies of a hub. A policy is compiled when the first request matches it. Policies are safe for
// concurrent use.
type Policies struct {
	// hooks have no parameters, which are those of a World.
	hooks []validating.PolicyHook
	// given are the ConfigMaps that count where a World lacks them.
	given map[types.NamespacedName]*unstructured.Unstructured
}

// NewPolicies returns the policies among objects, with their bindings. The ConfigMaps among the objects are parameters, where a World lacks them;
// the other objects are left out.
func NewPolicies(objects []*unstructured.Unstructured) (*Policies, error) {
	policies := &Policies{given: configMapsOf(objects)}
	bindings := map[string][]*admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
	for _, object := range objects {
		if object.GroupVersionKind().GroupVersion() != admissionregistrationv1.SchemeGroupVersion {
			continue
		}
		var err error
		switch object.GetKind() {
		case "ValidatingAdmissionPolicy":
			policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
			err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, policy, true)
			setDefaults(policy)
			policies.hooks = append(policies.hooks, validating.PolicyHook{Policy: policy, Evaluator: newLazyValidator(policy)})
		case "ValidatingAdmissionPolicyBinding":
			binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
			err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, binding, true)
			setResourceDefaults(binding.Spec.MatchResources)
			bindings[binding.Spec.PolicyName] = append(bindings[binding.Spec.PolicyName], binding)
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	for i := range policies.hooks {
		hook := &policies.hooks[i]
		hook.Bindings = bindings[hook.Policy.Name]
		if kind := hook.Policy.Spec.ParamKind; kind != nil && (kind.APIVersion != "v1" || kind.Kind != "ConfigMap") {
			return nil, fmt.Errorf("ValidatingAdmissionPolicy %s: spec.paramKind is %s, and parameters must be ConfigMaps", hook.Policy.Name, kind)
		}
	}
	return policies, nil
}

// Once returns a function that returns the policies among objects, which it reads at its first call.
func Once(objects func() ([]*unstructured.Unstructured, error)) func() (*Policies, error) {
	return sync.OnceValues(func() (*Policies, error) {
		read, err := objects()
		if err != nil {
			return nil, err
		}
		return NewPolicies(read)
	})
}

// setDefaults sets the defaults that the API server does.
func setDefaults(policy *admissionregistrationv1.ValidatingAdmissionPolicy) {
	policy.Spec.FailurePolicy = cmp.Or(policy.Spec.FailurePolicy, ptr.To(admissionregistrationv1.Fail))
	setResourceDefaults(policy.Spec.MatchConstraints)
}

func setResourceDefaults(resources *admissionregistrationv1.MatchResources) {
	if resources == nil {
		return
	}
	resources.MatchPolicy = cmp.Or(resources.MatchPolicy, ptr.To(admissionregistrationv1.Equivalent))
	resources.NamespaceSelector = cmp.Or(resources.NamespaceSelector, &metav1.LabelSelector{})
	resources.ObjectSelector = cmp.Or(resources.ObjectSelector, &metav1.LabelSelector{})
	for _, rules := range [][]admissionregistrationv1.NamedRuleWithOperations{resources.ResourceRules, resources.ExcludeResourceRules} {
		for i := range rules {
			rules[i].Scope = cmp.Or(rules[i].Scope, ptr.To(admissionregistrationv1.AllScopes))
		}
	}
}
