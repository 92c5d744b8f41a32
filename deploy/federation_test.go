// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/federation/webhook"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

const federationManifests = "../manifests/federation"

// The webhook sees each kind that is delivered and the Namespaces that take part, and an API server never waits for it.
func TestWebhookOfFederatedObjects(t *testing.T) {
	validating := typedIn[admissionregistrationv1.ValidatingWebhookConfiguration](t, federationManifests, "ValidatingWebhookConfiguration")
	if validating.Name != webhook.Configuration || len(validating.Webhooks) != 1 {
		t.Fatalf("%s has %d webhooks, want %s with one", validating.Name, len(validating.Webhooks), webhook.Configuration)
	}

	got := validating.Webhooks[0]
	want := admissionregistrationv1.ValidatingWebhook{
		Name: "annotations.federation.placement-hub.open-cluster-management.io", AdmissionReviewVersions: []string{"v1"},
		ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{
			Namespace: manifests.Namespace, Name: webhookserver.Service, Path: ptr.To(webhook.Path), Port: ptr.To[int32](443),
		}},
		FailurePolicy: ptr.To(admissionregistrationv1.Ignore), MatchPolicy: ptr.To(admissionregistrationv1.Equivalent),
		SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), TimeoutSeconds: ptr.To[int32](3),
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{federation.FederatedLabel: "true"}},
		MatchConditions:   got.MatchConditions, // The specs of test/integration/federationwebhook are about them.
		Rules:             got.Rules,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the webhook (-want +got):\n%s", diff)
	}

	wanted := []string{"/namespaces"}
	for _, kind := range federation.DefaultKinds() {
		wanted = append(wanted, kind.Group+"/"+kind.Resource)
	}

	var ruled []string

	for _, rule := range got.Rules {
		if diff := cmp.Diff([]admissionregistrationv1.OperationType{"CREATE", "UPDATE"}, rule.Operations); diff != "" {
			t.Errorf("operations (-want +got):\n%s", diff)
		}

		for _, resource := range rule.Resources {
			ruled = append(ruled, rule.APIGroups[0]+"/"+resource)
		}
	}

	slices.Sort(wanted)
	slices.Sort(ruled)

	if diff := cmp.Diff(wanted, ruled); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

// The hub may read and patch each kind that is delivered, and neither create nor delete one.
func TestRightsOverFederatedKinds(t *testing.T) {
	roles, err := manifests.Roles()
	if err != nil {
		t.Fatal(err)
	}

	for _, kind := range federation.DefaultKinds() {
		var verbs []string

		for _, rule := range roles["federation"].Cluster {
			if slices.Contains(rule.APIGroups, kind.Group) && slices.Contains(rule.Resources, kind.Resource) {
				verbs = append(verbs, rule.Verbs...)
			}
		}

		if diff := cmp.Diff([]string{"get", "list", "watch", "patch"}, verbs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind.Resource, diff)
		}
	}
}

// ManifestWorks hold Secrets, so that no role of Kubernetes may get the right to read them by aggregation.
func TestReadingManifestWorksIsGrantedToNobody(t *testing.T) {
	for _, obj := range decode(t, federationManifests+"/people.yaml") {
		if obj.GetKind() != "ClusterRole" || len(obj.GetLabels()) > 0 {
			t.Errorf("%s has the labels %v, want a ClusterRole without any", id(obj), obj.GetLabels())
		}
	}

	for _, binding := range build(t, federationManifests) {
		if binding.GetKind() != "ClusterRoleBinding" && binding.GetKind() != "RoleBinding" {
			continue
		}

		subjects, _, err := unstructured.NestedSlice(binding.Object, "subjects")
		if err != nil {
			t.Fatal(err)
		}

		want := []any{map[string]any{"kind": "ServiceAccount", "name": manifests.ServiceAccount, "namespace": manifests.Namespace}}
		if diff := cmp.Diff(want, subjects); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id(binding), diff)
		}
	}
}
