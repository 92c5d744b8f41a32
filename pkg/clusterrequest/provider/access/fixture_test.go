// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/test/fakeapi"
)

const (
	gardener = "gardener"
	lifetime = 10 * time.Hour
)

var (
	start    = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	deployer = types.NamespacedName{Namespace: "team-a", Name: "deployer"}
	errAway  = errors.New("the cluster is away")
)

// world is a reconciler of a provider, a fake hub and a fake cluster.
type world struct {
	*reconciler
	t *testing.T

	hub, member client.Client
	clock       *clocktesting.FakePassiveClock
	admin       error  // of Targets
	authority   string // the file with the certificate authority of the cluster
	writes      []string
	tokens      int
}

// Admin returns the client configuration of the cluster, with the certificate authority in a file.
func (w *world) Admin(context.Context, *openmcpv1alpha1.Cluster) (*rest.Config, error) {
	return &rest.Config{Host: "https://member", TLSClientConfig: rest.TLSClientConfig{CAFile: w.authority}}, w.admin
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()

	w := &world{t: t, clock: clocktesting.NewFakePassiveClock(start), authority: filepath.Join(t.TempDir(), "ca.crt")}
	if err := os.WriteFile(w.authority, []byte("the certificate authority of the cluster"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.hub = fake.NewClientBuilder().WithScheme(scheme.Known()).WithObjects(objects...).
		WithStatusSubresource(&openmcpv1alpha1.AccessRequest{}).WithInterceptorFuncs(w.observe("hub")).
		WithIndex(&openmcpv1alpha1.AccessRequest{}, metav1.ObjectNameField, func(object client.Object) []string {
			return []string{object.GetName()}
		}).Build()
	w.member = fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithInterceptorFuncs(w.observe("member")).Build()
	w.reconciler = &reconciler{
		Settings: Settings{Provider: gardener, Environment: "test", TokenLifetime: lifetime, Targets: w, Clock: w.clock},
		connect:  func(config *rest.Config) (*target, error) { return &target{client: w.member, config: config}, nil },
		cached:   w.hub, live: w.hub, clusters: w.hub, writer: w.hub, left: &leftovers{},
		conflicts: queue.NewConflictBackoff[reconcile.Request](),
		refusals:  workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, longestRetry),
	}
	return w
}

// observe records the writes of a client of a cluster, and has it make tokens.
func (w *world) observe(where string) interceptor.Funcs {
	observed := fakeapi.Observe(func(write fakeapi.Write) {
		verb := write.Verb
		if write.Subresource != "" {
			verb = write.Subresource
		}
		w.writes = append(w.writes, fmt.Sprintf("%s %s %T", verb, where, write.Object))
	})
	observed.SubResourceCreate = w.createToken
	return observed
}

// createToken makes a token, as the API server of the cluster does.
func (w *world) createToken(_ context.Context, _ client.Client, _ string, _, made client.Object, _ ...client.SubResourceCreateOption) error {
	request, is := made.(*authenticationv1.TokenRequest)
	if !is {
		return fmt.Errorf("a %T is no TokenRequest", made)
	}
	w.tokens++
	request.Status.Token = fmt.Sprintf("token-%d", w.tokens)
	request.Status.ExpirationTimestamp = metav1.NewTime(w.clock.Now().Add(time.Duration(*request.Spec.ExpirationSeconds) * time.Second))
	return nil
}

// reconcileOnce reconciles the AccessRequest, and returns the writes and the error.
func (w *world) reconcileOnce() ([]string, reconcile.Result, error) {
	w.t.Helper()
	w.writes = nil
	result, err := w.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: deployer})
	return w.writes, result, err
}

// mustReconcile reconciles the AccessRequest without an error.
func (w *world) mustReconcile() ([]string, reconcile.Result) {
	w.t.Helper()
	writes, result, err := w.reconcileOnce()
	if err != nil {
		w.t.Fatal(err)
	}
	return writes, result
}

func (w *world) access() *openmcpv1alpha1.AccessRequest {
	w.t.Helper()
	access := &openmcpv1alpha1.AccessRequest{}
	if err := w.hub.Get(w.t.Context(), deployer, access); err != nil {
		w.t.Fatal(err)
	}
	return access
}

// change changes the AccessRequest and its status.
func (w *world) change(change func(*openmcpv1alpha1.AccessRequest)) {
	w.t.Helper()
	access := w.access()
	change(access)
	status := access.Status
	if err := w.hub.Update(w.t.Context(), access); err != nil {
		w.t.Fatal(err)
	}

	access.Status = status
	if err := w.hub.Status().Update(w.t.Context(), access); err != nil {
		w.t.Fatal(err)
	}
}

// onMember returns the kinds of the objects of the AccessRequest on the cluster, sorted.
func (w *world) onMember() []string {
	w.t.Helper()
	id := clusterrequest.NewAccess("test", gardener, resolvedAccess()).ID

	found, err := (&target{client: w.member}).present(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	var kinds []string
	for _, object := range (&accessObjects{
		found.accounts, found.roles, found.clusterRoles, found.roleBindings, found.clusterRoleBindings,
	}).missing(&accessObjects{}) {
		kinds = append(kinds, describe(object))
	}

	slices.Sort(kinds)
	return kinds
}

// resolvedAccess returns an AccessRequest with a permission in a namespace, which the hub has resolved to cluster.
func resolvedAccess() *openmcpv1alpha1.AccessRequest {
	access := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: deployer.Namespace, Name: deployer.Name, UID: "access", Generation: 1, CreationTimestamp: metav1.NewTime(start),
	}}
	access.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Name: "c"}
	access.Spec.Permissions = []openmcpv1alpha1.Permission{{
		Namespace: "shop", Name: "reader", Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}},
	}}
	access.Status.ClusterRef = &openmcpv1alpha1.NamespacedName{Namespace: deployer.Namespace, Name: "c"}
	access.Status.Status, access.Status.Reason = openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonResolved
	access.Status.Message = "ClusterProvider 'gardener' has not given the access yet"
	access.Status.Conditions = []metav1.Condition{{
		Type: openmcpv1alpha1.ConditionResolved, Status: metav1.ConditionTrue, Reason: openmcpv1alpha1.ReasonResolved, ObservedGeneration: 1,
	}}

	return access
}

// cluster returns an exclusive Cluster of a provider.
func cluster(provider string) *openmcpv1alpha1.Cluster {
	c := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: deployer.Namespace, Name: "c", UID: "c"}}
	c.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: provider, Profile: "aws"}
	c.Spec.Tenancy = openmcpv1alpha1.TenancyExclusive
	return c
}
