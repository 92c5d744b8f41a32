// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

// Admit returns what admission says of a policy, class or Tenant among the others. Live is the object that it replaces, or nil.
func Admit(among *Objects, live, object metav1.Object) (field.ErrorList, []string) {
	switch object := object.(type) {
	case *kupidv1alpha1.ClusterPodSchedulingPolicy:
		prepared := podscheduling.NewClusterPolicy(object)
		return prepared.Errors, prepared.Warnings
	case *kupidv1alpha1.PodSchedulingPolicy:
		prepared := podscheduling.NewPolicy(object)
		return prepared.Errors, prepared.Warnings
	case *cozystackv1alpha1.AffinityClass:
		old, _ := live.(*cozystackv1alpha1.AffinityClass)
		return checkClass(old, object), nil
	case *appsv1alpha1.Tenant:
		old, _ := live.(*appsv1alpha1.Tenant)
		review, err := affinityclass.CheckTenant(affinityclass.NewTree(among.Tenants), affinityclass.ClassesOf(among.Classes), old, object)
		if err != nil { // The classes are given, so that none has to be read.
			review.Errors = append(review.Errors, field.InternalError(field.NewPath("spec"), err))
		}
		return review.Errors, review.Warnings
	default:
		return nil, nil
	}
}

// ReadsSame reports whether policies and classes read the same of two states of a Namespace: its labels, and the classes of its Tenant.
func ReadsSame(one, other *corev1.Namespace) bool {
	return maps.Equal(one.Labels, other.Labels) &&
		one.Annotations[affinityclass.AllowedAnnotation] == other.Annotations[affinityclass.AllowedAnnotation]
}

// checkClass checks the rules of the CustomResourceDefinition that a schema cannot express: docs/spec/affinity-class.md 1.1.
func checkClass(old, class *cozystackv1alpha1.AffinityClass) field.ErrorList {
	var errs field.ErrorList
	if len(class.Name) > validation.LabelValueMaxLength {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), class.Name,
			fmt.Sprintf("must have at most %d characters, because the name becomes the value of a label", validation.LabelValueMaxLength)))
	}
	path := field.NewPath("spec", "nodeSelector")

	for _, key := range slices.Sorted(maps.Keys(class.Spec.NodeSelector)) {
		for _, rule := range validation.IsQualifiedName(key) {
			errs = append(errs, field.Invalid(path, key, rule))
		}
	}
	if old != nil && !maps.Equal(old.Spec.NodeSelector, class.Spec.NodeSelector) {
		errs = append(errs, field.Forbidden(path, "is immutable: create another AffinityClass"))
	}
	return errs
}
