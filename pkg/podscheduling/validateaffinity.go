// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The fields of an affinity.
const (
	requiredField  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredField = "preferredDuringSchedulingIgnoredDuringExecution"
	termsField     = "nodeSelectorTerms"
)

// maxWeight is the greatest weight of a preferred term; the least is 1.
const maxWeight = 100

func validateAffinity(affinity *corev1.Affinity, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if affinity.NodeAffinity != nil {
		errs = append(errs, validateNodeAffinity(affinity.NodeAffinity, path.Child("nodeAffinity"))...)
	}
	if pods := affinity.PodAffinity; pods != nil {
		errs = append(errs, validatePodTerms(pods.RequiredDuringSchedulingIgnoredDuringExecution,
			pods.PreferredDuringSchedulingIgnoredDuringExecution, path.Child("podAffinity"))...)
	}
	if pods := affinity.PodAntiAffinity; pods != nil {
		errs = append(errs, validatePodTerms(pods.RequiredDuringSchedulingIgnoredDuringExecution,
			pods.PreferredDuringSchedulingIgnoredDuringExecution, path.Child("podAntiAffinity"))...)
	}

	return errs
}

func validateNodeAffinity(affinity *corev1.NodeAffinity, path *field.Path) (errs field.ErrorList) {
	if required := affinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		terms := path.Child(requiredField, termsField)
		if len(required.NodeSelectorTerms) == 0 {
			errs = append(errs, field.Required(terms, "must have at least one node selector term"))
		}
		for i, term := range required.NodeSelectorTerms {
			errs = append(errs, validateTerm(term, terms.Index(i), true)...)
		}
	}
	for i, preferred := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
		item := path.Child(preferredField).Index(i)
		errs = append(errs, validateWeight(preferred.Weight, item)...)
		// The API server allows values in preferred terms that no label has, as some clusters have always had them.
		errs = append(errs, validateTerm(preferred.Preference, item.Child("preference"), false)...)
	}

	return errs
}

func validateWeight(weight int32, path *field.Path) field.ErrorList {
	if weight <= 0 || weight > maxWeight {
		return field.ErrorList{field.Invalid(path.Child("weight"), weight, "must be in the range 1-100")}
	}
	return nil
}

// validateTerm checks a term; with labelValues also that each value can be that of a label.
func validateTerm(term corev1.NodeSelectorTerm, path *field.Path, labelValues bool) field.ErrorList {
	errs := make(field.ErrorList, 0, len(term.MatchExpressions)+len(term.MatchFields))
	for i, requirement := range term.MatchExpressions {
		errs = append(errs, validateRequirement(requirement, path.Child("matchExpressions").Index(i), labelValues)...)
	}
	for i, requirement := range term.MatchFields {
		errs = append(errs, validateFieldRequirement(requirement, path.Child("matchFields").Index(i))...)
	}
	return errs
}

func validateRequirement(requirement corev1.NodeSelectorRequirement, path *field.Path, labelValues bool) field.ErrorList {
	var errs field.ErrorList
	values := path.Child("values")
	switch requirement.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(requirement.Values) == 0 {
			errs = append(errs, field.Required(values, "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(requirement.Values) > 0 {
			errs = append(errs, field.Forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(requirement.Values) != 1 {
			errs = append(errs, field.Required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
		}
	default:
		errs = append(errs, field.Invalid(path.Child("operator"), requirement.Operator, "not a valid selector operator"))
	}
	errs = append(errs, metav1validation.ValidateLabelName(requirement.Key, path.Child("key"))...)
	if labelValues {
		for i, value := range requirement.Values {
			for _, message := range validation.IsValidLabelValue(value) {
				errs = append(errs, field.Invalid(values.Index(i), value, message))
			}
		}
	}

	return errs
}

func validateFieldRequirement(requirement corev1.NodeSelectorRequirement, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch requirement.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(requirement.Values) != 1 {
			errs = append(errs, field.Required(path.Child("values"),
				"must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
		}
	default:
		errs = append(errs, field.Invalid(path.Child("operator"), requirement.Operator, "not a valid selector operator"))
	}
	if requirement.Key != metav1.ObjectNameField {
		return append(errs, field.Invalid(path.Child("key"), requirement.Key, "not a valid field selector key"))
	}
	for i, value := range requirement.Values {
		errs = append(errs, validateName(value, path.Child("values").Index(i))...)
	}

	return errs
}

func validatePodTerms(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, path *field.Path) (errs field.ErrorList) {
	for i := range required {
		errs = append(errs, validatePodTerm(&required[i], path.Child(requiredField).Index(i))...)
	}
	for i := range preferred {
		item := path.Child(preferredField).Index(i)
		errs = append(errs, validateWeight(preferred[i].Weight, item)...)
		errs = append(errs, validatePodTerm(&preferred[i].PodAffinityTerm, item.Child("podAffinityTerm"))...)
	}
	return errs
}

func validatePodTerm(term *corev1.PodAffinityTerm, path *field.Path) field.ErrorList {
	errs := validateSelector(term.LabelSelector, path.Child("labelSelector"))
	errs = append(errs, validateSelector(term.NamespaceSelector, path.Child("namespaceSelector"))...)
	for _, name := range term.Namespaces {
		for _, message := range apivalidation.ValidateNamespaceName(name, false) {
			errs = append(errs, field.Invalid(path.Child("namespace"), name, message)) // The API server names the field so.
		}
	}
	errs = append(errs, validateLabelKeys(term.MatchLabelKeys, term.LabelSelector, path.Child("matchLabelKeys"))...)
	errs = append(errs, validateLabelKeys(term.MismatchLabelKeys, term.LabelSelector, path.Child("mismatchLabelKeys"))...)
	errs = append(errs, validateDistinctKeys(term, path)...)
	if term.TopologyKey == "" {
		errs = append(errs, field.Required(path.Child("topologyKey"), "can not be empty"))
	}

	return append(errs, metav1validation.ValidateLabelName(term.TopologyKey, path.Child("topologyKey"))...)
}

// validateLabelKeys checks that keys are those of labels, and that there is a selector for them to be added to.
func validateLabelKeys(keys []string, selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if len(keys) == 0 {
		return nil
	}
	if selector == nil {
		return field.ErrorList{field.Forbidden(path, "must not be specified when labelSelector is not set")}
	}
	var errs field.ErrorList
	for i, key := range keys {
		errs = append(errs, metav1validation.ValidateLabelName(key, path.Index(i))...)
	}
	return errs
}

// validateDistinctKeys checks that a key of matchLabelKeys is neither twice in the selector nor in mismatchLabelKeys.
func validateDistinctKeys(term *corev1.PodAffinityTerm, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if term.LabelSelector != nil {
		last := map[string]int{} // As in the API server, the last of equal keys is the one that is named.
		for i, key := range term.MatchLabelKeys {
			last[key] = i
		}
		selected := map[string]bool{}
		for key := range term.LabelSelector.MatchLabels {
			selected[key] = true
		}
		for _, expression := range term.LabelSelector.MatchExpressions {
			if i, named := last[expression.Key]; named && selected[expression.Key] {
				errs = append(errs, field.Invalid(path.Index(i), expression.Key, "exists in both matchLabelKeys and labelSelector"))
			}
			selected[expression.Key] = true
		}
	}
	for i, key := range term.MatchLabelKeys {
		if slices.Contains(term.MismatchLabelKeys, key) {
			errs = append(errs, field.Invalid(path.Child("matchLabelKeys").Index(i), key,
				"exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}

	return errs
}

// validateSelector is metav1validation.ValidateLabelSelector with a stable order.
func validateSelector(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if selector == nil {
		return nil
	}
	errs := validateLabels(selector.MatchLabels, path.Child("matchLabels"))
	return append(errs, metav1validation.ValidateLabelSelector(
		&metav1.LabelSelector{MatchExpressions: selector.MatchExpressions}, metav1validation.LabelSelectorValidationOptions{}, path)...)
}
