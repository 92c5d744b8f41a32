// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

const (
	// electionName is the lease of the replicas.
	electionName = "attack"
	// The timing of elections. A busy machine must not lose one for no reason.
	leaseDuration = 5 * time.Second
	renewDeadline = 4 * time.Second
	retryPeriod   = 400 * time.Millisecond
	// workers leave some for the others when requests hang.
	workers = 32
	// replicas are a leader and a standby.
	replicas = 2
	// stopTimeout is how long a replica may take to end.
	stopTimeout = 30 * time.Second
)

// skewedClock is the time of the replicas, which jumps.
type skewedClock struct{ skew atomic.Int64 }

func (c *skewedClock) Now() time.Time                  { return time.Now().Round(0).Add(time.Duration(c.skew.Load())) }
func (c *skewedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// hub is the replicas of one world, each behind a proxy of its own.
type hub struct {
	replicas []*replica
}

// replica is a hub in this process that starts again whenever it ends, as a kubelet does.
type replica struct {
	proxy   *faults.Proxy
	clock   *skewedClock
	stopped chan struct{}
	stop    context.CancelFunc

	mu      sync.Mutex
	kill    context.CancelFunc // ends the run that is under way
	elected <-chan struct{}
	starts  int
}

func startHub(ctx context.Context, environment *localplane.ControlPlane, clock *skewedClock) (*hub, error) {
	account, err := environment.ServiceAccountConfig(ctx, manifests.Namespace, manifests.ServiceAccount)
	if err != nil {
		return nil, fmt.Errorf("the identity of the hub: %w", err)
	}
	h := &hub{}

	for range replicas {
		proxy, err := faults.Start(account)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("starting a proxy: %w", err), h.stop())
		}
		running, stop := context.WithCancel(context.WithoutCancel(ctx))
		r := &replica{proxy: proxy, clock: clock, stopped: make(chan struct{}), stop: stop}
		h.replicas = append(h.replicas, r)
		go r.supervise(running)
	}
	return h, nil
}

// stop ends all replicas.
func (h *hub) stop() error {
	var errs []error
	for _, r := range h.replicas {
		r.stop()
	}

	for _, r := range h.replicas {
		select {
		case <-r.stopped:
		case <-time.After(stopTimeout):
			errs = append(errs, errors.New("a replica does not end"))
		}
		errs = append(errs, r.proxy.Close())
	}
	return errors.Join(errs...)
}

// leader returns the replica that leads; nil while none does.
func (h *hub) leader() *replica {
	for _, r := range h.replicas {
		r.mu.Lock()
		elected := r.elected
		r.mu.Unlock()
		if elected == nil {
			continue
		}

		select {
		case <-elected:
			return r
		default:
		}
	}

	return nil
}

// others are all replicas but one.
func (h *hub) others(r *replica) []*replica {
	return slices.DeleteFunc(slices.Clone(h.replicas), func(other *replica) bool { return other == r })
}

// breakAll puts a rule into force for every replica.
func (h *hub) breakAll(rule faults.Rule) (mend func()) {
	mends := make([]func(), 0, len(h.replicas))
	for _, r := range h.replicas {
		mends = append(mends, r.proxy.Break(rule))
	}
	return func() {
		for _, mend := range mends {
			mend()
		}
	}
}

// wrote counts the writes of all replicas, without those that are due at any time.
func (h *hub) wrote() (count int, last string) {
	for _, r := range h.replicas {
		for _, request := range r.proxy.Requests(faults.Match{Verbs: []string{"create", "update", "patch", "delete", "deletecollection"}}) {
			if request.Resource != "leases" && request.Resource != "events" {
				count++
				last = fmt.Sprintf("%s %s %s/%s", request.Verb, request.Resource, request.Namespace, request.Name)
			}
		}
	}
	return count, last
}

func (r *replica) supervise(ctx context.Context) {
	defer close(r.stopped)
	for ctx.Err() == nil {
		running, kill := context.WithCancel(ctx)
		r.mu.Lock()
		r.kill, r.elected = kill, nil
		r.starts++
		r.mu.Unlock()
		if err := r.run(running); err != nil && ctx.Err() == nil {
			klog.Background().Info("A replica has ended and starts again", "err", err.Error())
			_ = wait(ctx, retryPeriod) // It ends with ctx, which the loop asks about.
		}
		kill()
	}
}

// run runs all controllers but the one that taints every cluster of which nobody says that it is available, and the one that API servers
// ask.
func (r *replica) run(ctx context.Context) error {
	options := system.Options{
		Controllers: []string{"*", "-" + managedcluster.ManagedClusterTaints, "-" + webhook.Controller}, Workers: workers, Clock: r.clock,
	}

	mgr, err := ctrl.NewManager(r.proxy.Config(), ctrl.Options{
		Scheme: system.Scheme(), Cache: options.CacheOptions(), Logger: klog.Background(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		LeaderElection: true, LeaderElectionID: electionName, LeaderElectionNamespace: manifests.Namespace,
		LeaseDuration: ptr.To(leaseDuration), RenewDeadline: ptr.To(renewDeadline), RetryPeriod: ptr.To(retryPeriod),
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return fmt.Errorf("making a manager: %w", err)
	}

	if err := system.Setup(mgr, options); err != nil {
		return fmt.Errorf("setting up the controllers: %w", err)
	}
	r.mu.Lock()
	r.elected = mgr.Elected()
	r.mu.Unlock()
	if err := system.Start(ctx, mgr); err != nil {
		return fmt.Errorf("running the controllers: %w", err)
	}
	return nil
}

// crash ends a replica at once, as far as the API server can see: none of its requests arrives any more. It starts again after the
// returned function is called.
func (r *replica) crash() (restart func() error, err error) {
	accept, err := r.proxy.Refuse()
	if err != nil {
		return nil, fmt.Errorf("refusing connections: %w", err)
	}
	r.mu.Lock()
	r.kill()
	r.mu.Unlock()
	return accept, nil
}

// tailLines is how many lines of the log of the hub are kept.
const tailLines = 400

// tail keeps the last lines of the log of the replicas.
type tail struct {
	mu    sync.Mutex
	lines []string
}

func newTail() *tail {
	t := &tail{}
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(t), textlogger.Verbosity(2)))
	klog.SetLoggerWithOptions(logger, klog.ContextualLogger(true))
	ctrl.SetLogger(logger)
	return t
}

// Write takes in a line.
func (t *tail) Write(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, string(line))
	if len(t.lines) > 2*tailLines {
		t.lines = slices.Clone(t.lines[tailLines:])
	}
	return len(line), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines[max(0, len(t.lines)-tailLines):], "")
}
