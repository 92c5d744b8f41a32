// SPDX-License-Identifier: Apache-2.0

package system

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/federation/controller"
	"github.com/placement-hub/placement-hub/pkg/federation/webhook"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

// FederatedKindsFlag is the flag of Options.FederatedKinds.
const FederatedKindsFlag = "federated-kinds"

// federation returns the system of federated objects.
func (o *Options) federation(shared *sharedinventory.Shared) systems.Entry {
	federated := federationSetup{o.federationOptions(shared)} // They share an index.

	all := inventoryReads(clusterResource(clusterv1beta1.GroupVersion.Version, "placements"),
		clusterResource(clusterv1beta1.GroupVersion.Version, "placementdecisions"), namespaces,
		schema.GroupVersion(workv1.GroupVersion).WithResource("manifestworks"))
	return systems.Entry{
		Name: "federation",
		Groups: []systems.Group{{
			Name: workv1.GroupName,
			Hint: "apply manifests/manifestworks or install Open Cluster Management's work manager, or leave the controllers federation/* off",
		}},
		Controllers: []systems.Controller{
			{Name: controller.Objects, Setup: federated.Setup, Access: systems.Access{Reads: slices.Clone(all), Rules: rules("federation")}},
			{Name: webhook.Controller, Webhook: federated.webhook, Served: federationWebhook, Access: systems.Access{
				Reads: slices.Clone(all), Rules: rules("federation-webhook"),
			}},
		},
		Flags: o.addFederationFlags, Validate: o.validateFederatedKinds, Unused: o.unusedFederatedKinds,
		Added: &systems.AddedKinds{
			Flag: FederatedKindsFlag, Resources: o.FederatedResources, Verbs: []string{"get", "list", "watch", "patch"},
			Parse: func() ([]schema.GroupVersionKind, error) { return federation.ParseKinds(o.FederatedKinds) },
			Hint: "grant these rights by a ClusterRole with the label federation.kubernetes.io/aggregate-to-federated-kinds=true, which " +
				"manifests/federation binds to the hub, or leave the kinds out of --federated-kinds",
		},
		Cache: cacheManagedWorks, ReadsInventory: true, Finalizers: federationFinalizers(),
		Sample: &systems.Sample{
			Short: "federation has three members and objects that are delivered to them",
			// The samples say themselves which clusters are available, and name their sets.
			Controllers: []string{"*", "-" + clusterTaints, "-" + clusterDefaults, "federation/*"},
			Alone:       "which starts members of its own", WorkAgent: true,
			Text: `With --sample=federation the hub delivers objects to members: three more API servers with the work agent of Open Cluster
Management, whose clusters have labels, and six objects in a namespace that takes part. The table has the objects and the
clusters; it follows 'kubectl label managedcluster'.`,
			Example: `  # Objects that follow the labels of three members
  placement run --sample=federation`,
		},
	}
}

func (o *Options) addFederationFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.FederatedKinds, FederatedKindsFlag, o.FederatedKinds,
		"Kinds of namespaced objects to deliver to member clusters beyond "+DefaultFederatedKinds()+": group/version/Kind, such as "+
			"batch/v1/CronJob, or v1/Kind for the core group. The process needs the rights to get, list, watch and patch each. "+
			"While the API server does not serve one of them, the federation is off.")
}

// DefaultFederatedKinds lists the kinds that are delivered without the flag.
func DefaultFederatedKinds() string {
	kinds := federation.DefaultKinds()
	names := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		names = append(names, kind.Kind)
	}
	return strings.Join(names, ", ")
}

func (o *Options) validateFederatedKinds() error {
	if _, err := federation.ParseKinds(o.FederatedKinds); err != nil {
		return fmt.Errorf("--%s: %w", FederatedKindsFlag, err)
	}
	return nil
}

func (o *Options) unusedFederatedKinds(enabled []string) error {
	isFederation := func(name string) bool { return strings.HasPrefix(name, "federation/") }
	if len(o.FederatedKinds) > 0 && !slices.ContainsFunc(enabled, isFederation) {
		return fmt.Errorf("--%s has no effect without the controllers of federation; add federation/* to --controllers, or leave the flag out",
			FederatedKindsFlag)
	}
	return nil
}

// cacheManagedWorks has the informer of ManifestWorks list those of the hub.
func cacheManagedWorks(options *cache.Options) {
	options.ByObject = map[client.Object]cache.ByObject{&workv1.ManifestWork{}: managedWorks()}
}

// managedWorks returns the settings of the informer of ManifestWorks.
func managedWorks() cache.ByObject {
	return cache.ByObject{Label: labels.SelectorFromSet(labels.Set{federation.ManagedLabel: "true"})}
}

// federationWebhook is the webhook of federated objects, without its handlers.
var federationWebhook = webhookserver.Webhook{Validating: webhook.Configuration, Paths: []string{webhook.Path}}

// federationSetup sets up the controllers of federated objects.
type federationSetup struct{ controller.Options }

// webhook returns the handler of federated objects.
func (f federationSetup) webhook(mgr manager.Manager, s queue.Settings) (webhookserver.Webhook, error) {
	handlers, err := f.Handlers(mgr, s)
	return webhookserver.Webhook{Handlers: handlers}, err
}

// federationOptions returns the options of the controller of federated objects.
func (o *Options) federationOptions(shared *sharedinventory.Shared) controller.Options {
	return controller.Options{
		Kinds: o.federatedKinds, Inventory: shared, Limits: federation.LimitsOf(o.RemovalLimit),
		IndexWorks: once(controller.IndexWorks), History: o.Recorder,
	}
}
