// SPDX-License-Identifier: Apache-2.0

package argocdrefresh

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/logging"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/stopping"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/argocdrefresh/controller"
	"github.com/placement-hub/placement-hub/pkg/decoding"
)

// Run refreshes ApplicationSets until ctx ends, or until the account of the process turns out to have too many rights.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme.New(), Logger: stopping.Logger(ctx, logging.Quiet(klog.Background())),
		BaseContext: func() context.Context { return context.WithoutCancel(ctx) }, // It has the logger of requests.
		Metrics:     metricsserver.Options{BindAddress: o.Metrics}, HealthProbeBindAddress: o.Probes,
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{o.Namespace: {}}}, NewCache: decoding.NewCache,
	})
	if err != nil {
		return fmt.Errorf("connecting to the hub: %w", err)
	}
	settings := controller.Settings{Namespace: o.Namespace, Pace: controller.NewPace(o.Interval), Clock: clock.RealClock{}}
	if err := controller.Setup(mgr, settings); err != nil {
		return err
	}
	err = errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("caches", func(request *http.Request) error {
		if !mgr.GetCache().WaitForCacheSync(request.Context()) {
			return errors.New("the caches are not in sync")
		}
		return nil
	}))
	if err != nil {
		return fmt.Errorf("adding the probes: %w", err)
	}
	if err := mgr.Start(ctx); err != nil && !stopping.Caused(ctx, err) {
		return fmt.Errorf("refreshing ApplicationSets: %w", err)
	}
	return nil
}
