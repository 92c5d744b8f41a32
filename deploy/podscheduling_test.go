// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
	"github.com/placement-hub/placement-hub/pkg/podscheduling/webhook"
)

// docs/spec/pod-scheduling-policy.md 2.1.6 and 2.1.2.
func TestWebhooksOfPodSchedulingPolicies(t *testing.T) {
	const dir = "../manifests/podscheduling"
	mutating := typedIn[admissionregistrationv1.MutatingWebhookConfiguration](t, dir, "MutatingWebhookConfiguration")
	validating := typedIn[admissionregistrationv1.ValidatingWebhookConfiguration](t, dir, "ValidatingWebhookConfiguration")
	if mutating.Name != webhook.Configuration || validating.Name != webhook.Configuration {
		t.Errorf("the configurations are %s and %s, want both %s", mutating.Name, validating.Name, webhook.Configuration)
	}
	client := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{
			Namespace: manifests.Namespace, Name: webhookserver.Service, Path: ptr.To(path), Port: ptr.To[int32](443),
		}}
	}
	rule := func(scope admissionregistrationv1.ScopeType, group, version string, operations []admissionregistrationv1.OperationType,
		resources ...string,
	) admissionregistrationv1.RuleWithOperations {
		return admissionregistrationv1.RuleWithOperations{Operations: operations, Rule: admissionregistrationv1.Rule{
			APIGroups: []string{group}, APIVersions: []string{version}, Resources: resources, Scope: &scope,
		}}
	}
	created := []admissionregistrationv1.OperationType{"CREATE"}
	written := []admissionregistrationv1.OperationType{"CREATE", "UPDATE"}
	const namespaced = admissionregistrationv1.NamespacedScope
	if diff := cmp.Diff([]admissionregistrationv1.MutatingWebhook{{
		Name: "mutate.kupid.gardener.cloud", ClientConfig: client("/mutate-podscheduling"), AdmissionReviewVersions: []string{"v1"},
		FailurePolicy: ptr.To(admissionregistrationv1.Ignore), MatchPolicy: ptr.To(admissionregistrationv1.Equivalent),
		ReinvocationPolicy: ptr.To(admissionregistrationv1.IfNeededReinvocationPolicy),
		SideEffects:        ptr.To(admissionregistrationv1.SideEffectClassNoneOnDryRun), TimeoutSeconds: ptr.To[int32](15),
		NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "role", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"kube-system"}},
			{Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"kube-system", manifests.Namespace}},
		}},
		Rules: []admissionregistrationv1.RuleWithOperations{
			rule(namespaced, "", "v1", created, "pods"),
			rule(namespaced, "", "v1", written, "replicationcontrollers"),
			rule(namespaced, "apps", "v1", written, "deployments", "statefulsets", "daemonsets", "replicasets"),
			rule(namespaced, "batch", "v1", created, "jobs"),
			rule(namespaced, "batch", "v1", written, "cronjobs"),
		},
	}}, mutating.Webhooks); diff != "" {
		t.Errorf("mutating (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]admissionregistrationv1.ValidatingWebhook{{
		Name: "validate.kupid.gardener.cloud", ClientConfig: client("/validate-podschedulingpolicy"), AdmissionReviewVersions: []string{"v1"},
		FailurePolicy: ptr.To(admissionregistrationv1.Ignore), MatchPolicy: ptr.To(admissionregistrationv1.Equivalent),
		SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), TimeoutSeconds: ptr.To[int32](15),
		Rules: []admissionregistrationv1.RuleWithOperations{
			rule(admissionregistrationv1.AllScopes, "kupid.gardener.cloud", "v1alpha1", written,
				"podschedulingpolicies", "clusterpodschedulingpolicies"),
		},
	}}, validating.Webhooks); diff != "" {
		t.Errorf("validating (-want +got):\n%s", diff)
	}
}
