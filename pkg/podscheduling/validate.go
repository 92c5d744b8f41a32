// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate checks constraints with the rules, field paths and texts that the API server has for the fields of a Pod
// (https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/apis/core/validation/validation.go), and schedulerName, which the API server
// does not check, as a DNS subdomain: docs/spec/pod-scheduling-policy.md 2.1.7. The errors have a stable order.
func (c *Constraints) Validate(path *field.Path) field.ErrorList {
	errs := validateLabels(c.NodeSelector, path.Child("nodeSelector"))
	if c.NodeName != "" {
		errs = append(errs, validateName(c.NodeName, path.Child("nodeName"))...)
	}
	if c.Affinity != nil {
		errs = append(errs, validateAffinity(c.Affinity, path.Child("affinity"))...)
	}
	if c.SchedulerName != "" {
		errs = append(errs, validateName(c.SchedulerName, path.Child("schedulerName"))...)
	}
	return append(errs, validateTolerations(c.Tolerations, path.Child("tolerations"))...)
}

// standardFinalizers are the finalizers without a domain that the API server knows.
var standardFinalizers = []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}

// validateMetadata checks the metadata of a policy. Other than for custom resources in general, finalizers without a domain are errors.
func validateMetadata(meta *metav1.ObjectMeta, namespaced bool) field.ErrorList {
	path := field.NewPath("metadata")
	errs := apivalidation.ValidateObjectMeta(meta, namespaced, apivalidation.NameIsDNSSubdomain, path)
	for i, finalizer := range meta.Finalizers {
		qualified := strings.Contains(finalizer, "/") || len(validation.IsQualifiedName(finalizer)) > 0 // The latter is reported above.
		if !qualified && !slices.Contains(standardFinalizers, finalizer) {
			errs = append(errs, field.Invalid(path.Child("finalizers").Index(i), finalizer,
				"name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

// validateLabels is metav1validation.ValidateLabels with a stable order.
func validateLabels(labels map[string]string, path *field.Path) (errs field.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		errs = append(errs, metav1validation.ValidateLabels(map[string]string{key: labels[key]}, path)...)
	}
	return errs
}

// validateName checks the name of a node or of a scheduler.
func validateName(name string, path *field.Path) field.ErrorList {
	messages := apivalidation.NameIsDNSSubdomain(name, false)
	errs := make(field.ErrorList, 0, len(messages))
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, name, message))
	}
	return errs
}

func validateTolerations(tolerations []corev1.Toleration, path *field.Path) (errs field.ErrorList) {
	for i := range tolerations {
		errs = append(errs, validateToleration(&tolerations[i], path.Index(i))...)
	}
	return errs
}

func validateToleration(toleration *corev1.Toleration, path *field.Path) (errs field.ErrorList) {
	if toleration.Key != "" {
		errs = append(errs, metav1validation.ValidateLabelName(toleration.Key, path.Child("key"))...)
	} else if toleration.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Invalid(path.Child("operator"), toleration.Operator,
			"operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
	}
	if toleration.TolerationSeconds != nil && toleration.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(path.Child("effect"), toleration.Effect,
			"effect must be 'NoExecute' when `tolerationSeconds` is set"))
	}
	errs = append(errs, validateTolerationOperator(toleration, path)...)
	switch toleration.Effect {
	case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		errs = append(errs, field.NotSupported(path.Child("effect"), toleration.Effect,
			[]corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}))
	}

	return errs
}

func validateTolerationOperator(toleration *corev1.Toleration, path *field.Path) field.ErrorList {
	errs := field.ErrorList{}
	switch toleration.Operator {
	case corev1.TolerationOpEqual, "":
		if messages := validation.IsValidLabelValue(toleration.Value); len(messages) > 0 {
			errs = append(errs, field.Invalid(path.Child("operator"), toleration.Value, strings.Join(messages, ";")))
		}
	case corev1.TolerationOpExists:
		if toleration.Value != "" {
			errs = append(errs, field.Invalid(path.Child("operator"), toleration.Value, "value must be empty when `operator` is 'Exists'"))
		}
	case corev1.TolerationOpLt, corev1.TolerationOpGt:
		// The API server accepts these two only with the alpha feature TaintTolerationComparisonOperators, and would refuse the Pods.
		errs = append(errs, field.NotSupported(path.Child("operator"), toleration.Operator, []corev1.TolerationOperator{
			corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt,
		}))
	default:
		errs = append(errs, field.NotSupported(path.Child("operator"), toleration.Operator,
			[]corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
	}

	return errs
}
