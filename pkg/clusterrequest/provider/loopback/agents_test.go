// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

const home = "clusterprovider-local"

var managedName = clusterrequest.ManagedClusterName(webAt)

// accessOf returns an AccessRequest in the namespace of the provider. Marks are "provider environment", or empty.
func accessOf(name, cluster, marks string) *openmcpv1alpha1.AccessRequest {
	request := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: name, UID: types.UID("uid-" + name)}}
	request.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Namespace: webAt.Namespace, Name: cluster}
	if provider, environment, found := strings.Cut(marks, " "); found {
		request.Annotations = map[string]string{ProviderAnnotation: provider, EnvironmentAnnotation: environment}
	}
	return request
}

// newAgents returns the reconciler of the agents of the provider "local" in the environment "one".
func newAgents(t *testing.T, objects ...client.Object) *agentReconciler {
	t.Helper()
	hub := fake.NewClientBuilder().WithScheme(scheme.Known()).WithObjects(objects...).WithStatusSubresource(&openmcpv1alpha1.AccessRequest{}).Build()
	return &agentReconciler{
		AgentSettings: AgentSettings{
			Queue: queue.Settings{Clock: clocktesting.NewFakePassiveClock(start)}, Environment: "one", Namespace: home, TokenLifetime: time.Hour,
		},
		provider: New(Options{Name: "local"}), cached: hub, live: hub, writer: hub, hub: &rest.Config{Host: "https://hub"},
	}
}

// left returns the names of the AccessRequests that are left, sorted.
func (r *agentReconciler) left(t *testing.T) []string {
	t.Helper()
	list := &openmcpv1alpha1.AccessRequestList{}
	if err := r.cached.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return slices.Sorted(slices.Values(names))
}

func TestOnlyOwnAccessRequestsAreDeleted(t *testing.T) {
	r := newAgents(t,
		accessOf(managedName, webAt.Name, "local one"), accessOf("of-an-admin", webAt.Name, ""), accessOf("of-null", webAt.Name, "null one"),
		accessOf("of-another-loopback", webAt.Name, "local two"), accessOf("to-another-cluster", "other", "local one"),
	)
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: webAt}); err != nil {
		t.Fatal(err)
	}
	if got := r.left(t); !slices.Equal(got, []string{"of-an-admin", "of-another-loopback", "of-null", "to-another-cluster"}) {
		t.Errorf("T6: left are %v", got)
	}
}

func TestAnUnmarkedAccessRequestOfTheNameIsOwn(t *testing.T) {
	r := newAgents(t, accessOf(managedName, webAt.Name, ""))
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: webAt}); err != nil {
		t.Fatal(err)
	}
	if got := r.left(t); len(got) > 0 {
		t.Errorf("T6: an AccessRequest from before the marks is left: %v", got)
	}
}

// published returns a Cluster of a provider that the hub has published.
func published(provider string) *openmcpv1alpha1.Cluster {
	cluster := web()
	cluster.UID, cluster.Finalizers = "web", []string{openmcpv1alpha1.InventoryFinalizer}
	cluster.Spec.ClusterProviderRef.Name, cluster.Status.ManagedCluster = provider, managedName
	return cluster
}

func TestAdoption(t *testing.T) {
	for _, tc := range []struct {
		reason, marks, cluster string
		want                   string // of the error
	}{
		{"T6: one from before the marks", "", webAt.Name, ""},
		{"T6: its own", "local one", webAt.Name, ""},
		{"T6: that of another loopback", "local two", webAt.Name, "delete or rename it"},
		{"T6: one to another Cluster", "local one", "other", "delete or rename it"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			r := newAgents(t, published("local"), accessOf(managedName, tc.cluster, tc.marks))

			_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: webAt})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v", err)
			}
			request := &openmcpv1alpha1.AccessRequest{}
			if err := r.cached.Get(t.Context(), client.ObjectKey{Namespace: home, Name: managedName}, request); err != nil {
				t.Fatal(err)
			}

			marked := request.Annotations[ProviderAnnotation] + " " + request.Annotations[EnvironmentAnnotation]
			if tc.want == "" && marked != "local one" || tc.want != "" && marked != tc.marks {
				t.Errorf("marks %q", marked)
			}
		})
	}
}

func TestAgentsWait(t *testing.T) {
	unpublished := published("local")
	unpublished.Status.ManagedCluster = ""
	for _, tc := range []struct {
		reason  string
		objects []client.Object
		left    []string
	}{
		{"cluster-request 4.4: the Cluster is not published yet", []client.Object{unpublished}, nil},
		{"cluster-request 4.4: the access is not given yet",
			[]client.Object{published("local"), accessOf(managedName, webAt.Name, "local one")}, []string{managedName}},
		{"cluster-request C37: the Cluster of another provider",
			[]client.Object{published("other"), accessOf("x", webAt.Name, "other one")}, []string{"x"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			r := newAgents(t, tc.objects...)
			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: webAt})
			if err != nil || !result.IsZero() {
				t.Errorf("%+v, %v", result, err)
			}
			if got := r.left(t); !slices.Equal(got, tc.left) || len(r.provider.agents.running) > 0 {
				t.Errorf("AccessRequests %v, agents %v", got, r.provider.agents.running)
			}
		})
	}

	// Without an API server there is nothing to ask access to.
	if _, err := newAgents(t, published("local")).Reconcile(t.Context(), reconcile.Request{NamespacedName: webAt}); err == nil {
		t.Error("cluster-request 4.4: an AccessRequest without the roles that it asks for")
	}
}

func TestTokensForTheHub(t *testing.T) {
	r := newAgents(t)
	r.writer = fake.NewClientBuilder().WithScheme(scheme.Known()).WithInterceptorFuncs(interceptor.Funcs{SubResourceCreate: func(
		_ context.Context, _ client.Client, _ string, account, made client.Object, _ ...client.SubResourceCreateOption,
	) error {
		token, is := made.(*authenticationv1.TokenRequest)
		if !is || account.GetName() != clusterrequest.WorkAgent || account.GetNamespace() != managedName || *token.Spec.ExpirationSeconds != 3600 {
			return fmt.Errorf("%T for %s", made, client.ObjectKeyFromObject(account))
		}
		token.Status.Token, token.Status.ExpirationTimestamp = "secret", metav1.NewTime(start.Add(time.Hour))
		return nil
	}}).Build()

	r.hub = &rest.Config{Host: "https://hub", BearerToken: "of the provider", Username: "provider"}

	config, renewal, err := r.hubConfig(t.Context(), managedName)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != r.hub.Host || config.BearerToken != "secret" || config.Username != "" {
		t.Errorf("T8: the agent gets more than its own token: %s", config)
	}
	if want := start.Add(48 * time.Minute); !renewal.Equal(want) {
		t.Errorf("cluster-request 4.4: renewed at %s, want %s", renewal, want)
	}
}
