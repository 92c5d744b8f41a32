// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/logging"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/stopping"
	loopbackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcploopback/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/access"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/loopback"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/null"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

const (
	// workers is how many Clusters, and how many AccessRequests, are reconciled at the same time.
	workers = 8
	// timeout is the timeout of one reconcile.
	timeout = time.Minute
)

// Null runs the null provider until ctx ends.
func Null(ctx context.Context, config *rest.Config, o NullOptions) error {
	p := null.Provider{Offered: o.Profiles()}
	settings := provider.Settings{Provider: p, LeaseDuration: null.LeaseDuration}
	return run(ctx, config, o.Options, settings, nil)
}

// Loopback runs the loopback provider until ctx ends, and then stops its API servers.
func Loopback(ctx context.Context, config *rest.Config, o LoopbackOptions) error {
	p := loopback.New(loopback.Options{
		Name: o.Name, APIServer: o.APIServer, Etcd: o.Etcd, DataDir: o.DataDir, Clock: clock.RealClock{},
	})
	settings := provider.Settings{Provider: p, Config: &loopbackv1alpha1.ProviderConfig{}}
	more := func(mgr manager.Manager) error { //nolint:contextcheck // The index that it adds is made before the manager starts.
		err := access.Setup(mgr, access.Settings{
			Provider: o.Name, Environment: o.Environment, TokenLifetime: o.TokenLifetime, Targets: p,
			Clock: clock.RealClock{}, Workers: workers, Timeout: timeout,
		})
		if err != nil {
			return fmt.Errorf("controller of AccessRequests: %w", err)
		}
		if o.WorkAgent != "" {
			return loopback.SetupAgents(mgr, p, loopback.AgentSettings{
				Queue: queueSettings(), Binary: o.WorkAgent, Environment: o.Environment, Namespace: o.Namespace, TokenLifetime: o.TokenLifetime,
			})
		}
		return nil
	}
	return errors.Join(run(ctx, config, o.Options, settings, more), p.Close())
}

func queueSettings() queue.Settings {
	return queue.Settings{Workers: workers, Timeout: timeout, Clock: clock.RealClock{}}
}

// run runs the controllers of a provider until ctx ends, with settings that it completes from the flags. more adds others to them, unless it is
// nil.
func run(ctx context.Context, config *rest.Config, o Options, settings provider.Settings, more func(manager.Manager) error) error {
	mgr, err := newManager(ctx, config)
	if err != nil {
		return err
	}
	settings.Name, settings.Queue = o.Name, queueSettings()
	if err := provider.Setup(mgr, settings); err != nil {
		return err
	}
	if more != nil {
		if err := more(mgr); err != nil {
			return err
		}
	}
	if err := mgr.Start(ctx); err != nil && !stopping.Caused(ctx, err) {
		return fmt.Errorf("running the provider: %w", err)
	}
	return nil
}

// newManager returns a manager without servers and without leader election: a provider runs once.
func newManager(ctx context.Context, config *rest.Config) (manager.Manager, error) {
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme.New(), Logger: stopping.Logger(ctx, logging.Quiet(klog.Background())),
		BaseContext: func() context.Context { return context.WithoutCancel(ctx) }, // It has the logger of requests.
		Metrics:     metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0", NewCache: decoding.NewCache,
	})
	if err != nil {
		return nil, fmt.Errorf("connecting to the hub: %w", err)
	}
	return mgr, nil
}
