// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
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

// objectTypes returns the types that explain takes before a slash.
func objectTypes() []string {
	types := []string{"placement"}
	for _, each := range explainers {
		types = append(types, each.types()...)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// suggestType suggests types for "TYPE/NAME", which is read as the namespace and the name of a Placement if the type is misspelt.
func suggestType(t target) string {
	found := suggest.Similar(t.namespace, objectTypes())
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %s/%s?", found[0], t.name)
}

// suggest suggests Placements of the namespace of the target.
func (t target) suggest(names []string) string {
	if t.namespace == "" {
		return suggest.DidYouMean(t.name, "", names)
	}
	return suggest.DidYouMean(t.name, t.namespace+"/", names)
}

// resolve returns the keys of the Placements that the targets name, and an error about those that there are not.
func resolve(ctx context.Context, s *hubflags.Source, targets []target) (keys []inventory.Key, missing error) {
	place := ""
	if s.Hub == nil {
		place = " in the files"
	}
	for _, target := range targets {
		found, err := s.Find(ctx, target.keys())
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			missing = errors.Join(missing, fmt.Errorf("there is no Placement %s%s; %s%s%s", target, place,
				hintElsewhere(target, s.Namespaces(ctx, target.keys())), suggestType(target), target.suggest(target.siblings(ctx, s))))
		}
		keys = append(keys, found...)
	}
	return keys, missing
}

// siblings returns the names of the Placements of the namespace and the APIs of the target, as far as the user may list them.
func (t target) siblings(ctx context.Context, s *hubflags.Source) []string {
	var names []string
	if s.Hub != nil {
		for _, adapter := range t.apis {
			names = append(names, hubflags.BegunNames(ctx, s.Hub, adapter.Kind(), t.namespace, "")...)
		}
		return names
	}
	state, err := s.All(ctx, t.namespace)
	if err != nil { // Files have no such error, and the names are a hint.
		return nil
	}
	for _, object := range state.Placements {
		if key := api.Read(object).Key(); t.namespace == "" || t.namespace == key.Namespace {
			names = append(names, key.Name)
		}
	}
	return names
}

// namespacesShown bounds the namespaces in a hint.
const namespacesShown = 5

func hintElsewhere(t target, namespaces []string) string {
	switch {
	case len(namespaces) == 0 && len(t.apis) == 1:
		return "correct the name, the namespace or the API"
	case len(namespaces) == 0:
		return "correct the name or the namespace"
	case len(namespaces) == 1:
		return fmt.Sprintf("there is %s/%s", namespaces[0], t.name)
	}
	more := ""
	if len(namespaces) > namespacesShown {
		more = fmt.Sprintf(" and %d more", len(namespaces)-namespacesShown)
		namespaces = namespaces[:namespacesShown]
	}
	return fmt.Sprintf("there is one in each of the namespaces %[2]s%[3]s: write NAMESPACE/%[1]s", t.name, strings.Join(namespaces, ", "), more)
}
