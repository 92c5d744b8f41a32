// SPDX-License-Identifier: Apache-2.0

package system

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
	"github.com/placement-hub/placement-hub/pkg/podscheduling/controller"
	"github.com/placement-hub/placement-hub/pkg/podscheduling/webhook"
)

// PolicyFailureFlag is the flag of Options.PolicyFailure.
const PolicyFailureFlag = "webhook-failure-policy"

// podScheduling returns the system of pod scheduling policies.
func (o *Options) podScheduling() systems.Entry {
	return systems.Entry{
		Name: "podscheduling",
		Groups: []systems.Group{
			{Name: kupidv1alpha1.GroupName, Hint: "apply manifests/podscheduling, or leave the controller podscheduling/webhook off"},
		},
		Controllers: []systems.Controller{
			{Name: webhook.Controller, Webhook: policyHandlers, Served: o.policyWebhook(), Access: systems.Access{
				Reads: reads(policyResource("podschedulingpolicies"), policyResource("clusterpodschedulingpolicies"), namespaces),
				Rules: rules("podscheduling"),
			}},
			{Name: controller.Limits, Setup: controller.SetupLimits, Access: systems.Access{
				Reads: reads(policyResource("podschedulingpolicies"), definitions), Rules: rules("podscheduling-limits"),
			}},
		},
		Flags: o.addPolicyFlag, Validate: o.validatePolicyFailure, Explains: true,
		Sample: &systems.Sample{
			Name: "pods", Short: "pods has nodes, policies, classes and workloads", Controllers: []string{"podscheduling/*", "affinityclass/*"},
			Alone:        "which needs Nodes without kubelets and a kube-scheduler of its own",
			NoPlacements: true, Scheduler: true,
			Text: `With --sample=pods the hub shows where Pods may run instead: the control plane has kube-scheduler, six Nodes without
kubelets, pod scheduling policies, AffinityClasses and a tenant, the controllers are those of the systems podscheduling
and affinityclass, and the table has the workloads, the nodes that their Pods are bound to, and what policies and classes
make of them. The kinds of placements are not installed.`,
			Example: `  # Where Pods may run: policies that are injected, classes that are verified
  placement run --sample=pods --once`,
		},
	}
}

func (o *Options) addPolicyFlag(fs *pflag.FlagSet) {
	fs.StringVar((*string)(&o.PolicyFailure), PolicyFailureFlag, string(o.PolicyFailure),
		"Failure policy of the webhooks of pod scheduling policies: Ignore admits what the hub cannot review, Fail refuses it.")
}

func (o *Options) validatePolicyFailure() error {
	if policy := o.PolicyFailure; policy != admissionregistrationv1.Ignore && policy != admissionregistrationv1.Fail {
		return fmt.Errorf("--%s: %q is not a failure policy; use %s or %s",
			PolicyFailureFlag, policy, admissionregistrationv1.Ignore, admissionregistrationv1.Fail)
	}
	return nil
}

func policyResource(resource string) schema.GroupVersionResource {
	return kupidv1alpha1.GroupVersion.WithResource(resource)
}

// policyWebhook returns the webhooks of pod scheduling policies, without their handlers.
func (o *Options) policyWebhook() webhookserver.Webhook {
	return webhookserver.Webhook{
		Mutating: webhook.Configuration, Validating: webhook.Configuration,
		FailurePolicy: ptr.To(cmp.Or(o.PolicyFailure, admissionregistrationv1.Ignore)),
		Paths:         []string{webhook.MutatePath, webhook.ValidatePath},
	}
}

// policyHandlers returns the handlers of pod scheduling policies.
func policyHandlers(mgr manager.Manager, _ queue.Settings) (webhookserver.Webhook, error) {
	handlers, err := controller.Handlers(mgr)
	return webhookserver.Webhook{Handlers: handlers}, err
}
