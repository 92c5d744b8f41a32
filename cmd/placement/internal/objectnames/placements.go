// SPDX-License-Identifier: Apache-2.0

package objectnames

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// PlacementObject returns a Placement as a question names it.
func PlacementObject(key inventory.Key) endpoint.Object {
	kind := api.Of(key).Kind()
	return endpoint.Object{Group: kind.Group, Kind: kind.Kind, Name: key.Name}
}

// Placement is a Placement as named on the command line.
type Placement struct {
	Namespace, Name string
	// apis are the APIs that it may belong to.
	APIs []api.Adapter
}

// Keys returns the possible keys of the target.
func (p Placement) Keys() []inventory.Key {
	keys := make([]inventory.Key, 0, len(p.APIs))
	for _, adapter := range p.APIs {
		keys = append(keys, inventory.NewPlacementKey(adapter.Name(), p.Namespace, p.Name))
	}
	return keys
}

// String returns "team-a/p", or "p" without a namespace, with the API group if the target has a single API other than v1beta1.
func (p Placement) String() string {
	if len(p.APIs) == 1 {
		return strings.TrimPrefix(inventory.NewPlacementKey(p.APIs[0].Name(), p.Namespace, p.Name).String(), "/")
	}
	return strings.TrimPrefix(p.Namespace+"/"+p.Name, "/")
}

// ParsePlacements parses names of Placements: NAMESPACE/NAME, NAME, and the forms of kubectl, TYPE/NAME and TYPE NAME; "@GROUP" may follow
// each.
func ParsePlacements(args []string, namespace, apiName string) ([]Placement, error) {
	apis := api.Adapters()
	if apiName != "" {
		named, err := apiNamed(apiName)
		if err != nil {
			return nil, fmt.Errorf("--api: %w", err)
		}
		apis = []api.Adapter{named}
	}
	if len(args) > 1 {
		if typed, is := PlacementType(args[0]); is {
			if args = args[1:]; len(typed) == 1 {
				apis = typed
			}
		}
	}
	targets := make([]Placement, 0, len(args))
	for _, arg := range args {
		parsed, err := parsePlacement(arg, namespace, apis)
		if err != nil {
			return nil, err
		}
		targets = append(targets, parsed)
	}
	return targets, nil
}

func parsePlacement(arg, namespace string, apis []api.Adapter) (Placement, error) {
	named := Placement{Namespace: namespace, APIs: apis}
	text, group, grouped := strings.Cut(arg, "@")
	if grouped {
		adapter, err := apiNamed(group)
		if err != nil {
			return named, fmt.Errorf("%q: %w", arg, err)
		}
		named.APIs = []api.Adapter{adapter}
	}
	first, rest, slashed := strings.Cut(text, "/")
	typed, isType := PlacementType(first)
	switch {
	case text == "" || first == "" || slashed && (rest == "" || strings.Contains(rest, "/")):
		return named, fmt.Errorf("%q does not name a placement: write NAMESPACE/NAME, or NAME with --namespace", arg)
	case !slashed:
		named.Name = first
	case isType:
		named.Name = rest
		if len(typed) == 1 && !grouped {
			named.APIs = typed
		}
	case namespace != "" && namespace != first:
		return named, fmt.Errorf("%q is in namespace %s, and --namespace is %s; leave out one or the other", arg, first, namespace)
	default:
		named.Namespace, named.Name = first, rest
	}
	return named, nil
}

// PlacementType parses the type as kubectl does: placement or placements, with or without ".GROUP" or ".VERSION.GROUP".
func PlacementType(text string) (apis []api.Adapter, is bool) {
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

// suggestType suggests one of the types for "TYPE/NAME", which is read as the namespace and the name of a Placement if the type is misspelt.
func suggestType(t Placement, types []string) string {
	found := suggest.Similar(t.Namespace, types)
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %s/%s?", found[0], t.Name)
}

// suggest suggests Placements of the namespace of the target.
func (p Placement) suggest(names []string) string {
	if p.Namespace == "" {
		return suggest.DidYouMean(p.Name, "", names)
	}
	return suggest.DidYouMean(p.Name, p.Namespace+"/", names)
}

// FindPlacements returns the keys of the Placements that the targets name, and an error about those that there are not. It suggests one of the
// types if the namespace of a target looks like it.
func FindPlacements(ctx context.Context, s *hubflags.Source, targets []Placement, types []string) (keys []inventory.Key, missing error) {
	place := ""
	if s.Hub == nil {
		place = " in the files"
	}
	for _, target := range targets {
		found, err := s.Find(ctx, target.Keys())
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			missing = errors.Join(missing, fmt.Errorf("there is no Placement %s%s; %s%s%s", target, place,
				hintElsewhere(target, s.Namespaces(ctx, target.Keys())), suggestType(target, types), target.suggest(target.siblings(ctx, s))))
		}
		keys = append(keys, found...)
	}
	return keys, missing
}

// siblings returns the names of the Placements of the namespace and the APIs of the target, as far as the user may list them.
func (p Placement) siblings(ctx context.Context, s *hubflags.Source) []string {
	var names []string
	if s.Hub != nil {
		for _, adapter := range p.APIs {
			names = append(names, hubflags.BegunNames(ctx, s.Hub, adapter.Kind(), p.Namespace, "")...)
		}
		return names
	}
	state, err := s.All(ctx, p.Namespace)
	if err != nil { // Files have no such error, and the names are a hint.
		return nil
	}
	for _, object := range state.Placements {
		if key := api.Read(object).Key(); p.Namespace == "" || p.Namespace == key.Namespace {
			names = append(names, key.Name)
		}
	}
	return names
}

// namespacesShown bounds the namespaces in a hint.
const namespacesShown = 5

func hintElsewhere(t Placement, namespaces []string) string {
	switch {
	case len(namespaces) == 0 && len(t.APIs) == 1:
		return "correct the name, the namespace or the API"
	case len(namespaces) == 0:
		return "correct the name or the namespace"
	case len(namespaces) == 1:
		return fmt.Sprintf("there is %s/%s", namespaces[0], t.Name)
	}
	more := ""
	if len(namespaces) > namespacesShown {
		more = fmt.Sprintf(" and %d more", len(namespaces)-namespacesShown)
		namespaces = namespaces[:namespacesShown]
	}
	return fmt.Sprintf("there is one in each of the namespaces %[2]s%[3]s: write NAMESPACE/%[1]s", t.Name, strings.Join(namespaces, ", "), more)
}

// WithNamespace returns the target in a namespace.
func (p Placement) WithNamespace(namespace string) Placement {
	p.Namespace = namespace
	return p
}
