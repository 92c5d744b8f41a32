// SPDX-License-Identifier: Apache-2.0

package hubprocess

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/build"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/endpoint"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/filewatch"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/logging"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/preflight"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/stopping"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/tracing"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/hub/watchhealth"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// shutdownTimeout leaves room, within a pod's 30 s of grace, to release the lease after the controllers have stopped.
const shutdownTimeout = 20 * time.Second

// preflight reports missing prerequisites of the hub.
func (o *Options) preflight(ctx context.Context, config *rest.Config) error {
	if o.Observe {
		return preflight.RunObserver(ctx, config, o.Controllers)
	}
	return preflight.Run(ctx, config, o.Controllers, o.Election)
}

// setup adds the controllers or the observer to the manager.
func (o *Options) setup(ctx context.Context, mgr manager.Manager) error {
	if o.Observe {
		return system.Observe(ctx, mgr, o.Controllers)
	}
	return system.Setup(mgr, o.Controllers)
}

// A garbage collection begins when the heap has grown by gcGrowth, or by gcPercent of what lives if that is more. The heap of the hub is caches,
// which live until they change, and what waits for a collection would be half of the memory.
const (
	gcGrowth  = 24 << 20
	gcPercent = 30
)

// Run connects to the hub and runs the controllers until ctx ends. A file of --terminate-on-files that changes calls stop, which ends ctx.
func (o *Options) Run(ctx context.Context, stop context.CancelFunc) (err error) {
	files, err := filewatch.New(o.TerminateOnFiles)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	defer stop()
	if err := o.logStart(ctx); err != nil {
		return err
	}
	go func() {
		if file := files.Wait(ctx); file != "" {
			klog.FromContext(ctx).Info("Stopping because a file changed", "file", file)
			stop()
		}
	}()

	hubflags.CollectAfter(gcGrowth, gcPercent)
	config, err := o.RestConfig()
	if err != nil {
		return err
	}
	if !o.Observe {
		o.Controllers.StartHistory()
	}
	view := &controller.View{}
	o.Controllers.View, o.Controllers.Explanations = view, o.explanations(o.reviews.Reviews, view)
	if err := o.preflight(ctx, config); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	traces, err := tracing.Start(ctx, o.tracing, build.This().Version)
	if err != nil {
		return err
	}
	defer traces.Close(ctx)
	o.Controllers.Tracing = traces.Spans()
	return runControllers(ctx, traces.Wrap(config), o)
}

// runControllers runs a manager with the selected controllers and the endpoint until ctx ends. It trusts that o is complete and valid.
func runControllers(ctx context.Context, config *rest.Config, o *Options) (err error) {
	ctx = o.Controllers.Webhook.DrainAfter(ctx)
	watches := watchhealth.New()
	informers := o.Controllers.CacheOptions()
	informers.NewInformer = watches.NewInformer
	o.Controllers.Webhook.NewInformer = watches.NewInformer
	mgr, lock, err := NewManager(ctx, config, informers, o.Election, o.pprof)
	if err != nil {
		return err
	}
	if err := o.Listen(ctx); err != nil {
		return err
	}
	if o.Controllers.Webhook.Listener != nil {
		// The manager closes it, too, once it serves.
		defer func() { err = errors.Join(err, closeListener(o.Controllers.Webhook.Listener)) }()
	}
	o.Controllers.FormerRenewal = lock.FormerRenewal
	ready := map[string]func(context.Context) error{}
	o.Controllers.Webhook.AddReadyCheck = func(name string, check func(context.Context) error) { ready[name] = check }
	var optIn []*systems.System
	o.Controllers.AddSystem = func(system *systems.System) { optIn = append(optIn, system) }
	if err := o.setup(ctx, mgr); err != nil {
		return fmt.Errorf("setting up the controllers: %w", err)
	}

	server, err := endpoint.New(ctx, o.Serving, o.reviews, config, mgr.GetHTTPClient())
	if err != nil {
		return err
	}
	started := mgr.Elected()
	if lock != nil {
		started = lock.Attempted()
		server.AddLiveness("leader-election", lock.CheckRenewal)
		server.AddNote("lease", lock.State)
	}
	server.AddLiveness("evaluations", checkEvaluations(metrics.Evaluations))
	server.AddEvaluation(started, mgr.GetCache())
	server.AddEvaluationCheck("watches", watches.Check)
	for name, check := range ready {
		server.AddWebhookCheck(name, check)
	}
	for _, system := range optIn {
		server.AddNote("system "+system.Name, func() string { return endpoint.OnUnless(system.Off()) })
		server.AddEvaluationCheck("watches-"+system.Name, func(context.Context) error { return system.Watches() })
	}
	defer metrics.FollowEvaluation(func() bool { return server.Evaluable(ctx) })()
	serveDebug(server, o.Controllers.View)
	pages, err := o.servePages(ctx, mgr)
	defer func() { err = errors.Join(err, pages.Close()) }()
	if err != nil {
		return errors.Join(err, server.Close())
	}
	if err := server.AddTo(mgr); err != nil {
		return errors.Join(err, server.Close())
	}
	if err := system.Start(ctx, mgr); err != nil && !stopping.Caused(ctx, err) {
		return errors.Join(fmt.Errorf("running the controllers: %w", err), server.Close())
	}
	return server.Close()
}

// logStart logs the version, the controllers and the flags of this process, and exports its version.
func (o *Options) logStart(ctx context.Context) error {
	enabled, err := o.Controllers.Enabled()
	if err != nil {
		return fmt.Errorf("--controllers: %w", err)
	}
	build := build.This()
	metrics.SetBuild(build.Version, build.Commit, build.GoVersion)
	klog.FromContext(ctx).Info("Starting", "version", build.Version, "commit", build.Commit, "controllers", enabled, "flags", o.Flags)
	return nil
}

// NewManager returns a manager without servers of its own but for profiles, if it has an address for them, and whose leader is elected by the
// lock, if there is one.
func NewManager(
	ctx context.Context, config *rest.Config, informers cache.Options, leader election.Options, pprof string,
) (manager.Manager, *election.Lock, error) {
	options := ctrl.Options{
		Scheme:                  system.Scheme(),
		Cache:                   informers,
		NewCache:                decoding.NewCache,
		Logger:                  stopping.Logger(ctx, logging.Quiet(klog.Background())),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		PprofBindAddress:        pprof,
		GracefulShutdownTimeout: ptr.To(shutdownTimeout),
		// Requests log with the logger of ctx, which the manager would leave out.
		BaseContext: func() context.Context { return context.WithoutCancel(ctx) },
	}
	lock, err := leader.Apply(ctx, &options, config)
	if err != nil {
		return nil, nil, err
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, nil, fmt.Errorf("creating the manager: %w", err)
	}
	lock.RecordThrough(mgr)
	return mgr, lock, nil
}
