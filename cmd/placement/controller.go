package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/pkg/controller"
)

// shutdownTimeout leaves room, within a pod's 30 s of grace, to release the lease after the controllers have stopped.
const shutdownTimeout = 20 * time.Second

func newControllerCommand() *cobra.Command {
	o := newControllerOptions()
	cmd := &cobra.Command{
		Use:   "controller",
		Short: "Run the controllers against a hub",
		Long: "Run the controllers of the hub: one leader at a time, any number of standbys with warm caches.\n" +
			"SIGTERM and SIGINT stop it cleanly and hand the lease over; a second signal ends it at once with code 1.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(cmd.Flags().Changed, processSurroundings()); err != nil {
				return &usageError{err}
			}
			if err := o.validate(); err != nil {
				return &usageError{err}
			}
			return o.run(cmd.Context())
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

// run connects to the hub and runs the controllers until ctx ends or a file of --terminate-on-files changes.
func (o *controllerOptions) run(ctx context.Context) (err error) {
	files, err := newFileWatch(o.terminateOnFiles, fileRecheckInterval)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.close()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		if file := files.wait(ctx); file != "" {
			klog.FromContext(ctx).Info("Stopping because a file changed", "file", file)
			cancel()
		}
	}()

	config, err := o.restConfig()
	if err != nil {
		return err
	}
	if err := preflight(ctx, config, o); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	return runControllers(ctx, config, o)
}

// runControllers runs a manager with the selected controllers and the endpoint until ctx ends. It trusts that o is complete and valid.
func runControllers(ctx context.Context, config *rest.Config, o *controllerOptions) error {
	recorder := &lateRecorder{}
	options := ctrl.Options{
		Scheme:                  controller.Scheme(),
		Cache:                   controller.CacheOptions(),
		Logger:                  klog.Background(),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		GracefulShutdownTimeout: ptr.To(shutdownTimeout),
	}
	lock, err := o.election.applyTo(&options, config, recorder)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return fmt.Errorf("creating the manager: %w", err)
	}
	recorder.manager = mgr
	if err := controller.Setup(mgr, o.controllers); err != nil {
		return fmt.Errorf("setting up the controllers: %w", err)
	}

	endpoint, err := newEndpoint(ctx, o.serving, config, mgr.GetHTTPClient())
	if err != nil {
		return err
	}
	endpoint.addChecks(mgr, lock)
	if err := endpoint.addTo(mgr); err != nil {
		return errors.Join(err, endpoint.close())
	}
	if err := mgr.Start(ctx); err != nil {
		return errors.Join(fmt.Errorf("running the controllers: %w", err), endpoint.close())
	}
	return endpoint.close()
}

// applyTo sets the election up in the manager's options. Without election the lock is nil.
func (o *electionOptions) applyTo(options *ctrl.Options, config *rest.Config, recorder *lateRecorder) (*renewalLock, error) {
	if o.disable {
		return nil, nil
	}
	lock, err := newLeaseLock(config, *o, recorder)
	if err != nil {
		return nil, err
	}
	options.LeaderElection = true
	options.LeaderElectionID = o.name
	options.LeaderElectionResourceLockInterface = lock
	options.LeaderElectionReleaseOnCancel = true
	options.LeaseDuration = &o.leaseDuration
	options.RenewDeadline = &o.renewDeadline
	options.RetryPeriod = ptr.To(o.electorPeriod())
	return lock, nil
}

// addChecks makes the process ready when it could take over at once: everything that a standby runs is started, and every cache in sync.
func (e *endpoint) addChecks(mgr manager.Manager, lock *renewalLock) {
	started := mgr.Elected()
	if lock != nil {
		started = lock.attempted
		e.live["leader-election"] = lock.checkRenewal
	}
	e.ready["started"] = startedCheck(started)
	e.ready["caches"] = cachesCheck(mgr.GetCache())
}

func startedCheck(started <-chan struct{}) healthz.Checker {
	return func(*http.Request) error {
		select {
		case <-started:
			return nil
		default:
			return errors.New("the controllers are still starting")
		}
	}
}

func cachesCheck(informers cache.Cache) healthz.Checker {
	return func(req *http.Request) error {
		// Probes give up after a second by default; this answer comes before.
		ctx, cancel := context.WithTimeout(req.Context(), 500*time.Millisecond)
		defer cancel()
		if !informers.WaitForCacheSync(ctx) {
			return errors.New("the caches are not in sync with the API server yet")
		}
		return nil
	}
}
