// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/placement-hub/placement-hub/manifests"
)

// shippedWebhook is the configuration of the manifests.
func shippedWebhook(t *testing.T) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	objects, err := manifests.System("podscheduling", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if object.GetKind() == "MutatingWebhookConfiguration" {
			configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, configuration); err != nil {
				t.Fatal(err)
			}
			return configuration
		}
	}
	t.Fatal("there is no MutatingWebhookConfiguration")

	return nil
}

// docs/spec/pod-scheduling-policy.md 2.1.2, 2.1.6: which objects are mutated is chosen in the MutatingWebhookConfiguration.
func TestWhatTheWebhookDoesNotReviewIsExempt(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: NS, labels: {app: etcd}}\nspec: {}\n"
	const policy = policyHead + "metadata: {name: p}\nspec:\n" + selectsEtcd + "  nodeSelector: {a: b}\n---\n"
	of := "MutatingWebhookConfiguration open-cluster-management-placement-hub-podscheduling"
	for _, tc := range []struct {
		reason, namespace, want string
		edit                    func(*admissionregistrationv1.MutatingWebhook)
		isNew                   bool
	}{
		{reason: "the shipped rules cover existing Pods, whose creation is reviewed", namespace: "a"},
		{reason: "K26: kube-system", namespace: "kube-system", isNew: true,
			want: "the namespaceSelector of " + of + " leaves namespace kube-system out"},
		{
			reason: "K36: the administrator has removed the rule for Pods", namespace: "a", want: of + " has no rule for CREATE of pods",
			edit: func(webhook *admissionregistrationv1.MutatingWebhook) { webhook.Rules = webhook.Rules[1:] },
		},
		{
			reason: "an objectSelector", namespace: "a", want: "the objectSelector of " + of + " leaves it out",
			edit: func(webhook *admissionregistrationv1.MutatingWebhook) {
				webhook.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"policies": "yes"}}
			},
		},
		{
			reason: "rules for everything", namespace: "a",
			edit: func(webhook *admissionregistrationv1.MutatingWebhook) {
				webhook.Rules = []admissionregistrationv1.RuleWithOperations{{
					Operations: []admissionregistrationv1.OperationType{"*"},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
				}}
			},
		},
	} {
		objects := parse(t, policy+pod)
		objects.Workloads[0].SetNamespace(tc.namespace)
		objects.Webhook = shippedWebhook(t)
		if tc.edit != nil {
			tc.edit(&objects.Webhook.Webhooks[0])
		}
		report, err := NewEvaluator(objects).Explain(objects.Workloads[0], tc.isNew)
		if err != nil {
			t.Fatal(err)
		}
		if report.Exempt != tc.want || (len(report.Policies[0].Adds) == 0) != (tc.want != "") {
			t.Errorf("%s: exempt %q, want %q; adds %q", tc.reason, report.Exempt, tc.want, report.Policies[0].Adds)
		}
	}

	// The Pods of a Deployment in a namespace that is left out get nothing either, and one of a kind without a rule gets nothing at its update.
	objects := parse(t, policy+"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: kube-system}\n"+
		"spec: {template: {metadata: {labels: {app: etcd}}, spec: {}}}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}")
	objects.Webhook = shippedWebhook(t)
	report, err := NewEvaluator(objects).Explain(objects.Workloads[0], false)
	if err != nil {
		t.Fatal(err)
	}
	if report.Exempt == "" || len(report.Drift) > 0 || len(report.Nodes.Fit) != 1 {
		t.Errorf("exempt %q, drift %q, nodes %+v", report.Exempt, report.Drift, report.Nodes)
	}
}
