// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

const webhookManifests = "../manifests/webhook"

// The configurations name the Service, and that leads to the pods, by the names and paths that the program knows.
func TestWebhookIsReached(t *testing.T) {
	mutating := typedIn[admissionregistrationv1.MutatingWebhookConfiguration](t, webhookManifests, "MutatingWebhookConfiguration")
	validating := typedIn[admissionregistrationv1.ValidatingWebhookConfiguration](t, webhookManifests, "ValidatingWebhookConfiguration")
	for _, name := range []string{mutating.Name, validating.Name} {
		if name != webhook.Configuration {
			t.Errorf("a configuration is named %s, want %s", name, webhook.Configuration)
		}
	}
	got := []*admissionregistrationv1.ServiceReference{mutating.Webhooks[0].ClientConfig.Service, validating.Webhooks[0].ClientConfig.Service}
	reference := func(path string) *admissionregistrationv1.ServiceReference {
		return &admissionregistrationv1.ServiceReference{
			Namespace: manifests.Namespace, Name: webhookserver.Service, Path: ptr.To(path), Port: ptr.To[int32](443),
		}
	}
	want := []*admissionregistrationv1.ServiceReference{reference(webhook.MutatePath), reference(webhook.ValidatePath)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}

	service := serviceNamed(t, webhookserver.Service)
	if service.Namespace != manifests.Namespace ||
		len(service.Spec.Ports) != 1 || service.Spec.Ports[0].Port != 443 {
		t.Errorf("the Service is in namespace %s with ports %v", service.Namespace, service.Spec.Ports)
	}
	pod := typed[appsv1.Deployment](t, "Deployment").Spec.Template
	if !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(pod.Labels)) {
		t.Errorf("the Service selects %v, the pods have %v", service.Spec.Selector, pod.Labels)
	}
	reached := false
	for _, port := range pod.Spec.Containers[0].Ports {
		reached = reached || port.Name == service.Spec.Ports[0].TargetPort.StrVal && port.ContainerPort == 9443
	}
	if !reached {
		t.Errorf("the Service leads to port %s, which the container does not open at 9443", service.Spec.Ports[0].TargetPort.StrVal)
	}
}

// A pod that is to go answers until nobody is led to it any more, and has the time that it had without that.
func TestWebhookOutlivesItsEndpoint(t *testing.T) {
	pod := typed[appsv1.Deployment](t, "Deployment").Spec.Template.Spec
	lifecycle := pod.Containers[0].Lifecycle
	if lifecycle == nil || lifecycle.PreStop == nil || lifecycle.PreStop.Sleep == nil {
		t.Fatal("nothing waits before the container is stopped")
	}
	if lifecycle.PreStop.Sleep.Seconds != 5 {
		t.Errorf("it waits for %d s, want the 5 that docs/install.md tells", lifecycle.PreStop.Sleep.Seconds)
	}
	if grace := ptr.Deref(pod.TerminationGracePeriodSeconds, 30); grace != 30+lifecycle.PreStop.Sleep.Seconds {
		t.Errorf("terminationGracePeriodSeconds is %d, want 30 and the wait, which counts", grace)
	}
}

// What needs an answer is never let in without one, and nothing else is asked about.
func TestWebhookRules(t *testing.T) {
	mutating := typedIn[admissionregistrationv1.MutatingWebhookConfiguration](t, webhookManifests, "MutatingWebhookConfiguration").Webhooks[0]
	validating := typedIn[admissionregistrationv1.ValidatingWebhookConfiguration](t, webhookManifests, "ValidatingWebhookConfiguration").Webhooks[0]
	if ptr.Deref(mutating.ReinvocationPolicy, "") != admissionregistrationv1.NeverReinvocationPolicy {
		t.Error("reinvocationPolicy is not Never")
	}
	for _, w := range []admissionregistrationv1.ValidatingWebhook{
		validating,
		{
			Name: mutating.Name, FailurePolicy: mutating.FailurePolicy, SideEffects: mutating.SideEffects, TimeoutSeconds: mutating.TimeoutSeconds,
			Rules: mutating.Rules, MatchConditions: mutating.MatchConditions,
		},
	} {
		if ptr.Deref(w.FailurePolicy, "") != admissionregistrationv1.Fail ||
			ptr.Deref(w.SideEffects, "") != admissionregistrationv1.SideEffectClassNone ||
			ptr.Deref(w.TimeoutSeconds, 0) != 10 || len(w.MatchConditions) != 1 {
			t.Errorf("%s: want failurePolicy Fail, sideEffects None, timeoutSeconds 10 and a match condition", w.Name)
		}
		want := []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{"cluster.open-cluster-management.io"}, APIVersions: []string{"v1"}, Resources: []string{"managedclusters"},
				Scope: ptr.To(admissionregistrationv1.ClusterScope),
			},
		}}
		if diff := cmp.Diff(want, w.Rules); diff != "" {
			t.Errorf("%s: rules (-want +got):\n%s", w.Name, diff)
		}
	}
}
