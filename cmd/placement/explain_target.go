// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// target is a Placement as named on the command line.
type target struct {
	namespace, name string
	// apis are the APIs that it may belong to.
	apis []api.Adapter
}

// keys returns the possible keys of the target.
func (t target) keys() []inventory.Key {
	keys := make([]inventory.Key, 0, len(t.apis))
	for _, adapter := range t.apis {
		keys = append(keys, inventory.NewPlacementKey(adapter.Name(), t.namespace, t.name))
	}
	return keys
}

// String returns "team-a/p", or "p" without a namespace, with the API group if the target has a single API other than v1beta1.
func (t target) String() string {
	if len(t.apis) == 1 {
		return strings.TrimPrefix(inventory.NewPlacementKey(t.apis[0].Name(), t.namespace, t.name).String(), "/")
	}
	return strings.TrimPrefix(t.namespace+"/"+t.name, "/")
}

// parseTargets parses names of Placements: NAMESPACE/NAME, NAME, and the forms of kubectl, TYPE/NAME and TYPE NAME; "@GROUP" may follow
// each.
func parseTargets(args []string, namespace, apiName string) ([]target, error) {
	apis := api.Adapters()
	if apiName != "" {
		named, err := apiNamed(apiName)
		if err != nil {
			return nil, fmt.Errorf("--api: %w", err)
		}
		apis = []api.Adapter{named}
	}
	if len(args) > 1 {
		if typed, is := placementType(args[0]); is {
			if args = args[1:]; len(typed) == 1 {
				apis = typed
			}
		}
	}
	targets := make([]target, 0, len(args))
	for _, arg := range args {
		parsed, err := parseTarget(arg, namespace, apis)
		if err != nil {
			return nil, err
		}
		targets = append(targets, parsed)
	}
	return targets, nil
}

func parseTarget(arg, namespace string, apis []api.Adapter) (target, error) {
	named := target{namespace: namespace, apis: apis}
	text, group, grouped := strings.Cut(arg, "@")
	if grouped {
		adapter, err := apiNamed(group)
		if err != nil {
			return named, fmt.Errorf("%q: %w", arg, err)
		}
		named.apis = []api.Adapter{adapter}
	}
	first, rest, slashed := strings.Cut(text, "/")
	typed, isType := placementType(first)
	switch {
	case text == "" || first == "" || slashed && (rest == "" || strings.Contains(rest, "/")):
		return named, fmt.Errorf("%q does not name a placement: write NAMESPACE/NAME, or NAME with --namespace", arg)
	case !slashed:
		named.name = first
	case isType:
		named.name = rest
		if len(typed) == 1 && !grouped {
			named.apis = typed
		}
	case namespace != "" && namespace != first:
		return named, fmt.Errorf("%q is in namespace %s, and --namespace is %s; leave out one or the other", arg, first, namespace)
	default:
		named.namespace, named.name = first, rest
	}
	return named, nil
}

// placementType parses the type as kubectl does: placement or placements, with or without ".GROUP" or ".VERSION.GROUP".
func placementType(text string) (apis []api.Adapter, is bool) {
	kind, of, qualified := strings.Cut(strings.ToLower(text), ".")
	if kind != "placement" && kind != "placements" {
		return nil, false
	}
	if !qualified {
		return api.Adapters(), true
	}
	adapter, err := apiNamed(of)
	if err != nil {
		return nil, false
	}
	return []api.Adapter{adapter}, true
}

// apiNamed returns the API that a user names.
func apiNamed(text string) (api.Adapter, error) {
	adapter, found := api.Find(text)
	if !found {
		return nil, fmt.Errorf("%q is no API of placements; use one of %s", text, api.GroupVersions(", "))
	}
	return adapter, nil
}
