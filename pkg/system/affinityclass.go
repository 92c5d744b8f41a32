// SPDX-License-Identifier: Apache-2.0

package system

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/controller"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/webhook"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

var (
	classes  = cozystackv1alpha1.GroupVersion.WithResource("affinityclasses")
	tenants  = appsv1alpha1.GroupVersion.WithResource("tenants")
	releases = affinityclass.ReleaseKind.GroupVersion().WithResource("helmreleases")
)

// affinityClass returns the system of AffinityClasses, Tenants and applications.
func affinityClass() systems.Entry {
	controllers := controller.New() // They share the informers of application kinds.
	const hint = "apply manifests/affinityclass, or leave the controllers affinityclass/* off"
	return systems.Entry{
		Name: "affinityclass",
		Groups: []systems.Group{
			{Name: cozystackv1alpha1.GroupName, Hint: hint}, {Name: appsv1alpha1.GroupName, Hint: hint},
			{Name: affinityclass.ReleaseKind.Group, Hint: "install Flux's helm-controller, or leave the controllers affinityclass/* off"},
		},
		Controllers: []systems.Controller{
			{Name: webhook.Controller, Webhook: affinityClasses, Served: classWebhook, Access: systems.Access{
				Reads: reads(classes, tenants, releases, namespaces), Rules: rules("affinityclass-webhook"),
			}},
			{Name: controller.Classes, Setup: controllers.Classes, Access: systems.Access{
				Reads: reads(classes, tenants, releases, definitions), Rules: rules("affinityclass-classes"),
			}},
			// The Secrets are watched by their name.
			{Name: controller.Tenants, Setup: controllers.Tenants, Access: systems.Access{
				Reads: reads(tenants, releases, namespaces), Rules: rules("affinityclass-tenants"),
			}},
			{Name: controller.Applications, Setup: controllers.Applications, Access: systems.Access{
				Reads: reads(classes, tenants, releases, definitions, namespaces), Rules: rules("affinityclass-applications"),
			}},
			{Name: controller.Namespaces, Setup: controllers.Namespaces, Access: systems.Access{
				Reads: reads(tenants, releases, definitions, namespaces), Rules: rules("affinityclass-namespaces"),
			}},
		},
		HubCache: cacheTenantSecrets, Compact: controller.Compact, Explains: true, Finalizers: classFinalizers(),
	}
}

// classWebhook is the webhook of AffinityClasses, without its handlers.
var classWebhook = webhookserver.Webhook{
	Validating: webhook.Configuration, Paths: []string{webhook.PodPath, webhook.TenantPath, webhook.ApplicationPath},
}

// affinityClasses returns the handlers of AffinityClasses.
func affinityClasses(mgr manager.Manager, s queue.Settings) (webhookserver.Webhook, error) {
	handlers, err := webhook.NewHandlers(mgr, s.Namespace, s.Clock)
	return webhookserver.Webhook{Handlers: handlers}, err
}

// cacheTenantSecrets adds the Secrets of Tenants to those that are cached, where their controller runs: a hub without it has no right to them.
func cacheTenantSecrets(options *cache.Options, enabled []string) {
	if !slices.Contains(enabled, controller.Tenants) {
		return
	}
	for object, secrets := range options.ByObject {
		if _, isSecret := object.(*corev1.Secret); isSecret {
			values := fields.OneTermEqualSelector(metav1.ObjectNameField, controller.ValuesSecret)
			secrets.Namespaces[cache.AllNamespaces] = cache.Config{FieldSelector: values}
		}
	}
}
