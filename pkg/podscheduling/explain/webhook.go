// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// anyValue matches all values in a rule of a webhook.
const anyValue = "*"

// notReviewed returns why the API server does not send an object to the webhook of policies: docs/spec/pod-scheduling-policy.md 2.1.2 leaves
// its rules and selectors to the administrator. It is empty if the object is sent, or if the configuration is not known.
func (e *Evaluator) notReviewed(kind WorkloadKind, object *unstructured.Unstructured, as admission) string {
	if e.objects.Webhook == nil {
		return ""
	}
	operation := admissionregistrationv1.Update
	if as == creation || kind.isPod() || kind.Kind == "Job" {
		operation = admissionregistrationv1.Create
	}
	reason := fmt.Sprintf("MutatingWebhookConfiguration %s has no webhook", e.objects.Webhook.Name)

	for i := range e.objects.Webhook.Webhooks {
		webhook := &e.objects.Webhook.Webhooks[i]
		switch {
		case !selects(webhook.NamespaceSelector, e.namespaceLabels(object.GetNamespace())):
			reason = fmt.Sprintf("the namespaceSelector of MutatingWebhookConfiguration %s leaves namespace %s out",
				e.objects.Webhook.Name, object.GetNamespace())
		case !selects(webhook.ObjectSelector, object.GetLabels()):
			reason = fmt.Sprintf("the objectSelector of MutatingWebhookConfiguration %s leaves it out", e.objects.Webhook.Name)
		case !slices.ContainsFunc(webhook.Rules, func(rule admissionregistrationv1.RuleWithOperations) bool {
			return covers(&rule, kind, operation)
		}):
			reason = fmt.Sprintf("MutatingWebhookConfiguration %s has no rule for %s of %s", e.objects.Webhook.Name, operation, kind.Resource)
		default:
			return ""
		}
	}

	return reason
}

// selects reports whether a selector of a webhook selects labels. An absent one selects everything.
func selects(selector *metav1.LabelSelector, given map[string]string) bool {
	if selector == nil {
		return true
	}
	compiled, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && compiled.Matches(labels.Set(given)) // The API server has validated it.
}

// covers reports whether a rule is about an operation on the objects of a kind. By matchPolicy Equivalent, the version does not matter.
func covers(rule *admissionregistrationv1.RuleWithOperations, kind WorkloadKind, operation admissionregistrationv1.OperationType) bool {
	return (slices.Contains(rule.Operations, operation) || slices.Contains(rule.Operations, admissionregistrationv1.OperationAll)) &&
		(slices.Contains(rule.APIGroups, kind.Group) || slices.Contains(rule.APIGroups, anyValue)) &&
		(slices.Contains(rule.Resources, kind.Resource) || slices.Contains(rule.Resources, anyValue))
}
