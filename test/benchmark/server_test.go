// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
)

const (
	// clients is how many requests of the benchmark itself are under way at the same time.
	clients = 16
	// longest is how long one step may take before it counts as stuck.
	longest = 15 * time.Minute
	// calm is how long nothing may be written for a hub to count as settled.
	calm = 2 * time.Second
)

// server is a control plane with the manifests of the hub.
type server struct {
	environment *localplane.ControlPlane
	api         client.Client
}

func startServer(b *testing.B) *server {
	b.Helper()
	ctrl.SetLogger(klog.NewKlogr())
	environment, err := localplane.Start(b.Context(), localplane.Options{})
	must(b, err)
	b.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			b.Error(err)
		}
	})
	must(b, manifests.Install(b.Context(), environment.AdminConfig()))
	api, err := client.New(environment.AdminConfig(), client.Options{Scheme: system.Scheme()})
	must(b, err)
	return &server{environment: environment, api: api}
}

// create makes objects, many at a time, and returns how long that took.
func (s *server) create(b *testing.B, objects []client.Object) time.Duration {
	b.Helper()
	begin := time.Now()
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(clients)
	for _, object := range objects {
		group.Go(func() error { return s.api.Create(ctx, object) })
	}
	must(b, group.Wait())
	return time.Since(begin)
}

// hub is the controllers at work in this process, as their ServiceAccount.
type hub struct {
	manager manager.Manager
	writes  atomic.Int64 // that were carried out
	refused atomic.Int64 // that were not
	reviews atomic.Int64 // questions about access
	last    atomic.Int64 // time of the last one, in nanoseconds
	stop    func()
}

func (s *server) startHub(b *testing.B, controllers ...string) *hub {
	b.Helper()
	config, err := s.environment.ServiceAccountConfig(b.Context(), manifests.Namespace, manifests.ServiceAccount)
	must(b, err)
	h := &hub{}
	h.last.Store(time.Now().UnixNano())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &counter{next: next, hub: h} })
	h.manager, err = ctrl.NewManager(config, ctrl.Options{
		Scheme: system.Scheme(), Logger: klog.Background(),
		Cache: system.Options{Namespace: manifests.Namespace}.CacheOptions(), NewCache: decoding.NewCache,
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	must(b, err)
	must(b, system.Setup(h.manager, system.Options{Controllers: controllers}))
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.manager.Start(ctx) }()
	h.stop = func() {
		cancel()
		must(b, <-ended)
	}
	return h
}

// settle waits until the hub has written as much as wanted, and then nothing for a while. It returns how long the writes took.
func (h *hub) settle(b *testing.B, begin time.Time, wanted int64) time.Duration {
	b.Helper()
	err := wait.PollUntilContextTimeout(b.Context(), calm/20, longest, true, func(context.Context) (bool, error) {
		quiet := time.Since(time.Unix(0, h.last.Load())) > calm && time.Since(begin) > calm
		return h.writes.Load() >= wanted && quiet, nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		b.Fatalf("%d writes after %v, want %d", h.writes.Load(), longest, wanted)
	}
	must(b, err)
	if written := h.writes.Swap(0); written != wanted {
		b.Fatalf("%d writes, want %d", written, wanted)
	}
	if refused := h.refused.Swap(0); refused > 0 {
		b.Logf("%d writes were refused", refused)
	}
	if wanted == 0 {
		return 0
	}
	return time.Unix(0, h.last.Load()).Sub(begin)
}

// counter counts the writes that pass.
type counter struct {
	next http.RoundTripper
	hub  *hub
}

// RoundTrip passes a request on.
func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	reads := []string{http.MethodGet, http.MethodHead, http.MethodOptions}
	if err == nil && strings.HasSuffix(request.URL.Path, "/subjectaccessreviews") {
		c.hub.reviews.Add(1)
		return response, nil
	}
	if err == nil && !slices.Contains(reads, request.Method) {
		if response.StatusCode >= http.StatusBadRequest {
			c.hub.refused.Add(1)
			return response, nil
		}
		c.hub.writes.Add(1)
		c.hub.last.Store(time.Now().UnixNano())
	}
	return response, err
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
