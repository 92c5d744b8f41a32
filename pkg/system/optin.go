// SPDX-License-Identifier: Apache-2.0

package system

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

// optIn returns the enabled opt-in systems, and what each of them serves to API servers.
func (o Options) optIn(
	enabled []string, shared *sharedinventory.Shared, settings queue.Settings,
) (all []*systems.System, webhooks []webhookserver.Webhook, err error) {
	byName := func(a, b systems.Entry) int { return strings.Compare(a.Name, b.Name) }
	for _, entry := range slices.SortedFunc(slices.Values(o.list(enabled, shared)), byName) {
		members := membersOf(o.allSharing(enabled, shared), entry.Name, enabled)
		if entry.Name == "" || len(members) == 0 {
			continue
		}
		system := &systems.System{Name: entry.Name, Cache: cacheOf(entry)}
		for _, group := range entry.Groups {
			system.Groups = append(system.Groups, group.Name)
		}

		if system.Needs, err = needsOf(entry, members); err != nil {
			return nil, nil, err
		}
		system.Setup = func(mgr manager.Manager) (map[string]http.Handler, error) {
			// Controllers keep what they share from their first setup, so that each start needs new ones.
			return setupMembers(mgr, membersOf(o.allSharing(enabled, shared), entry.Name, enabled), settings)
		}
		all = append(all, system)

		for _, member := range members {
			if member.Webhook != nil {
				served := member.Served
				served.Controller, served.Route, served.Synced = member.Name, system.Handler, system.Ready
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
func membersOf(all []member, system string, enabled []string) []member {
	return slices.DeleteFunc(slices.Clone(all), func(m member) bool { return m.system != system || !slices.Contains(enabled, m.Name) })
}

// needsOf returns the kinds without which the controllers of a system cannot run.
func needsOf(entry systems.Entry, members []member) ([]systems.Need, error) {
	var needs []systems.Need
	for _, member := range members {
		for _, read := range member.Access.Reads {
			need := systems.Need{GroupVersion: read.GroupVersion(), Resource: read.Resource}
			if IsOptional(read) && !slices.Contains(needs, need) {
				needs = append(needs, need)
			}
		}
	}

	if entry.Added == nil {
		return needs, nil
	}
	kinds, err := entry.Added.Parse()
	if err != nil {
		return nil, fmt.Errorf("reading the kinds of --%s: %w", entry.Added.Flag, err)
	}
	for _, kind := range kinds {
		needs = append(needs, systems.Need{GroupVersion: kind.GroupVersion(), Kind: kind.Kind})
	}
	return needs, nil
}

// cacheOf returns a function that returns the settings of the cache of a system.
func cacheOf(entry systems.Entry) func() cache.Options {
	return func() cache.Options {
		options := cache.Options{DefaultTransform: compact()}
		if entry.Cache != nil {
			entry.Cache(&options)
		}
		return options
	}
}

// setupMembers adds the controllers of a system to its manager, and returns the handlers of its webhooks by path.
func setupMembers(mgr manager.Manager, members []member, settings queue.Settings) (map[string]http.Handler, error) {
	handlers := map[string]http.Handler{}
	for _, member := range members {
		if member.Setup != nil {
			if err := member.Setup(mgr, settings); err != nil {
				return nil, fmt.Errorf("setting up controller %s: %w", member.Name, err)
			}
		}
		if member.Webhook == nil {
			continue
		}

		webhook, err := member.Webhook(mgr, settings)
		if err != nil {
			return nil, fmt.Errorf("setting up controller %s: %w", member.Name, err)
		}
		served, err := webhookserver.Standalone(webhook.Handlers)
		if err != nil {
			return nil, fmt.Errorf("setting up controller %s: %w", member.Name, err)
		}
		maps.Copy(handlers, served)
	}

	return handlers, nil
}
