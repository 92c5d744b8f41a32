// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/attacks"
	"github.com/placement-hub/placement-hub/test/env/planes"
)

// QuickElection makes a standby take the lease of a leader that died after 15 seconds instead of two minutes. A leader on a busy machine does not
// lose it for no reason.
var QuickElection = []string{
	"--leader-election-lease-duration=15s", "--leader-election-renew-deadline=10s", "--leader-election-retry-period=1s",
}

// HubUser is the user name of the ServiceAccount that the controllers run as.
const HubUser = "system:serviceaccount:" + manifests.Namespace + ":" + manifests.ServiceAccount

// Hub is a control plane with the manifests, as an administrator sees it.
type Hub struct {
	Story           *testing.T // the replicas live as long
	Environment     *localplane.ControlPlane
	Client          client.Client
	AdminKubeconfig string
	Kubeconfig      string // of the controllers
}

// StartHub returns a control plane with the manifests until the end of the test. With arguments for kube-apiserver it is one that no other test
// has had.
func StartHub(t *testing.T, apiServerArgs ...string) *Hub {
	t.Helper()
	var environment *localplane.ControlPlane
	if len(apiServerArgs) == 0 {
		environment = planes.Lend(t)
	} else {
		environment = attacks.Start(t, localplane.Options{ControllerManager: true, AuditLog: true, APIServerArgs: apiServerArgs})
	}
	h := HubOf(t, environment)
	account, err := h.Account(t)
	Must(t, err)
	h.Kubeconfig = WriteKubeconfig(t, account)
	return h
}

// HubOf returns a control plane without the manifests, so that there is no Kubeconfig of the controllers.
func HubOf(t *testing.T, environment *localplane.ControlPlane) *Hub {
	t.Helper()
	h := &Hub{Story: t, Environment: environment}
	var err error
	h.Client, err = client.New(environment.AdminConfig(), client.Options{Scheme: system.Scheme()})
	Must(t, err)
	h.AdminKubeconfig = WriteKubeconfig(t, environment.AdminConfig())
	return h
}

// Account is what the controllers are to the control plane.
func (h *Hub) Account(t *testing.T) (*rest.Config, error) {
	t.Helper()
	return h.Environment.ServiceAccountConfig(t.Context(), manifests.Namespace, manifests.ServiceAccount)
}

// WriteKubeconfig writes a kubeconfig into a directory of the test and returns its path.
func WriteKubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	content, err := localplane.Kubeconfig(config)
	Must(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	Must(t, os.WriteFile(path, content, 0o600))
	return path
}

// Replica is a running `placement controller`.
type Replica struct {
	*Program
	url string
}

var servingAddress = regexp.MustCompile(`"Serving HTTPS" address="([^"]+)"`)

// Unevaluated leaves off the controller that taints every cluster without a reported availability.
const Unevaluated = "--controllers=-managedcluster-taints"

// StartReplica starts a replica and returns when it is ready.
func (h *Hub) StartReplica(t *testing.T, args ...string) *Replica {
	t.Helper()
	return h.StartServer(t, append([]string{"controller", "--kubeconfig", h.Kubeconfig, "--controllers=*", "--listen=127.0.0.1:0",
		"--webhook-listen=127.0.0.1:0"}, args...)...)
}

// StartServer starts a command that serves HTTPS and returns when it is ready.
func (h *Hub) StartServer(t *testing.T, args ...string) *Replica {
	t.Helper()
	r := h.StartServing(t, args...)
	r.WantReady(t)
	return r
}

// StartServing starts a command that serves HTTPS and returns when it says where.
func (h *Hub) StartServing(t *testing.T, args ...string) *Replica {
	t.Helper()
	r := &Replica{Program: startWithin(t, h.Story, args...)}
	Eventually(t, "waiting for the replica to serve", func() error {
		if found := servingAddress.FindStringSubmatch(r.Stderr.String()); found != nil {
			r.url = "https://" + found[1]
			return nil
		}
		if r.Ended() {
			t.Fatalf("the replica ended; %s", r)
		}
		return errors.New("it does not serve yet")
	})
	return r
}

// WantReady waits until the replica is ready, for reviews and for evaluation.
func (r *Replica) WantReady(t *testing.T) {
	t.Helper()
	Eventually(t, "waiting for the replica to be ready", func() error {
		for _, path := range []string{"/readyz", "/readyz/evaluation"} {
			if status, body := r.Get(t, path, ""); status != http.StatusOK {
				return fmt.Errorf("%s answers %d: %s; %s", path, status, body, r)
			}
		}
		return nil
	})
}

// Get reads a path of the replica, anonymously when the token is empty.
func (r *Replica) Get(t *testing.T, path, token string) (status int, body string) {
	t.Helper()
	return r.Request(t, http.MethodGet, path, token, "")
}

// Request sends a request to the replica, whose certificate is self-signed.
func (r *Replica) Request(t *testing.T, method, path, token, sent string) (status int, body string) {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(sent))
	Must(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, err.Error()
	}
	content, err := io.ReadAll(response.Body)
	Must(t, errors.Join(err, response.Body.Close()))
	return response.StatusCode, string(content)
}

// WantHolder waits until the replica holds the lease, or with nil until no replica does.
func (h *Hub) WantHolder(t *testing.T, r *Replica) {
	t.Helper()
	Eventually(t, "waiting for the lease", func() error {
		lease := &coordinationv1.Lease{}
		key := types.NamespacedName{Namespace: manifests.Namespace, Name: "placement-lock"}
		if err := h.Client.Get(t.Context(), key, lease); err != nil && (r != nil || !apierrors.IsNotFound(err)) {
			return err
		}
		switch held := ptr.Deref(lease.Spec.HolderIdentity, "") != ""; {
		case r == nil && held:
			return fmt.Errorf("%s holds it", *lease.Spec.HolderIdentity)
		case r != nil && (!held || !strings.Contains(r.Stderr.String(), `"Successfully acquired lease"`)):
			return fmt.Errorf("the replica has not acquired it; %s", r)
		}
		return nil
	})
}

// MoveCluster changes the region of a cluster.
func (h *Hub) MoveCluster(t *testing.T, name, region string) {
	t.Helper()
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	patch := fmt.Sprintf(`{"metadata":{"labels":{"region":%q}}}`, region)
	Must(t, h.Client.Patch(t.Context(), cluster, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// WantDecisions waits until the placement selects exactly these clusters, and its status says so.
func (h *Hub) WantDecisions(t *testing.T, placement types.NamespacedName, want ...string) {
	t.Helper()
	Eventually(t, "waiting for decisions", func() error {
		var pages clusterv1beta1.PlacementDecisionList
		err := h.Client.List(t.Context(), &pages, client.InNamespace(placement.Namespace),
			client.MatchingLabels{clusterv1beta1.PlacementLabel: placement.Name})
		if err != nil {
			return err
		}
		var got []string
		for _, page := range pages.Items {
			for _, decision := range page.Status.Decisions {
				got = append(got, decision.ClusterName)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Errorf("placement %s has %q, want %q", placement, got, want)
		}
		written := &clusterv1beta1.Placement{}
		if err := h.Client.Get(t.Context(), placement, written); err != nil {
			return err
		}
		if told := int(written.Status.NumberOfSelectedClusters); told != len(want) {
			return fmt.Errorf("the status of placement %s says %d clusters, want %d", placement, told, len(want))
		}
		return nil
	})
}

// AwaitAudit waits until the audit log has every request that the API server has answered so far.
func (h *Hub) AwaitAudit(t *testing.T) {
	t.Helper()
	mark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, GenerateName: "mark-"}}
	Must(t, h.Client.Create(t.Context(), mark))
	Must(t, h.Client.Delete(t.Context(), mark))
	Eventually(t, "waiting for the audit log", func() error {
		events, err := h.Environment.Audit()
		if err != nil {
			return err
		}
		for _, event := range events {
			if event.Verb == "delete" && event.ObjectRef != nil && event.ObjectRef.Name == mark.Name {
				return nil
			}
		}
		return errors.New("the last request is not in it yet")
	})
}

// Writes are what the controllers have written to the hub so far, but for leases, events and questions about access.
func (h *Hub) Writes(t *testing.T) []auditv1.Event {
	t.Helper()
	h.AwaitAudit(t)
	events, err := h.Environment.Writes(localplane.By(HubUser))
	Must(t, err)
	return slices.DeleteFunc(events, func(event auditv1.Event) bool {
		return slices.Contains([]string{"leases", "events", "tokenreviews", "subjectaccessreviews", "selfsubjectaccessreviews"},
			event.ObjectRef.Resource)
	})
}

// Stranger returns the token of an account without rights.
func (h *Hub) Stranger(t *testing.T) string { t.Helper(); return h.Token(t, "stranger") }

// MetricsReader returns the token of an account that may read /metrics and nothing else.
func (h *Hub) MetricsReader(t *testing.T) string {
	t.Helper()
	const name = "metrics-reader"
	token := h.Token(t, name)
	for _, object := range []client.Object{
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceDefault, Name: name}},
		},
	} {
		Must(t, client.IgnoreAlreadyExists(h.Client.Create(t.Context(), object)))
	}
	h.AwaitRoles(t)
	return token
}

// Token makes a ServiceAccount in the namespace default unless it is there, and returns a token of it.
func (h *Hub) Token(t *testing.T, account string) string {
	t.Helper()
	object := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: account}}
	Must(t, client.IgnoreAlreadyExists(h.Client.Create(t.Context(), object)))
	config, err := h.Environment.ServiceAccountConfig(t.Context(), metav1.NamespaceDefault, account)
	Must(t, err)
	return config.BearerToken
}

// Reconciles reads from the metrics how often a controller has looked at something.
func Reconciles(t *testing.T, metrics, controller string) float64 {
	t.Helper()
	return summedWhere(t, metrics, `controller_runtime_reconcile_total{controller="`+controller+`",`)
}

// Summed is the sum over the labels of a series.
func Summed(t *testing.T, metrics, series string) float64 {
	t.Helper()
	return summedWhere(t, metrics, series+"{")
}

// Value returns the value of a series without labels.
func Value(t *testing.T, metrics, series string) float64 {
	t.Helper()
	return summedWhere(t, metrics, series+" ")
}

func summedWhere(t *testing.T, metrics, prefix string) (total float64) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(metrics))
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), prefix) {
			continue
		}
		fields := strings.Fields(lines.Text())
		value, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		Must(t, err)
		total += value
	}
	Must(t, lines.Err())
	return total
}

// MergePatch changes what the body names.
func MergePatch(body string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(body)) }

// MulticlusterFlag has a replica write PlacementDecisions of multicluster.x-k8s.io too.
const MulticlusterFlag = "--sig-placement-decisions"

// ProfileDecisions are the ClusterProfiles in the slices of each placement; nil for a placement without any slice.
func (h *Hub) ProfileDecisions(t *testing.T) map[string]map[string]bool {
	t.Helper()
	var list clusterinventory.PlacementDecisionList
	Must(t, h.Client.List(t.Context(), &list))
	decisions := map[string]map[string]bool{}
	for _, slice := range list.Items {
		name := types.NamespacedName{Namespace: slice.Namespace, Name: slice.Labels[clusterinventory.PlacementKeyLabel]}.String()
		if slice.SchedulerName != controller.SchedulerName {
			t.Errorf("%s: scheduler %q", name, slice.SchedulerName)
		}
		if decisions[name] == nil {
			decisions[name] = map[string]bool{}
		}
		for _, decision := range slice.Decisions {
			decisions[name][decision.ClusterProfileRef.Namespace+"/"+decision.ClusterProfileRef.Name] = true
		}
	}
	return decisions
}

// Stop ends the only replica.
func (h *Hub) Stop(t *testing.T, r *Replica) {
	t.Helper()
	r.Signal(t, syscall.SIGTERM)
	r.WantExit(t, 0)
	h.WantHolder(t, nil)
}

// WantMade waits until an object is there.
func (h *Hub) WantMade(t *testing.T, object client.Object) {
	t.Helper()
	Eventually(t, fmt.Sprintf("waiting for %T %s", object, object.GetName()), func() error {
		return h.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	})
}

// WantGone waits until an object is not there any more.
func (h *Hub) WantGone(t *testing.T, object client.Object) {
	t.Helper()
	Eventually(t, fmt.Sprintf("waiting for %T %s to go", object, object.GetName()), func() error {
		err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if err == nil {
			err = errors.New("it is still there")
		}
		return client.IgnoreNotFound(err)
	})
}
