package system

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/controller"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/webhook"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	cozystackappsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

const affinityClassSystem = "affinityclass"

var (
	classes  = cozystackv1alpha1.GroupVersion.WithResource("affinityclasses")
	tenants  = cozystackappsv1alpha1.GroupVersion.WithResource("tenants")
	releases = affinityclass.ReleaseKind.GroupVersion().WithResource("helmreleases")
)

// affinityClassControllers returns the controllers of AffinityClasses, Tenants and applications.
func affinityClassControllers() []entry {
	controllers := controller.New() // They share the informers of application kinds.

	return []entry{
		{name: webhook.Controller, system: affinityClassSystem, webhook: affinityClasses, served: classWebhook, access: Access{
			reads(classes, tenants, releases, namespaces), rules("affinityclass-webhook"),
		}},
		{name: controller.Classes, system: affinityClassSystem, setup: controllers.Classes, access: Access{
			reads(classes, tenants, releases, definitions), rules("affinityclass-classes"),
		}},
		// The Secrets are watched by their name.
		{name: controller.Tenants, system: affinityClassSystem, setup: controllers.Tenants, access: Access{
			reads(tenants, releases, namespaces), rules("affinityclass-tenants"),
		}},
		{name: controller.Applications, system: affinityClassSystem, setup: controllers.Applications, access: Access{
			reads(classes, tenants, releases, definitions, namespaces), rules("affinityclass-applications"),
		}},
		{name: controller.Namespaces, system: affinityClassSystem, setup: controllers.Namespaces, access: Access{
			reads(tenants, releases, definitions, namespaces), rules("affinityclass-namespaces"),
		}},
	}
}

// classWebhook is the webhook of AffinityClasses, without its handlers.
var classWebhook = webhookserver.Webhook{
	Validating: webhook.Configuration, Manifests: "manifests/affinityclass",
	Paths: []string{webhook.PodPath, webhook.TenantPath, webhook.ApplicationPath},
}

// affinityClasses returns the handlers of AffinityClasses.
func affinityClasses(mgr manager.Manager, s queue.Settings) (webhookserver.Webhook, error) {
	handlers, err := webhook.NewHandlers(mgr, s.Namespace, s.Clock)

	return webhookserver.Webhook{Handlers: handlers}, err
}

// addTenantSecrets adds the Secrets of Tenants to those that are cached, where their controller runs: a hub without it has no right to them.
func addTenantSecrets(secrets cache.ByObject, enabled []string) {
	if slices.Contains(enabled, controller.Tenants) {
		values := fields.OneTermEqualSelector(metav1.ObjectNameField, controller.ValuesSecret)
		secrets.Namespaces[cache.AllNamespaces] = cache.Config{FieldSelector: values}
	}
}

// compactAffinityClass makes the objects of this system small before they are cached.
func compactAffinityClass(object any) { controller.Compact(object) }
