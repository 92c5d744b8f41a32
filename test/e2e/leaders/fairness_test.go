// SPDX-License-Identifier: Apache-2.0

package leaders

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/deploy"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// flooded is the namespace whose users flood the API server.
const flooded = "flooded"

// startFairHub returns an API server with 24 seats for all priority levels.
func startFairHub(t *testing.T) *suite.Hub {
	t.Helper()
	return suite.StartHub(t, "--max-requests-inflight=12", "--max-mutating-requests-inflight=12")
}

// installFlowSchemas applies the FlowSchemas of an installation, and waits until they are in force.
func installFlowSchemas(t *testing.T, h *suite.Hub) {
	t.Helper()
	objects, err := deploy.Objects(deploy.Choices{})
	suite.Must(t, err)
	objects = slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return object.GroupVersionKind().Group != flowcontrolv1.GroupName
	})
	suite.Must(t, manifests.Apply(t.Context(), h.Environment.AdminConfig(), objects))
	suite.Eventually(t, "waiting for the FlowSchemas", func() error {
		for _, request := range append(requestsOfTheHub(), requestOfAnAgent()) {
			if schema, level := request.classify(t, h); schema != request.schema || level != request.level {
				return fmt.Errorf("%s is of %s in %s, want %s in %s", request.reason, schema, level, request.schema, request.level)
			}
		}
		return nil
	})
}

// classified is a request with the FlowSchema and the level that it gets.
type classified struct {
	reason        string
	user          string
	groups        []string
	method, path  string
	body          string
	schema, level string
}

func requestOfAnAgent() classified {
	return classified{
		reason: "the Lease of an agent", user: "system:open-cluster-management:c1:agent",
		groups: []string{"system:open-cluster-management:c1", "system:open-cluster-management:managed-clusters"}, method: http.MethodPut,
		path:   "/apis/coordination.k8s.io/v1/namespaces/c1/leases/managed-cluster-lease",
		schema: "placement-hub-agents", level: "placement-hub-agents",
	}
}

// requestsOfTheHub returns requests of the ServiceAccount of the hub.
func requestsOfTheHub() []classified {
	const leases = "/apis/coordination.k8s.io/v1/namespaces/"
	requests := []classified{
		{
			reason: "the Lease of the leader", method: http.MethodPut, path: leases + manifests.Namespace + "/leases/placement-lock",
			schema: "placement-hub-leader-election", level: "leader-election",
		},
		{
			reason: "a Lease in another namespace", method: http.MethodPut, path: leases + "c1/leases/other",
			schema: "placement-hub", level: "workload-high",
		},
		{
			reason: "the review of a token", method: http.MethodPost, path: "/apis/authentication.k8s.io/v1/tokenreviews",
			body:   `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"invented"}}`,
			schema: "placement-hub-reviews", level: "workload-low",
		},
		{
			reason: "the review of a right", method: http.MethodPost, path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
			schema: "placement-hub-reviews", level: "workload-low",
		},
		{
			reason: "a decision", method: http.MethodPatch,
			path:   "/apis/cluster.open-cluster-management.io/v1beta1/namespaces/default/placementdecisions/p-decision-1/status",
			schema: "placement-hub", level: "workload-high",
		},
		{
			reason: "a ManagedCluster", method: http.MethodPatch, path: "/apis/cluster.open-cluster-management.io/v1/managedclusters/c1",
			schema: "placement-hub", level: "workload-high",
		},
		{
			reason: "a list", method: http.MethodGet, path: "/apis/cluster.open-cluster-management.io/v1/managedclusters",
			schema: "placement-hub-reads", level: "workload-high",
		},
		{
			reason: "the version", method: http.MethodGet, path: "/version",
			schema: "placement-hub-reads", level: "workload-high",
		},
	}
	for n := range requests {
		requests[n].user = suite.HubUser
		requests[n].groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + manifests.Namespace}
	}
	return requests
}

// classify sends the request, and returns the names of the FlowSchema and of the level by which the API server has served it. Whether the user may
// send it does not matter: the API server authorizes it afterwards.
func (c classified) classify(t *testing.T, h *suite.Hub) (schema, level string) {
	t.Helper()
	config, err := h.Environment.UserConfig(c.user, c.groups...)
	suite.Must(t, err)
	sender, err := rest.HTTPClientFor(config)
	suite.Must(t, err)
	request, err := http.NewRequestWithContext(t.Context(), c.method, config.Host+c.path, strings.NewReader(c.body))
	suite.Must(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := sender.Do(request)
	suite.Must(t, err)
	suite.Must(t, response.Body.Close())
	schemas, levels := &flowcontrolv1.FlowSchemaList{}, &flowcontrolv1.PriorityLevelConfigurationList{}
	suite.Must(t, h.Client.List(t.Context(), schemas))
	suite.Must(t, h.Client.List(t.Context(), levels))
	for n := range schemas.Items {
		if string(schemas.Items[n].UID) == response.Header.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID) {
			schema = schemas.Items[n].Name
		}
	}
	for n := range levels.Items {
		if string(levels.Items[n].UID) == response.Header.Get(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID) {
			level = levels.Items[n].Name
		}
	}
	return schema, level
}

// docs/scaling.md: the API server tells the requests of the hub and of agents apart from those of others.
func TestFlowsOfTheHub(t *testing.T) {
	h := startFairHub(t)
	installFlowSchemas(t, h)
	agent, tenant := requestOfAnAgent(), requestsOfTheHub()[0]
	agent.reason, agent.method, agent.path = "a list of an agent", http.MethodGet, "/apis/coordination.k8s.io/v1/leases"
	agent.schema, agent.level = "global-default", "global-default"
	tenant.reason, tenant.user = "the Lease of the leader, by another ServiceAccount", "system:serviceaccount:"+manifests.Namespace+":other"
	tenant.schema, tenant.level = "service-accounts", "workload-low"
	for _, c := range append(requestsOfTheHub(), requestOfAnAgent(), agent, tenant) {
		t.Run(c.reason, func(t *testing.T) {
			if schema, level := c.classify(t, h); schema != c.schema || level != c.level {
				t.Errorf("it is of the FlowSchema %q in the level %q, want %q in %q", schema, level, c.schema, c.level)
			}
		})
	}
}

// TestFloodOfServiceAccounts has the ServiceAccounts of a tenant take all seats of the level workload-low. A leader without the FlowSchemas loses its
// lease, which shows that the flood is one. A leader with them keeps it, and writes decisions.
func TestFloodOfServiceAccounts(t *testing.T) {
	h := startFairHub(t)
	key := types.NamespacedName{Namespace: "fair", Name: "p"}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: flooded}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "global"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "global"},
		},
		&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}},
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
	} {
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	arguments := append(slices.Clone(suite.QuickElection), suite.Unevaluated)

	without := h.StartReplica(t, arguments...)
	h.WantHolder(t, without)
	h.WantDecisions(t, key, "c1")
	end := flood(t, h)
	without.WantExit(t, 1)
	without.WantStderr(t, "lease")
	end()

	installFlowSchemas(t, h)
	with := h.StartReplica(t, arguments...)
	h.WantHolder(t, with)
	lease := &coordinationv1.Lease{}
	lock := client.ObjectKey{Namespace: manifests.Namespace, Name: "placement-lock"}
	suite.Must(t, h.Client.Get(t.Context(), lock, lease))
	transitions := ptr.Deref(lease.Spec.LeaseTransitions, 0)
	end = flood(t, h)
	defer end()
	suite.Must(t, h.Client.Create(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c2"}}))
	h.WantDecisions(t, key, "c1", "c2")
	renewals := 0
	for last := lease.Spec.RenewTime; renewals < 10; { // Ten seconds without a renewal end the leader.
		if with.Ended() {
			t.Fatalf("the leader has ended; %s", with)
		}
		suite.Must(t, h.Client.Get(t.Context(), lock, lease))
		if !lease.Spec.RenewTime.Equal(last) {
			last = lease.Spec.RenewTime
			renewals++
		}
		select {
		case <-t.Context().Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	if got := ptr.Deref(lease.Spec.LeaseTransitions, 0); got != transitions {
		t.Errorf("the lease has %d transitions after the flood and %d before, want the same", got, transitions)
	}
}

// flood has 40 ServiceAccounts create objects whose admission does not end, each 6 at a time, and returns when the level has no seat left for another
// ServiceAccount. The result ends the flood.
func flood(t *testing.T, h *suite.Hub) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		select {
		case <-ctx.Done():
		case <-request.Context().Done():
		}
	}))
	configuration := neverEnds(server)
	suite.Must(t, h.Client.Create(t.Context(), configuration))
	allowFlood(t, h)

	const accounts, each = 40, 6
	var group sync.WaitGroup
	for n := range accounts {
		account := accountOf(t, h, fmt.Sprintf("a%d", n))
		for range each {
			group.Go(func() {
				for ctx.Err() == nil { // A request that waits for a seat for 15 seconds is refused.
					object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: flooded, GenerateName: "flood-"}}
					if err := account.Create(ctx, object); err == nil {
						t.Error("the webhook has admitted an object")
						return
					}
				}
			})
		}
	}
	another := accountOf(t, h, "another")
	suite.Eventually(t, "waiting until no seat is left", func() error {
		asking, stop := context.WithTimeout(ctx, 2*time.Second)
		defer stop()
		err := another.Get(asking, client.ObjectKey{Namespace: flooded, Name: "any"}, &corev1.ConfigMap{})
		if asking.Err() == nil {
			return fmt.Errorf("another ServiceAccount is answered: %w", err)
		}
		return nil
	})
	return sync.OnceFunc(func() {
		cancel()
		group.Wait()
		server.Close()
		suite.Must(t, h.Client.Delete(context.WithoutCancel(t.Context()), configuration))
	})
}

// neverEnds returns the configuration of a server that reviews new ConfigMaps of the flooded namespace.
func neverEnds(server *httptest.Server) *admissionregistrationv1.ValidatingWebhookConfiguration {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: flooded}}
	configuration.Webhooks = []admissionregistrationv1.ValidatingWebhook{{
		Name: "never.ends.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds: ptr.To[int32](30),
		ClientConfig: admissionregistrationv1.WebhookClientConfig{
			URL: ptr.To(server.URL), CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: flooded}},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		}},
	}}
	return configuration
}

// allowFlood lets the ServiceAccounts of the flooded namespace create ConfigMaps there.
func allowFlood(t *testing.T, h *suite.Hub) {
	t.Helper()
	name := metav1.ObjectMeta{Namespace: flooded, Name: flooded}
	for _, object := range []client.Object{
		&rbacv1.Role{ObjectMeta: name, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create", "get"},
		}}},
		&rbacv1.RoleBinding{
			ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: flooded},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + flooded}},
		},
	} {
		if err := h.Client.Create(t.Context(), object); !apierrors.IsAlreadyExists(err) {
			suite.Must(t, err)
		}
	}
	h.AwaitRoles(t)
}

// accountOf returns the client of a ServiceAccount of the flooded namespace.
func accountOf(t *testing.T, h *suite.Hub, name string) client.Client {
	t.Helper()
	config := h.Environment.AdminConfig()
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + flooded + ":" + name,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + flooded, "system:authenticated"},
	}
	account, err := client.New(config, client.Options{Scheme: h.Client.Scheme(), Mapper: h.Client.RESTMapper()})
	suite.Must(t, err)
	return account
}
