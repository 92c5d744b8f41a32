// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/access"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	gardenerProvider = "gardener"
	otherProvider    = "other"
	tokenLifetime    = 10 * time.Minute // The least that API servers make.
)

// reached are the clusters of both providers: the API server of the suite serves all of them.
var reached = &targets{asked: map[string]int{}}

// providerTime is the clock of both providers.
var providerTime = &shiftedClock{}

// hubTime is the clock of the hub.
var hubTime = &shiftedClock{}

// targets reaches the cluster of every Cluster at one API server.
type targets struct {
	config *rest.Config

	mutex sync.Mutex
	// asked counts the calls by <provider> <namespace>/<name>.
	asked map[string]int
	// change, if it is not nil, changes what Admin returns for some Clusters.
	change func(cluster *openmcpv1alpha1.Cluster, config *rest.Config) error
}

// of returns the clusters of one provider.
func (t *targets) of(provider string) access.Targets { return &targetsOf{t, provider} }

type targetsOf struct {
	all      *targets
	provider string
}

// Admin returns the client configuration of the API server, or what a spec says.
func (t *targetsOf) Admin(_ context.Context, cluster *openmcpv1alpha1.Cluster) (*rest.Config, error) {
	t.all.mutex.Lock()
	defer t.all.mutex.Unlock()
	t.all.asked[t.provider+" "+client.ObjectKeyFromObject(cluster).String()]++
	config := rest.CopyConfig(t.all.config)
	if t.all.change != nil {
		if err := t.all.change(cluster, config); err != nil {
			return nil, err
		}
	}
	return config, nil
}

// calls returns how often a provider asked for the cluster of a Cluster.
func (t *targets) calls(provider string, cluster *openmcpv1alpha1.Cluster) int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.asked[provider+" "+client.ObjectKeyFromObject(cluster).String()]
}

// with changes what the providers reach until the spec ends.
func (t *targets) with(change func(*openmcpv1alpha1.Cluster, *rest.Config) error) {
	set := func(change func(*openmcpv1alpha1.Cluster, *rest.Config) error) {
		t.mutex.Lock()
		defer t.mutex.Unlock()
		t.change = change
	}
	set(change)
	DeferCleanup(func() { set(nil) })
}

// shiftedClock is the real clock, moved.
type shiftedClock struct {
	clock.RealClock

	by atomic.Int64
}

// Now returns the time by the moved clock.
func (c *shiftedClock) Now() time.Time { return c.RealClock.Now().Add(time.Duration(c.by.Load())) }

// startProvider starts the access controllers of a provider, until the spec or the suite ends, and returns what stops them before.
func startProvider(config *rest.Config, name string) (stop func()) {
	GinkgoHelper()
	mgr, err := ctrl.NewManager(rest.CopyConfig(config), ctrl.Options{
		Scheme: scheme.New(), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0", Logger: klog.Background(),
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(access.Setup(mgr, access.Settings{
		Provider: name, Environment: "test", TokenLifetime: tokenLifetime, Targets: reached.of(name), Clock: providerTime,
		Workers: 2, Timeout: time.Minute,
	})).To(Succeed())

	ctx, cancel := context.WithCancel(context.Background()) // It runs until the suite ends.
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		Eventually(ended).WithTimeout(suite.Timeout).Should(Receive(BeNil()))
	})
	DeferCleanup(stop)
	return stop
}

// later moves a clock forward until the spec ends.
func (c *shiftedClock) later(by time.Duration) {
	c.by.Add(int64(by))
	DeferCleanup(func() { c.by.Store(0) })
}

// access creates an AccessRequest for a ClusterRequest.
func (w *world) access(request *openmcpv1alpha1.ClusterRequest, permissions ...openmcpv1alpha1.Permission) *openmcpv1alpha1.AccessRequest {
	GinkgoHelper()
	return w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
		a.Spec.RequestRef, a.Spec.Permissions = &openmcpv1alpha1.ObjectReference{Name: request.Name}, permissions
	})
}

// accessWith creates an AccessRequest.
func (w *world) accessWith(change func(*openmcpv1alpha1.AccessRequest)) *openmcpv1alpha1.AccessRequest {
	GinkgoHelper()
	w.requests++
	a := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: fmt.Sprintf("a%d", w.requests)}}
	change(a)
	w.create(a)
	return a
}

// outcome waits until an AccessRequest has this status and reason for its present generation.
func (w *world) outcome(a *openmcpv1alpha1.AccessRequest, status openmcpv1alpha1.RequestPhase, reason string) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(a), a)).To(Succeed())
		g.Expect(string(a.Status.Status)+" "+a.Status.Reason).To(Equal(string(status)+" "+reason), a.Status.Message)
		g.Expect(a.Status.ObservedGeneration).To(Equal(a.Generation))
	})
}

// secret returns the Secret of an AccessRequest that is granted.
func (w *world) secret(a *openmcpv1alpha1.AccessRequest) *corev1.Secret {
	GinkgoHelper()
	w.outcome(a, openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess)
	Expect(a.Status.SecretRef).To(HaveField("Name", a.Name+".kubeconfig"))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Status.SecretRef.Name}}
	Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(secret), secret)).To(Succeed())
	return secret
}

// member returns a client with the kubeconfig of an AccessRequest that is granted.
func (w *world) member(a *openmcpv1alpha1.AccessRequest) client.Client {
	GinkgoHelper()
	return clientOf(w.secret(a))
}

func clientOf(secret *corev1.Secret) client.Client {
	GinkgoHelper()
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data[access.KubeconfigKey])
	Expect(err).NotTo(HaveOccurred())
	member, err := client.New(config, client.Options{Scheme: scheme.Known(), Mapper: suite.Client.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	return member
}

// mayList waits until the authorizer of the target knows that a client may list objects.
func (w *world) mayList(member client.Client, list client.ObjectList, options ...client.ListOption) {
	GinkgoHelper()
	w.eventually(func(g Gomega) { g.Expect(member.List(w.ctx, list, options...)).To(Succeed()) })
}

// targetNamespace returns the name of a namespace on the target that only this world uses.
func (w *world) targetNamespace() string { return "on-target-" + w.namespace }

// reads is a permission to get a resource in the namespace of the world on the target.
func (w *world) reads(resource string) openmcpv1alpha1.Permission {
	return openmcpv1alpha1.Permission{Namespace: w.targetNamespace(), Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{resource}},
	}}
}

// made returns the kinds and names of all objects on the target that were made for an AccessRequest, sorted.
func (w *world) made(g Gomega, a *openmcpv1alpha1.AccessRequest) []string {
	var names []string
	for kind, list := range map[string]client.ObjectList{
		"ServiceAccount": &corev1.ServiceAccountList{}, "Role": &rbacv1.RoleList{}, "ClusterRole": &rbacv1.ClusterRoleList{},
		"RoleBinding": &rbacv1.RoleBindingList{}, "ClusterRoleBinding": &rbacv1.ClusterRoleBindingList{},
	} {
		g.Expect(suite.Client.List(w.ctx, list, client.MatchingLabels{
			openmcpv1alpha1.AccessRequestNameLabel: a.Name, openmcpv1alpha1.AccessRequestNamespaceLabel: a.Namespace,
		})).To(Succeed())
		g.Expect(meta.EachListItem(list, func(item runtime.Object) error {
			object, err := meta.Accessor(item)
			if err == nil {
				names = append(names, kind+" "+object.GetName())
			}
			return err
		})).To(Succeed())
	}

	slices.Sort(names)
	return names
}

// nothingLeft waits until an AccessRequest has neither objects on the target nor a Secret.
func (w *world) nothingLeft(a *openmcpv1alpha1.AccessRequest) {
	GinkgoHelper()
	w.eventually(func(g Gomega) { g.Expect(w.made(g, a)).To(BeEmpty()) })
	w.gone(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: clusterrequest.SecretName(a.Name)}})
}

// clusterOf creates an exclusive Cluster of a provider by hand.
func (w *world) clusterOf(provider string) *openmcpv1alpha1.Cluster {
	GinkgoHelper()
	w.requests++
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: fmt.Sprintf("c%d", w.requests)}}
	cluster.Spec = openmcpv1alpha1.ClusterSpec{
		ClusterProviderRef: openmcpv1alpha1.ClusterProviderReference{Name: provider, Profile: "aws"},
	}
	w.create(cluster)
	return cluster
}

// accessTo creates an AccessRequest for a Cluster.
func (w *world) accessTo(cluster *openmcpv1alpha1.Cluster) *openmcpv1alpha1.AccessRequest {
	GinkgoHelper()
	return w.accessWith(func(a *openmcpv1alpha1.AccessRequest) {
		a.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Name: cluster.Name}
		a.Spec.Permissions = []openmcpv1alpha1.Permission{w.reads("configmaps")}
	})
}
