package system

import (
	"cmp"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
	"github.com/placement-hub/placement-hub/pkg/podscheduling/controller"
	"github.com/placement-hub/placement-hub/pkg/podscheduling/webhook"
)

const podSchedulingSystem = "podscheduling"

// podSchedulingControllers returns the controllers of pod scheduling policies.
func (o Options) podSchedulingControllers() []entry {
	return []entry{
		{name: webhook.Controller, system: podSchedulingSystem, webhook: o.podScheduling, served: o.policyWebhook(), access: Access{
			reads(policyResource("podschedulingpolicies"), policyResource("clusterpodschedulingpolicies"), namespaces),
			rules("podscheduling"),
		}},
		{name: controller.Limits, system: podSchedulingSystem, setup: controller.SetupLimits, access: Access{
			reads(policyResource("podschedulingpolicies"), definitions), rules("podscheduling-limits"),
		}},
	}
}

func policyResource(resource string) schema.GroupVersionResource {
	return kupidv1alpha1.GroupVersion.WithResource(resource)
}

// policyWebhook returns the webhooks of pod scheduling policies, without their handlers.
func (o Options) policyWebhook() webhookserver.Webhook {
	return webhookserver.Webhook{
		Mutating: webhook.Configuration, Validating: webhook.Configuration, Manifests: "manifests/podscheduling",
		FailurePolicy: ptr.To(cmp.Or(o.PolicyFailure, admissionregistrationv1.Ignore)),
		Paths:         []string{webhook.MutatePath, webhook.ValidatePath},
	}
}

// podScheduling returns the handlers of pod scheduling policies.
func (o Options) podScheduling(mgr manager.Manager, _ queue.Settings) (webhookserver.Webhook, error) {
	handlers, err := controller.Handlers(mgr)

	return webhookserver.Webhook{Handlers: handlers}, err
}
