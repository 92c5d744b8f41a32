// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

// The node labels of the classes of the scenarios.
const (
	zone = "topology.kubernetes.io/zone"
	gpu  = "node.kubernetes.io/gpu"
)

func class(name, key, value string) *cozystackv1alpha1.AffinityClass {
	class := &cozystackv1alpha1.AffinityClass{}
	class.Name, class.Finalizers = name, []string{cozystackv1alpha1.InUseFinalizer}
	class.Spec.NodeSelector = map[string]cozystackv1alpha1.NodeLabelValue{key: cozystackv1alpha1.NodeLabelValue(value)}
	class.Spec.Enforcement = cozystackv1alpha1.EnforcementDeny
	return class
}

// deleted returns a copy of a class that is being deleted.
func deleted(class *cozystackv1alpha1.AffinityClass) *cozystackv1alpha1.AffinityClass {
	class = class.DeepCopy()
	class.DeletionTimestamp = &metav1.Time{}
	return class
}

var dc1, dc2, gpus = class("dc1", zone, "dc1"), class("dc2", zone, "dc2"), class("gpu", gpu, "true")

// given returns a lookup of the classes.
func given(classes ...*cozystackv1alpha1.AffinityClass) Classes {
	return func(name string) (*cozystackv1alpha1.AffinityClass, error) {
		for _, class := range classes {
			if class.Name == name {
				return class, nil
			}
		}
		return nil, nil
	}
}

// all returns a lookup of the classes of the scenarios.
func all() Classes { return given(dc1, dc2, gpus) }

func tenant(namespace, name, defaultClass string, allowed ...string) *appsv1alpha1.Tenant {
	tenant := &appsv1alpha1.Tenant{}
	tenant.Namespace, tenant.Name = namespace, name
	tenant.Spec.DefaultAffinityClass, tenant.Spec.AllowedAffinityClasses = defaultClass, allowed
	return tenant
}

// acme returns the Tenant of the scenarios.
func acme() *appsv1alpha1.Tenant { return tenant(RootNamespace, "acme", "dc1", "dc1", "dc2") }

func expectTexts(t *testing.T, name string, review Review, errors, warnings []string) {
	t.Helper()
	var got []string
	for _, err := range review.Errors {
		got = append(got, err.Error())
	}
	if len(got) != len(errors) {
		t.Fatalf("%s: errors %q, want %q", name, got, errors)
	}
	for i := range errors {
		if got[i] != errors[i] {
			t.Errorf("%s: error %s, want %s", name, got[i], errors[i])
		}
	}
	if len(review.Warnings) != len(warnings) {
		t.Fatalf("%s: warnings %q, want %q", name, review.Warnings, warnings)
	}
	for i := range warnings {
		if review.Warnings[i] != warnings[i] {
			t.Errorf("%s: warning %s, want %s", name, review.Warnings[i], warnings[i])
		}
	}
}
