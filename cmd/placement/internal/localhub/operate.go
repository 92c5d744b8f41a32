// SPDX-License-Identifier: Apache-2.0

package localhub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/build"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/endpoint"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubprocess"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/live"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/ownpages"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/tracing"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/dashboard/hubs"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	explanations "github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// controllers returns the options with all controllers that manifests.Install supports. The webhook needs an address at which the API
// server can reach this process. An existing cluster may have no agents that report the availability of clusters: tainting all of them
// would remove their workload.
func (o *Options) controllers(listener net.Listener) system.Options {
	options := o.removal
	options.Controllers, options.Namespace = slices.Clone(o.shown.Controllers), manifests.Namespace
	options.ProfileDecisions = o.profiles
	options.Webhook.Listener = listener
	if listener == nil {
		options.Controllers = append(options.Controllers, "-"+webhook.Controller)
	}
	if o.kubeconfig != "" {
		options.Controllers = append(options.Controllers, "-"+managedcluster.ManagedClusterTaints)
	}
	return options
}

// operate runs the controllers and shows the table until ctx ends, an error occurs or, with --once, the table has settled.
func (o *Options) operate(ctx context.Context, hub *runHub, progress *live.Progress, stdout io.Writer) error {
	traces, err := tracing.Start(ctx, o.tracing, build.This().Version)
	if err != nil {
		return err
	}
	defer traces.Close(ctx)
	controllers := o.controllers(hub.webhook())
	controllers.StartHistory()
	controllers.Tracing, controllers.View = traces.Spans(), &controller.View{}
	if listener := hub.webhook(); listener != nil {
		// The certificate has the host of the URL. Users reach the listener as the API server does.
		address := "https://" + listener.Addr().String() + explanations.Path
		controllers.Explanations = hubprocess.PublishExplanations(address, controllers, endpoint.NewReviewBounds().Reviews, controllers.View)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	mgr, lock, err := hubprocess.NewManager(ctx, traces.Wrap(hub.config), controllers.CacheOptions(), hub.election, "")
	if err != nil {
		return err
	}
	if err := system.Setup(mgr, controllers); err != nil {
		return fmt.Errorf("setting up the controllers: %w", err)
	}
	source, err := o.source(ctx, hub, mgr)
	if err != nil {
		return err
	}
	if err := o.servePages(ctx, hub, mgr, controllers); err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer stop() // the table ends with the manager
		// While it starts, a manager that is stopped complains about caches that did not sync.
		if err := system.Start(groupCtx, mgr); err != nil && groupCtx.Err() == nil {
			return fmt.Errorf("running the controllers: %w", err)
		}
		return nil
	})
	if hub.embedded != nil {
		group.Go(func() error { return hub.embedded.Run(groupCtx) })
	}
	group.Go(func() error {
		defer stop()
		err := progress.Do("starting the controllers", func() error { return waitForCaches(groupCtx, mgr) })
		if err == nil {
			err = hub.ready(groupCtx, progress)
		}
		if err != nil {
			return err
		}
		return o.watch(groupCtx, hub, lock, mgr.Elected(), source, stdout)
	})
	return group.Wait() //nolint:wrapcheck // What runs in the group names its errors.
}

// source returns what the table shows.
func (o *Options) source(ctx context.Context, hub *runHub, mgr manager.Manager) (live.Source, error) {
	if hub.embedded != nil {
		if source, found, err := hub.embedded.Source(ctx); found || err != nil {
			return source, err
		}
	}
	watcher, err := hubstate.WatchCache(ctx, mgr.GetCache(), api.Adapters(), nil)
	if err != nil {
		return live.Source{}, err
	}
	read := func(ctx context.Context) (*document.Board, error) {
		state, err := watcher.ReadAll(ctx, "")
		if err != nil {
			return nil, err
		}
		return state.Board(), nil
	}
	return live.Source{Read: read, Changed: watcher.Changed}, nil
}

// servePages lets the manager serve the dashboard of this user, and adds its URL to what the table shows. A run that ends by itself has none.
func (o *Options) servePages(ctx context.Context, hub *runHub, mgr manager.Manager, controllers system.Options) error {
	if o.once || o.dashboard == "" {
		return nil
	}
	live, err := hubflags.ConnectAs(hub.person)
	if err != nil {
		return err
	}
	explainer, err := hubprocess.NewHubExplainer(live, mgr, controllers, controllers.View)
	if err != nil {
		return err
	}
	changes, err := hubprocess.FollowManager(ctx, mgr, controllers.View)
	if err != nil {
		return err
	}
	pages, err := ownpages.Listen(ctx, hubprocess.DashboardListenFlag, o.dashboard, &user.DefaultInfo{Name: "the user of placement run"})
	if err != nil {
		return err
	}
	hub.access = append(hub.access, "dashboard (opens once, in one browser): "+pages.URL())
	served := &hubs.Own{Broadcast: changes, Explainer: explainer, Namespace: metav1.NamespaceDefault}
	err = mgr.Add(hubprocess.Everywhere(func(ctx context.Context) error { return pages.Serve(ctx, served, time.Now) }))
	if err != nil {
		return fmt.Errorf("adding the dashboard: %w", err)
	}
	return nil
}

// waitForCaches returns when the caches of the manager are in sync, or with an error when they cannot be.
func waitForCaches(ctx context.Context, mgr manager.Manager) error {
	switch {
	case mgr.GetCache().WaitForCacheSync(ctx):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return errors.New("the caches of the controllers did not sync; start again with -v=1 to see why")
	}
}

// watch shows the table as the flags and the output require.
func (o *Options) watch(
	ctx context.Context, hub *runHub, lock *election.Lock, elected <-chan struct{}, source live.Source, stdout io.Writer,
) error {
	view := &live.View{
		Source: source, Elected: elected, Overdue: lock.Overdue, Working: working, Header: live.Header{Server: hub.config.Host, Access: hub.access},
	}
	if !hub.election.Disable {
		view.Header.Lease = hub.election.Namespace + "/" + hub.election.Name
	}
	if o.once {
		return view.UntilSettled(ctx, stdout, o.timeout)
	}
	return view.Follow(ctx, stdout)
}

// working returns the number of objects that the controllers of this process are reconciling, by their metrics.
func working() (int, error) {
	families, err := metrics.Registry.Gather()
	if err != nil {
		return 0, fmt.Errorf("asking whether the controllers are at work: %w", err)
	}
	total := 0
	for _, family := range families {
		if family.GetName() == "controller_runtime_active_workers" {
			for _, controller := range family.GetMetric() {
				total += int(controller.GetGauge().GetValue())
			}
		}
	}
	return total, nil
}
