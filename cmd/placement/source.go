// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// source is what a command reads: files, or a hub.
type source struct {
	hubstate.Source

	// namespace is that of objects which are named without one; with files, empty means any.
	namespace string
	// hub is the hub that is read, and asked for what its user may not read, and config the connection to it; nil for files.
	hub    *hubstate.API
	config *rest.Config
	// controllers are those that the hub says it runs; nil if it says nothing.
	controllers []string
}

// openFiles reads the objects of a hub from all files that a flag names: what a hub has stored, or what -f describes.
func (f *fileFlags) openFiles(
	ctx context.Context, role statefile.Role, delivered []federation.FederatedKind, flag string, paths []string, stdin io.Reader,
) (*source, error) {
	state, err := f.readHub(ctx, role, delivered, flag, paths, stdin)
	if err != nil {
		return nil, err
	}
	return &source{Source: &hubstate.Files{State: state}, namespace: f.namespace, controllers: f.controllersTaken()}, nil
}

// openHub connects to a hub that delivers the kinds.
func (f *hubFlags) openHub(ctx context.Context, ask *askFlags, delivered []federation.FederatedKind) (*source, error) {
	live, config, namespace, err := f.connectHub()
	if err != nil {
		return nil, err
	}
	controllers, err := ask.controllers(ctx, live)
	if err != nil {
		return nil, err
	}
	hub := &hubstate.API{Client: live, Delivered: delivered}
	return &source{Source: hub, namespace: namespace, hub: hub, config: config, controllers: controllers}, nil
}

// resolve returns the keys of the Placements that the targets name, and an error about those that there are not.
func (s *source) resolve(ctx context.Context, targets []target) (keys []inventory.Key, missing error) {
	place := ""
	if s.hub == nil {
		place = " in the files"
	}
	for _, target := range targets {
		found, err := s.Find(ctx, target.keys())
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			missing = errors.Join(missing, fmt.Errorf("there is no Placement %s%s; %s%s%s", target, place,
				hintElsewhere(target, s.Namespaces(ctx, target.keys())), suggestType(target), target.suggest(s.placementNames(ctx, target))))
		}
		keys = append(keys, found...)
	}
	return keys, missing
}

// placementNames returns the names of the Placements of the namespace and the APIs of a target, as far as the user may list them.
func (s *source) placementNames(ctx context.Context, t target) []string {
	var names []string
	if s.hub != nil {
		for _, adapter := range t.apis {
			names = append(names, begunNames(ctx, s.hub, adapter.Kind(), t.namespace, "")...)
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
