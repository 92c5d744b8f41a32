package pods

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/objectlist"
	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

// Apply creates or replaces policies, classes, Tenants and all other objects of a change, and returns the objects after it and what admission
// says of the policies, classes and Tenants. An object that admission refuses is not applied. Apply does not modify its arguments.
func Apply(before, change *Objects) (*Objects, []Applied) {
	after := *before
	after.Namespaces = objectlist.Overlay(before.Namespaces, change.Namespaces)
	after.Nodes = objectlist.Overlay(before.Nodes, change.Nodes)
	after.Workloads = objectlist.Overlay(before.Workloads, change.Workloads)
	after.Releases = objectlist.Overlay(before.Releases, change.Releases)
	after.Applications = objectlist.Overlay(before.Applications, change.Applications)

	var applied []Applied

	for _, policy := range change.ClusterPolicies {
		prepared := podscheduling.NewClusterPolicy(policy)
		after.ClusterPolicies = admit(after.ClusterPolicies, policy, &applied, prepared.String(), prepared.Errors, prepared.Warnings)
	}

	for _, policy := range change.Policies {
		prepared := podscheduling.NewPolicy(policy)
		after.Policies = admit(after.Policies, policy, &applied, prepared.String(), prepared.Errors, prepared.Warnings)
	}

	for _, class := range change.Classes {
		errs := checkClass(objectlist.Find(after.Classes, class), class)
		after.Classes = admit(after.Classes, class, &applied, "AffinityClass "+class.Name, errs, nil)
	}

	for _, tenant := range change.Tenants {
		tree, before := affinityclass.NewTree(after.Tenants), objectlist.Find(after.Tenants, tenant)

		review, err := affinityclass.CheckTenant(tree, affinityclass.ClassesOf(after.Classes), before, tenant)
		if err != nil { // The classes are given, so that none has to be read.
			review.Errors = append(review.Errors, field.InternalError(field.NewPath("spec"), err))
		}

		after.Tenants = admit(after.Tenants, tenant, &applied, "Tenant "+tenant.Namespace+"/"+tenant.Name, review.Errors, review.Warnings)
	}

	return &after, applied
}

// admit adds an object to a list, or replaces the one of its name, unless there are errors.
func admit[T metav1.Object](list []T, object T, applied *[]Applied, name string, errs field.ErrorList, warnings []string) []T {
	result := Applied{Object: name, Warnings: warnings}
	if at := objectlist.Index(list, object); at < 0 {
		result.New = true
	} else {
		result.Unchanged = apiequality.Semantic.DeepEqual(specIn(list[at]), specIn(object))
	}

	for _, err := range errs {
		result.Refused = append(result.Refused, err.Error())
	}

	*applied = append(*applied, result)

	if len(errs) > 0 {
		return list
	}

	return objectlist.Overlay(list, []T{object})
}

// ReadsSame reports whether policies and classes read the same of two states of a Namespace: its labels, and the classes of its Tenant.
func ReadsSame(one, other *corev1.Namespace) bool {
	return maps.Equal(one.Labels, other.Labels) &&
		one.Annotations[affinityclass.AllowedAnnotation] == other.Annotations[affinityclass.AllowedAnnotation]
}

// specIn returns the spec of a policy, class or Tenant.
func specIn(object any) any {
	switch object := object.(type) {
	case *kupidv1alpha1.ClusterPodSchedulingPolicy:
		return object.Spec
	case *kupidv1alpha1.PodSchedulingPolicy:
		return object.Spec
	case *cozystackv1alpha1.AffinityClass:
		return object.Spec
	case *appsv1alpha1.Tenant:
		return object.Spec
	default:
		return object
	}
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
