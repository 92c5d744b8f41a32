// SPDX-License-Identifier: Apache-2.0

package providers

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// account is the ServiceAccount of a provider in its namespace.
const account = "provider"

// Namespace returns the namespace of a provider that is built in.
func Namespace(provider string) string { return "clusterprovider-" + provider }

// Definitions returns the objects in the files of manifests whose paths match a pattern.
func Definitions(pattern string) []*unstructured.Unstructured {
	GinkgoHelper()
	files := os.DirFS("../../../manifests")

	names, err := fs.Glob(files, pattern)
	Expect(err).NotTo(HaveOccurred())
	Expect(names).NotTo(BeEmpty())
	var all []*unstructured.Unstructured

	for _, name := range names {
		if path.Base(name) == "kustomization.yaml" {
			continue
		}
		file, err := files.Open(name)
		Expect(err).NotTo(HaveOccurred())
		objects, err := manifests.Decode(file, name)
		Expect(err).NotTo(HaveOccurred())
		Expect(file.Close()).To(Succeed())
		all = append(all, objects...)
	}

	return all
}

// Clock is a clock that tests move forward. It is safe for concurrent use.
type Clock struct {
	clock.PassiveClock

	mu    sync.Mutex
	ahead time.Duration
}

// NewClock returns a clock that shows the present time.
func NewClock() *Clock { return &Clock{PassiveClock: clock.RealClock{}} }

// Now returns the present time and what the clock was moved forward by.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.PassiveClock.Now().Add(c.ahead)
}

// Advance moves the clock forward.
func (c *Clock) Advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += by
}

// Running is a provider that runs.
type Running struct {
	// Proxy has the requests of the provider.
	Proxy *faults.Proxy
	// Stop stops the provider; further calls do nothing.
	Stop func()
}

// Start starts the controllers of a provider, as the ServiceAccount of the provider that is built in under the name kind. They run until
// Stop or the end of the spec. setup may add more controllers to the manager; nil adds none.
func Start( //nolint:contextcheck // The provider runs until Stop.
	ctx context.Context, plane *localplane.ControlPlane, kind string, settings provider.Settings, setup func(manager.Manager) error,
) *Running {
	GinkgoHelper()
	config, err := plane.ServiceAccountConfig(ctx, Namespace(kind), account)
	Expect(err).NotTo(HaveOccurred())
	proxy, err := faults.Start(config)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(proxy.Close()).To(Succeed()) })
	config = rest.CopyConfig(proxy.Config())
	config.QPS = -1

	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme.New(), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0", Logger: klog.Background(),
	})
	Expect(err).NotTo(HaveOccurred())
	if settings.Queue.Clock == nil {
		settings.Queue.Clock = clock.RealClock{}
	}
	settings.Queue.Workers, settings.Queue.Timeout = 4, time.Minute
	Expect(provider.Setup(mgr, settings)).To(Succeed())

	if setup != nil {
		Expect(setup(mgr)).To(Succeed())
	}
	running, cancel := context.WithCancel(context.Background()) // It runs until Stop.
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()

	stop := sync.OnceFunc(func() {
		cancel()
		Eventually(ended).WithTimeout(suite.Timeout).Should(Receive(BeNil()))
	})
	DeferCleanup(stop)
	return &Running{Proxy: proxy, Stop: stop}
}

// Writes returns the requests so far that were sent to change something, as "verb resource".
func (r *Running) Writes() []string {
	requests := r.Proxy.Requests(faults.Match{Verbs: []string{"create", "update", "patch", "delete"}})
	all := make([]string, 0, len(requests))
	for _, request := range requests {
		all = append(all, request.Verb+" "+request.Resource)
	}
	return all
}

// Unused returns what a ClusterRole grants and no provider of these has requested, as "verb resource".
func Unused(ctx context.Context, role string, running ...*Running) []string {
	GinkgoHelper()
	granted := &rbacv1.ClusterRole{}
	Expect(suite.Client.Get(ctx, client.ObjectKey{Name: role}, granted)).To(Succeed())
	return unused(granted.Rules, faults.Match{}, running)
}

// UnusedIn returns what a Role grants and no provider of these has requested in its namespace, as "verb resource".
func UnusedIn(ctx context.Context, namespace, role string, running ...*Running) []string {
	GinkgoHelper()
	granted := &rbacv1.Role{}
	Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: role}, granted)).To(Succeed())
	return unused(granted.Rules, faults.Match{Namespace: namespace}, running)
}

// unused returns what rules grant and no provider of these has requested, among the requests that match.
func unused(rules []rbacv1.PolicyRule, match faults.Match, running []*Running) []string {
	used := []string{
		"create leases",                 // The API server asks for it when server-side apply creates an object.
		"create clusters/access",        // Admission asks for it, or the hub.
		"create events", "patch events", // They say what keeps the API server from applying.
	}

	for _, provider := range running {
		for _, request := range provider.Proxy.Requests(match) {
			used = append(used, request.Verb+" "+request.Resource)
			if request.Verb == "watch" { // An API server that cannot stream a list in a watch is asked for the list.
				used = append(used, "list "+request.Resource)
			}
		}
	}
	var unused []string

	for _, rule := range rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				if text := verb + " " + resource; !slices.Contains(used, text) {
					unused = append(unused, text)
				}
			}
		}
	}
	return unused
}

// NewCluster returns a Cluster of a provider. Its profile is "default".
func NewCluster(namespace, name, provider string) *openmcpv1alpha1.Cluster {
	return &openmcpv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: openmcpv1alpha1.ClusterSpec{
			ClusterProviderRef: openmcpv1alpha1.ClusterProviderReference{Name: provider, Profile: "default"},
			Tenancy:            openmcpv1alpha1.TenancyExclusive,
		},
	}
}

// Health returns the condition ClusterHealthy and the phase of a Cluster as "status reason phase".
func Health(ctx context.Context, g Gomega, cluster *openmcpv1alpha1.Cluster) string {
	g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
	var text []string
	for _, condition := range cluster.Status.Conditions {
		if condition.Type == openmcpv1alpha1.ConditionClusterHealthy {
			text = append(text, string(condition.Status), condition.Reason)
		}
	}
	return strings.Join(append(text, fmt.Sprint(cluster.Status.Phase)), " ")
}
