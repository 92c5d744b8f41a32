package e2e

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
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/pkg/localplane"
)

const hubUser = "system:serviceaccount:" + manifests.Namespace + ":" + manifests.ServiceAccount

// hub is a control plane with the manifests, as an administrator sees it.
type hub struct {
	story           *testing.T // the replicas live as long
	environment     *localplane.ControlPlane
	client          client.Client
	adminKubeconfig string
	kubeconfig      string // of the controllers
}

func startHub(t *testing.T, apiServerArgs ...string) *hub {
	t.Helper()
	environment, err := localplane.Start(t.Context(), localplane.Options{ControllerManager: true, AuditLog: true, APIServerArgs: apiServerArgs})
	must(t, err)
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	must(t, manifests.Install(t.Context(), environment.AdminConfig()))
	h := &hub{story: t, environment: environment}
	h.client, err = client.New(environment.AdminConfig(), client.Options{Scheme: controller.Scheme()})
	must(t, err)
	account, err := h.account(t)
	must(t, err)
	h.kubeconfig = writeKubeconfig(t, account)
	h.adminKubeconfig = writeKubeconfig(t, environment.AdminConfig())
	return h
}

// account is what the controllers are to the control plane.
func (h *hub) account(t *testing.T) (*rest.Config, error) {
	t.Helper()
	return h.environment.ServiceAccountConfig(t.Context(), manifests.Namespace, manifests.ServiceAccount)
}

func writeKubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	content, err := localplane.Kubeconfig(config)
	must(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(path, content, 0o600))
	return path
}

// replica is a running `placement controller`.
type replica struct {
	*program
	url string
}

var servingAddress = regexp.MustCompile(`"Serving HTTPS" address="([^"]+)"`)

// unevaluated leaves off the controller that taints every cluster without a reported availability.
const unevaluated = "--controllers=-managedcluster-taints"

// startReplica starts a replica and returns when it is ready.
func (h *hub) startReplica(t *testing.T, args ...string) *replica {
	t.Helper()
	return h.startServer(t, append([]string{"controller", "--kubeconfig", h.kubeconfig, "--controllers=*", "--listen=127.0.0.1:0",
		"--webhook-listen=127.0.0.1:0"}, args...)...)
}

// startServer starts a command that serves HTTPS and returns when it is ready.
func (h *hub) startServer(t *testing.T, args ...string) *replica {
	t.Helper()
	r := h.startServing(t, args...)
	r.wantReady(t)
	return r
}

// startServing starts a command that serves HTTPS and returns when it says where.
func (h *hub) startServing(t *testing.T, args ...string) *replica {
	t.Helper()
	r := &replica{program: startWithin(t, h.story, args...)}
	eventually(t, "waiting for the replica to serve", func() error {
		if found := servingAddress.FindStringSubmatch(r.stderr.String()); found != nil {
			r.url = "https://" + found[1]
			return nil
		}
		if r.ended() {
			t.Fatalf("the replica ended; %s", r)
		}
		return errors.New("it does not serve yet")
	})
	return r
}

// wantReady waits until the replica is ready.
func (r *replica) wantReady(t *testing.T) {
	t.Helper()
	eventually(t, "waiting for the replica to be ready", func() error {
		if status, body := r.get(t, "/readyz", ""); status != http.StatusOK {
			return fmt.Errorf("/readyz answers %d: %s; %s", status, body, r)
		}
		return nil
	})
}

func (r *replica) get(t *testing.T, path, token string) (status int, body string) {
	t.Helper()
	return r.request(t, http.MethodGet, path, token, "")
}

// request sends a request to the replica, whose certificate is self-signed.
func (r *replica) request(t *testing.T, method, path, token, sent string) (status int, body string) {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(sent))
	must(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, err.Error()
	}
	content, err := io.ReadAll(response.Body)
	must(t, errors.Join(err, response.Body.Close()))
	return response.StatusCode, string(content)
}

// wantHolder waits until the replica holds the lease; nil: until nobody does.
func (h *hub) wantHolder(t *testing.T, r *replica) {
	t.Helper()
	eventually(t, "waiting for the lease", func() error {
		lease := &coordinationv1.Lease{}
		key := types.NamespacedName{Namespace: manifests.Namespace, Name: "placement-lock"}
		if err := h.client.Get(t.Context(), key, lease); err != nil {
			return err
		}
		switch held := ptr.Deref(lease.Spec.HolderIdentity, "") != ""; {
		case r == nil && held:
			return fmt.Errorf("%s holds it", *lease.Spec.HolderIdentity)
		case r != nil && (!held || !strings.Contains(r.stderr.String(), `"Successfully acquired lease"`)):
			return fmt.Errorf("the replica has not acquired it; %s", r)
		}
		return nil
	})
}

// moveCluster changes the region of a cluster.
func (h *hub) moveCluster(t *testing.T, name, region string) {
	t.Helper()
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	patch := fmt.Sprintf(`{"metadata":{"labels":{"region":%q}}}`, region)
	must(t, h.client.Patch(t.Context(), cluster, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// wantDecisions waits until the placement selects exactly these clusters, and its status says so.
func (h *hub) wantDecisions(t *testing.T, placement types.NamespacedName, want ...string) {
	t.Helper()
	eventually(t, "waiting for decisions", func() error {
		var pages clusterv1beta1.PlacementDecisionList
		err := h.client.List(t.Context(), &pages, client.InNamespace(placement.Namespace),
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
		if err := h.client.Get(t.Context(), placement, written); err != nil {
			return err
		}
		if told := int(written.Status.NumberOfSelectedClusters); told != len(want) {
			return fmt.Errorf("the status of placement %s says %d clusters, want %d", placement, told, len(want))
		}
		return nil
	})
}

// awaitAudit waits until the audit log tells of all requests that have been answered so far.
func (h *hub) awaitAudit(t *testing.T) {
	t.Helper()
	mark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, GenerateName: "mark-"}}
	must(t, h.client.Create(t.Context(), mark))
	must(t, h.client.Delete(t.Context(), mark))
	eventually(t, "waiting for the audit log", func() error {
		events, err := h.environment.Audit()
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

// writes are what the controllers have written to the hub so far, but for leases, events and questions about access.
func (h *hub) writes(t *testing.T) []auditv1.Event {
	t.Helper()
	h.awaitAudit(t)
	events, err := h.environment.Writes(localplane.By(hubUser))
	must(t, err)
	return slices.DeleteFunc(events, func(event auditv1.Event) bool {
		return slices.Contains([]string{"leases", "events", "tokenreviews", "subjectaccessreviews", "selfsubjectaccessreviews"},
			event.ObjectRef.Resource)
	})
}

// stranger returns the token of an account without rights.
func (h *hub) stranger(t *testing.T) string { t.Helper(); return h.token(t, "stranger") }

// metricsReader returns the token of an account that may read /metrics and nothing else.
func (h *hub) metricsReader(t *testing.T) string {
	t.Helper()
	const name = "metrics-reader"
	token := h.token(t, name)
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
		must(t, client.IgnoreAlreadyExists(h.client.Create(t.Context(), object)))
	}
	return token
}

func (h *hub) token(t *testing.T, account string) string {
	t.Helper()
	object := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: account}}
	must(t, client.IgnoreAlreadyExists(h.client.Create(t.Context(), object)))
	config, err := h.environment.ServiceAccountConfig(t.Context(), metav1.NamespaceDefault, account)
	must(t, err)
	return config.BearerToken
}

// reconciles reads from the metrics how often a controller has looked at something.
func reconciles(t *testing.T, metrics, controller string) float64 {
	t.Helper()
	return summedWhere(t, metrics, `controller_runtime_reconcile_total{controller="`+controller+`",`)
}

// summed is the sum over the labels of a series.
func summed(t *testing.T, metrics, series string) float64 {
	t.Helper()
	return summedWhere(t, metrics, series+"{")
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
		must(t, err)
		total += value
	}
	must(t, lines.Err())
	return total
}
