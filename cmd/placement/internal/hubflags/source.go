// SPDX-License-Identifier: Apache-2.0

package hubflags

import (
	"context"
	"io"

	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// Source is what a command reads: files, or a hub.
type Source struct {
	hubstate.Source

	// Namespace is that of objects which are named without one; with files, empty means any.
	Namespace string
	// Hub is the hub that is read, and asked for what its user may not read, and config the connection to it; nil for files.
	Hub    *hubstate.API
	Config *rest.Config
	// Controllers are those that the hub says it runs; nil if it says nothing.
	Controllers []string
}

// OpenFiles reads the objects of a hub from all files that a flag names: what a hub has stored, or what -f describes.
func (f *Files) OpenFiles(
	ctx context.Context, role statefile.Role, delivered []federation.FederatedKind, flag string, paths []string, stdin io.Reader,
) (*Source, error) {
	state, err := f.ReadHub(ctx, role, delivered, flag, paths, stdin)
	if err != nil {
		return nil, err
	}
	return &Source{Source: &hubstate.Files{State: state}, Namespace: f.Namespace, Controllers: f.ControllersTaken()}, nil
}

// OpenHub connects to a hub that delivers the kinds.
func (h *Hub) OpenHub(ctx context.Context, ask *Ask, delivered []federation.FederatedKind) (*Source, error) {
	live, config, namespace, err := h.ConnectHub()
	if err != nil {
		return nil, err
	}
	controllers, err := ask.Controllers(ctx, live)
	if err != nil {
		return nil, err
	}
	hub := &hubstate.API{Client: live, Delivered: delivered}
	return &Source{Source: hub, Namespace: namespace, Hub: hub, Config: config, Controllers: controllers}, nil
}
