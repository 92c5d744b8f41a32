// SPDX-License-Identifier: Apache-2.0

package ownpages

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/endpoint"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubprocess"
	"github.com/placement-hub/placement-hub/pkg/dashboard"
)

// DefaultListen is the default address of the pages of one user.
const DefaultListen = "127.0.0.1:0"

// CheckLoopback returns an error about an address to which other machines could connect.
func CheckLoopback(flag, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--%s: %w; use 127.0.0.1:PORT, or port 0 for a free one", flag, err)
	}
	if parsed := net.ParseIP(host); host != "localhost" && (parsed == nil || !parsed.IsLoopback()) {
		return fmt.Errorf("--%s: %q is no loopback address, and the pages are those of one user; use 127.0.0.1:PORT. "+
			"placement controller --%s serves them to users who log in", flag, host, hubprocess.DashboardListenFlag)
	}
	return nil
}

// Pages are the pages of one user on this machine.
type Pages struct {
	listener net.Listener
	gate     *dashboard.LocalGate
}

// Listen binds a loopback address.
func Listen(ctx context.Context, flag, address string, who user.Info) (*Pages, error) {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w; choose another port, or port 0 for a free one", flag, err)
	}
	return &Pages{listener: listener, gate: dashboard.NewLocalGate(who)}, nil
}

// URL returns the address of the pages with the token.
func (p *Pages) URL() string { return p.gate.URL(p.listener.Addr()) }

// Announce prints the URL of the pages of a hub.
func (p *Pages) Announce(stdout io.Writer, hub string) error {
	const opened = "The dashboard of %s is at\n\n  %s\n\nThe URL opens it once, in one browser. Ctrl-C ends it.\n"
	if _, err := fmt.Fprintf(stdout, opened, hub, p.URL()); err != nil {
		return fmt.Errorf("printing the URL: %w", err)
	}
	return nil
}

// Serve serves the pages of a hub until ctx ends.
func (p *Pages) Serve(ctx context.Context, hub dashboard.Hub, now func() time.Time) error {
	server := endpoint.PageServer(dashboard.New(hub, p.gate, now))
	return hubprocess.ServeOwn(ctx, server, func() error { return server.Serve(p.listener) })
}
