// SPDX-License-Identifier: Apache-2.0

package federationattack

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

const (
	// workers leave some for the others when requests hang.
	workers = 32
	// stopTimeout is how long a hub may take to end.
	stopTimeout = 90 * time.Second
	// retryPeriod is the time between the end of a hub that has failed and its next start.
	retryPeriod = 200 * time.Millisecond
)

// hub is a hub in this process behind a proxy.
type hub struct {
	proxy *faults.Proxy
	stop  context.CancelFunc
	ended chan struct{}
}

func newHub(account *rest.Config) (*hub, error) {
	proxy, err := faults.Start(account)
	if err != nil {
		return nil, fmt.Errorf("starting a proxy: %w", err)
	}
	return &hub{proxy: proxy}, nil
}

// start runs the hub until end, and starts it again after a failure, as a kubelet does: faults strike while it starts, too.
func (h *hub) start(ctx context.Context) {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stop, h.ended = stop, make(chan struct{})
	go func() {
		defer close(h.ended)
		wait.UntilWithContext(running, func(ctx context.Context) {
			if err := h.run(ctx); err != nil && ctx.Err() == nil {
				klog.Background().Info("The hub has ended and starts again", "err", err.Error())
			}
		}, retryPeriod)
	}()
}

// run runs the controllers of placement and of federated objects.
func (h *hub) run(ctx context.Context) error {
	options := system.Options{
		Controllers: []string{"*", "-" + managedcluster.ManagedClusterTaints, "-" + webhook.Controller, "federation/objects"},
		Workers:     workers,
	}

	mgr, err := h.newManager(ctx, options)
	if err != nil {
		return fmt.Errorf("making a manager: %w", err)
	}
	if err := system.Setup(mgr, options); err != nil {
		return fmt.Errorf("setting up the controllers: %w", err)
	}
	if err := system.Start(ctx, mgr); err != nil {
		return fmt.Errorf("running the controllers: %w", err)
	}
	return nil
}

// newManager makes a manager, or returns when ctx ends: the requests for it know no context and may hang, and a process that is killed does not
// wait for their responses.
func (h *hub) newManager(ctx context.Context, options system.Options) (ctrl.Manager, error) {
	type result struct {
		manager ctrl.Manager
		err     error
	}
	made := make(chan result, 1)

	go func() {
		mgr, err := ctrl.NewManager(h.proxy.Config(), ctrl.Options{
			Scheme: system.Scheme(), Cache: options.CacheOptions(), NewCache: decoding.NewCache, Logger: klog.Background(),
			Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		})
		made <- result{mgr, err}
	}()

	select {
	case r := <-made:
		return r.manager, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// kill ends the hub at once, as far as the API server can see, and starts another one.
func (h *hub) kill(ctx context.Context) error {
	refused := h.proxy.Break(faults.Rule{Fault: faults.Reset})
	err := h.end()
	refused()
	if err != nil {
		return err
	}
	h.start(ctx)
	return nil
}

func (h *hub) end() error {
	h.stop()
	select {
	case <-h.ended:
		return nil
	case <-time.After(stopTimeout):
		return errors.New("the hub does not end")
	}
}

func (h *hub) close() error {
	if h.stop == nil {
		return h.proxy.Close()
	}
	return errors.Join(h.end(), h.proxy.Close())
}

// writes counts the requests that change works or objects.
func (h *hub) writes() int {
	return len(h.proxy.Requests(faults.Match{
		Verbs: []string{"create", "update", "patch", "delete"}, Resources: []string{"manifestworks", "configmaps"},
	}))
}
