// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/endpoint"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
	"github.com/placement-hub/placement-hub/pkg/dashboard"
	"github.com/placement-hub/placement-hub/pkg/dashboard/hubs"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// DashboardListenFlag is the flag for the address of the pages.
const DashboardListenFlag = "dashboard-listen"

func (o *Options) addDashboardFlag(fs *pflag.FlagSet) {
	fs.StringVar(&o.dashboard, DashboardListenFlag, o.dashboard,
		"HTTPS address of pages that show where workloads go, and why, to users who log in with a bearer token or a client certificate of "+
			"the API server, "+
			"such as 0.0.0.0:8444; the certificate is that of --listen. By default none are served.")
}

// servePages binds the address of the dashboard and lets the manager serve it, on leader and standby alike. The result is to be closed, also if there
// is an error; it is nil if the dashboard has no address.
func (o *Options) servePages(ctx context.Context, mgr manager.Manager) (*endpoint.Pages, error) {
	if o.dashboard == "" || o.Observe {
		return nil, nil
	}
	pages, err := endpoint.NewPages(ctx, o.Serving, o.dashboard)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", DashboardListenFlag, err)
	}
	klog.FromContext(ctx).Info("Serving the dashboard over HTTPS", "address", pages.Address().String())
	explainer, err := newSharedExplainer(mgr, o.Controllers, o.Controllers.View)
	if err != nil {
		return pages, err
	}
	people, err := endpoint.People(o.reviews, mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return pages, err
	}
	changes, err := FollowManager(ctx, mgr, o.Controllers.View)
	if err != nil {
		return pages, err
	}
	if err := mgr.Add(Everywhere(func(ctx context.Context) error { people.Run(ctx); return nil })); err != nil {
		return pages, fmt.Errorf("adding the authorities of client certificates: %w", err)
	}
	hub := &hubs.Shared{Broadcast: changes, Explainer: explainer, Authority: people.Authorizer}
	err = pages.AddTo(mgr, dashboard.New(hub, dashboard.NewTokenGate(people.Authenticator), time.Now))
	return pages, err
}

// newSharedExplainer returns an explainer with the rights of the hub, for users with fewer rights.
func newSharedExplainer(mgr manager.Manager, o system.Options, view *controller.View) (*answers.Explainer, error) {
	live, err := objects.NewLiveClient(mgr)
	if err != nil {
		return nil, err
	}
	explainer, err := NewHubExplainer(live, mgr, o, view)
	if err != nil {
		return nil, err
	}
	explainer.Limited = true
	return explainer, nil
}

// NewHubExplainer returns an explainer with the rights of a client, which lists from the informers of the manager what decides about placements.
func NewHubExplainer(live client.Client, mgr manager.Manager, o system.Options, view *controller.View) (*answers.Explainer, error) {
	kinds := hubflags.Kinds{Added: o.FederatedKinds}
	if err := kinds.ParseKinds(); err != nil {
		return nil, err
	}
	enabled, err := o.Enabled()
	if err != nil {
		return nil, err
	}
	explainer := &answers.Explainer{
		Hub: tools.Hub{
			Settings: tools.Settings{Delivered: kinds.Delivered, Controllers: enabled, Limit: o.RemovalLimit, Requests: o.ClusterRequests},
			Client:   hubstate.NewInformed(live, mgr.GetCache(), view.Serves), Now: time.Now, Live: view,
		},
		Definitions: hubflags.Definitions, Suggest: suggest.Name,
	}
	if o.Recorder != nil {
		explainer.History = o.Recorder
	}
	return explainer, nil
}

// FollowManager passes on the changes of the objects that placements depend on.
func FollowManager(ctx context.Context, mgr manager.Manager, view *controller.View) (*hubs.Broadcast, error) {
	served := slices.DeleteFunc(api.Adapters(), func(adapter api.Adapter) bool { return !view.Serves(adapter) })
	changes := hubs.NewBroadcast()
	watcher, err := hubstate.WatchCache(ctx, mgr.GetCache(), served, changes.Touch)
	if err != nil {
		return nil, err
	}
	err = mgr.Add(Everywhere(func(ctx context.Context) error { changes.Run(ctx, watcher.Changed()); return nil }))
	if err != nil {
		return nil, fmt.Errorf("adding what follows changes: %w", err)
	}
	return changes, nil
}

// Everywhere is a runnable of leader and standby.
type Everywhere func(ctx context.Context) error

// Start implements manager.Runnable.
func (e Everywhere) Start(ctx context.Context) error { return e(ctx) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (Everywhere) NeedLeaderElection() bool { return false }

// ServeOwn serves the dashboard of one user on a loopback listener until ctx ends.
func ServeOwn(ctx context.Context, server *http.Server, serve func() error) error {
	stopped := context.AfterFunc(ctx, func() {
		if err := server.Close(); err != nil {
			klog.FromContext(ctx).V(2).Info("Closing the server of the dashboard", "err", err)
		}
	})
	defer stopped()
	if err := serve(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the dashboard: %w", err)
	}
	return nil
}
