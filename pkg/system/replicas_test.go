// SPDX-License-Identifier: Apache-2.0

package system

import (
	"net"
	"net/http"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

// everySystem are the controllers of all systems.
var everySystem = []string{"*", "podscheduling/*", "affinityclass/*", "federation/*", "clusterrequest/*"}

// runnables is a manager that keeps what is added to it.
type runnables struct {
	manager.Manager

	added []manager.Runnable
}

func (r *runnables) Add(added manager.Runnable) error {
	r.added = append(r.added, added)
	return r.Manager.Add(added)
}

// docs/spec/trust.md R4: the controllers of a standby warm up before the election, and would wait for a cache that starts after it.
func TestCachesAndWebhooksRunOnEveryReplica(t *testing.T) {
	options := Options{Controllers: everySystem, Namespace: "hub", ProfileDecisions: true}
	var listen net.ListenConfig
	listener, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	options.Webhook.Listener = listener

	mgr := &runnables{Manager: offline(t, options)}
	var optIn []*systems.System
	options.AddSystem = func(system *systems.System) { optIn = append(optIn, system) }
	if err := Setup(mgr, options); err != nil {
		t.Fatal(err)
	}

	for _, system := range optIn {
		if _, err := system.Setup(mgr); err != nil {
			t.Errorf("system %s: %v", system.Name, err)
		}
	}
	caches := 0

	for _, added := range mgr.added {
		if server, isServer := added.(*manager.Server); isServer && server.NeedLeaderElection() {
			t.Errorf("the server %s starts after the election", server.Name)
		}
		if _, isCache := added.(cache.Cache); !isCache {
			continue
		}
		caches++
		if _, onEveryReplica := added.(interface{ GetCache() cache.Cache }); !onEveryReplica {
			t.Errorf("%T starts after the election", added)
		}
	}

	if caches == 0 {
		t.Error("no cache was added, want those of several systems")
	}
}

// offline returns a manager of an API server that serves every kind of the hub and answers no request.
func offline(t *testing.T, options Options) manager.Manager {
	t.Helper()
	flux := meta.NewDefaultRESTMapper(nil)
	flux.Add(affinityclass.ReleaseKind, meta.RESTScopeNamespace)
	mgr, err := manager.New(&rest.Config{Host: "192.0.2.1"}, manager.Options{
		Scheme: Scheme(), Cache: options.CacheOptions(), NewCache: decoding.NewCache, Logger: logr.Discard(),
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return meta.MultiRESTMapper{testrestmapper.TestOnlyStaticRESTMapper(Scheme()), flux}, nil
		},
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	if err != nil {
		t.Fatal(err)
	}

	return mgr
}
