package system

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	cozystackappsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

// systemGroups are the API groups of the kinds that one opt-in system has for itself. The API server may not serve them: the system is off then.
var systemGroups = map[string][]string{
	podSchedulingSystem: {kupidv1alpha1.GroupName},
	affinityClassSystem: {cozystackv1alpha1.GroupName, cozystackappsv1alpha1.GroupName, affinityclass.ReleaseKind.Group},
	federationSystem:    {workv1.GroupName}, clusterRequestSystem: {openmcpv1alpha1.GroupName},
}

// IsOptional reports whether the hub runs without a resource: a system is off then.
func IsOptional(resource schema.GroupVersionResource) bool {
	for _, groups := range systemGroups {
		if slices.Contains(groups, resource.Group) {
			return true
		}
	}

	return false
}

// optIn returns the enabled opt-in systems, and what each of them serves to API servers.
func (o Options) optIn(
	enabled []string, shared *sharedinventory.Shared, settings queue.Settings,
) (all []*systems.System, webhooks []webhookserver.Webhook, err error) {
	for _, name := range slices.Sorted(maps.Keys(systemGroups)) {
		members := membersOf(o.allSharing(enabled, shared), name, enabled)
		if len(members) == 0 {
			continue
		}

		system := &systems.System{Name: name, Groups: systemGroups[name]}

		if system.Needs, err = o.needsOf(members); err != nil {
			return nil, nil, err
		}

		system.Cache = cacheOf(system.Needs)
		system.Setup = func(mgr manager.Manager) (map[string]http.Handler, error) {
			// Controllers keep what they share from their first setup, so that each start needs new ones.
			return setupMembers(mgr, membersOf(o.allSharing(enabled, shared), name, enabled), settings)
		}
		all = append(all, system)

		for _, member := range members {
			if member.webhook != nil {
				served := member.served
				served.Controller, served.Route, served.Synced = member.name, system.Handler, system.Ready
				webhooks = append(webhooks, served)
			}
		}

		if o.AddSystem != nil {
			o.AddSystem(system)
		}
	}

	return all, webhooks, nil
}

// membersOf returns the enabled controllers of a system.
func membersOf(all []entry, system string, enabled []string) []entry {
	return slices.DeleteFunc(all, func(c entry) bool { return c.system != system || !slices.Contains(enabled, c.name) })
}

// needsOf returns the kinds without which the controllers of a system cannot run.
func (o Options) needsOf(members []entry) ([]systems.Need, error) {
	var needs []systems.Need

	for _, member := range members {
		for _, read := range member.access.Reads {
			need := systems.Need{GroupVersion: read.GroupVersion(), Resource: read.Resource}
			if IsOptional(read) && !slices.Contains(needs, need) {
				needs = append(needs, need)
			}
		}

		if member.system != federationSystem {
			continue
		}

		kinds, err := federation.ParseKinds(o.FederatedKinds)
		if err != nil {
			return nil, fmt.Errorf("reading the delivered kinds: %w", err)
		}

		for _, kind := range kinds {
			if need := (systems.Need{GroupVersion: kind.GroupVersion(), Kind: kind.Kind}); !slices.Contains(needs, need) {
				needs = append(needs, need)
			}
		}
	}

	return needs, nil
}

// cacheOf returns a function that returns the settings of the cache of a system with these needs.
func cacheOf(needs []systems.Need) func() cache.Options {
	works := slices.ContainsFunc(needs, func(need systems.Need) bool { return need.Resource == "manifestworks" })

	return func() cache.Options {
		options := cache.Options{DefaultTransform: compact()}
		if works {
			options.ByObject = map[client.Object]cache.ByObject{&workv1.ManifestWork{}: managedWorks()}
		}

		return options
	}
}

// managedWorks returns the settings of the informer of ManifestWorks, which lists those of the hub.
func managedWorks() cache.ByObject {
	return cache.ByObject{Label: labels.SelectorFromSet(labels.Set{federation.ManagedLabel: "true"})}
}

// setupMembers adds the controllers of a system to its manager, and returns the handlers of its webhooks by path.
func setupMembers(mgr manager.Manager, members []entry, settings queue.Settings) (map[string]http.Handler, error) {
	handlers := map[string]http.Handler{}

	for _, member := range members {
		if member.setup != nil {
			if err := member.setup(mgr, settings); err != nil {
				return nil, fmt.Errorf("setting up controller %s: %w", member.name, err)
			}
		}

		if member.webhook == nil {
			continue
		}

		webhook, err := member.webhook(mgr, settings)
		if err != nil {
			return nil, fmt.Errorf("setting up controller %s: %w", member.name, err)
		}

		served, err := webhookserver.Standalone(webhook.Handlers)
		if err != nil {
			return nil, fmt.Errorf("setting up controller %s: %w", member.name, err)
		}

		maps.Copy(handlers, served)
	}

	return handlers, nil
}
