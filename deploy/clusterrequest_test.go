// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/webhook"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

// Nobody can write the requester of an AccessRequest: docs/spec/cluster-request.md 4.1.6.
func TestWebhookOfAccessRequests(t *testing.T) {
	const dir = "../manifests/clusterrequest"

	mutating := typedIn[admissionregistrationv1.MutatingWebhookConfiguration](t, dir, "MutatingWebhookConfiguration")
	if mutating.Name != webhook.Configuration || len(mutating.Webhooks) != 1 {
		t.Fatalf("%s has %d webhooks, want %s with one", mutating.Name, len(mutating.Webhooks), webhook.Configuration)
	}

	want := admissionregistrationv1.MutatingWebhook{
		Name: "requester.accessrequests.placement-hub.open-cluster-management.io", AdmissionReviewVersions: []string{"v1"},
		ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{
			Namespace: manifests.Namespace, Name: webhookserver.Service, Path: ptr.To(webhook.Path), Port: ptr.To[int32](443),
		}},
		FailurePolicy: ptr.To(admissionregistrationv1.Fail), MatchPolicy: ptr.To(admissionregistrationv1.Equivalent),
		ReinvocationPolicy: ptr.To(admissionregistrationv1.IfNeededReinvocationPolicy),
		SideEffects:        ptr.To(admissionregistrationv1.SideEffectClassNone), TimeoutSeconds: ptr.To[int32](10),
		MatchConditions: mutating.Webhooks[0].MatchConditions, // The specs of test/integration/clusterrequest are about them.
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{"cluster.openmcp.cloud"}, APIVersions: []string{"v1alpha1"}, Resources: []string{"accessrequests"},
				Scope: ptr.To(admissionregistrationv1.NamespacedScope),
			},
		}},
	}
	if diff := cmp.Diff(want, mutating.Webhooks[0]); diff != "" {
		t.Errorf("the webhook (-want +got):\n%s", diff)
	}
}
