package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain/federated"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

const inEurope = `[{"key":"location","operator":"in","values":["europe"]}]`

// TestFederatedOnAHub is one story: what placement federated and explain say agrees with what the hub writes.
func TestFederatedOnAHub(t *testing.T) {
	h := startFederation(t)
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "settings", Annotations: map[string]string{federation.SelectorAnnotation: inEurope},
	}}
	must(t, h.client.Create(t.Context(), settings))
	kubeconfig := h.adminKubeconfig
	report := func() federated.Report { return h.federatedReport(t, "configmap/settings") }

	eventually(t, "waiting for the hub to deliver", func() error { return h.agrees(t, report(), "eu1", "eu2") })

	follower := h.federationReader(t, "follower", "list", "watch")
	list := start(t, "federated", "--kubeconfig", follower, "-n", "team-a", "--watch")
	one := start(t, "explain", "--kubeconfig", follower, "-n", "team-a", "configmap/settings", "--watch")
	for _, p := range []*program{list, one} {
		p.eventuallyShows(t, "ConfigMap/team-a/settings: 2 clusters selected by location in (europe), applied in 0")
	}

	t.Run("federated-selector F18: the error of an agent", func(t *testing.T) {
		h.reportConflict(t, "eu1")
		p := run(t, "federated", "--kubeconfig", kubeconfig, "-n", "team-a")
		p.wantExit(t, 0)
		p.wantStdout(t, "ConfigMap/team-a/settings: 2 clusters selected by location in (europe), applied in 0",
			"agent: configmaps team-a/settings: conflict with \"helm\"")
		list.eventuallyShows(t, "agent: configmaps team-a/settings: conflict with \"helm\"")
		one.eventuallyShows(t, "agent: configmaps team-a/settings: conflict with \"helm\"")
	})

	t.Run("federated-selector F16: a counterfactual and a simulation come true", func(t *testing.T) {
		run(t, "explain", "--kubeconfig", kubeconfig, "-n", "team-a", "configmap/settings", "--cluster", "us1").
			wantStdout(t, "us1: Predicate, predicate 1 label location In [europe]: is usa", "would be selected if label location were europe")
		run(t, "simulate", "--kubeconfig", kubeconfig, "--label", "us1:location=europe").
			wantStdout(t, "delivers 1 object newly", "+ us1  matches location in (europe)")
		cluster := &clusterv1.ManagedCluster{}
		must(t, h.client.Get(t.Context(), client.ObjectKey{Name: "us1"}, cluster))
		cluster.Labels["location"] = "europe"
		must(t, h.client.Update(t.Context(), cluster))
		eventually(t, "waiting for us1", func() error { return h.agrees(t, report(), "eu1", "eu2", "us1") })
		list.eventuallyShows(t, "ConfigMap/team-a/settings: 3 clusters selected")
		one.eventuallyShows(t, "ConfigMap/team-a/settings: 3 clusters selected")
	})

	t.Run("federated-selector F38: a Placement that is missing", func(t *testing.T) {
		canary := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "canary", Annotations: map[string]string{federation.PlacementAnnotation: "canary"},
		}}
		must(t, h.client.Create(t.Context(), canary))
		run(t, "federated", "--kubeconfig", kubeconfig, "-n", "team-a", "cm/canary").
			wantStdout(t, "held, no cluster has it", "the Placement canary of the annotation", "does not exist")
		list.eventuallyShows(t, "ConfigMap/team-a/canary: held, no cluster has it")
	})

	t.Run("who may not watch is told so", func(t *testing.T) {
		p := run(t, "federated", "--kubeconfig", h.federationReader(t, "lister", "list"), "-n", "team-a", "--watch")
		p.wantExit(t, 1)
		p.wantStderr(t, "does not allow this user to watch", "verbs list and watch")
	})

	t.Run("a tenant is told what is missing", func(t *testing.T) {
		tenant := h.tenant(t)
		p := run(t, "federated", "--kubeconfig", tenant, "-n", "team-a")
		p.wantExit(t, 1)
		p.wantStdout(t, "ManifestWorks may not be read by this user", "ConfigMaps may not be read by this user")
		p.wantStderr(t, "managedclusters.cluster", "ask an administrator")
		run(t, "federated", "--kubeconfig", tenant, "-n", "team-a", "--watch").wantExit(t, 1)
	})

	t.Run("federated-selector F20: a deletion that waits for an agent", func(t *testing.T) {
		h.holdWork(t, "eu2", true)
		must(t, h.client.Delete(t.Context(), settings))
		eventually(t, "waiting for the hub to delete the other works", func() error {
			if got := report(); got.State != "Deleting" || got.Message != "waiting for clusters eu2 to remove team-a/settings" {
				return fmt.Errorf("%s: %s", got.State, got.Message)
			}
			return nil
		})
		run(t, "federated", "--kubeconfig", kubeconfig, "-n", "team-a", "configmap", "settings").
			wantStdout(t, "being deleted, 1 cluster left", "waits for its agent to remove the copy")
		list.eventuallyShows(t, "being deleted, 1 cluster left")
		h.holdWork(t, "eu2", false)
		one.eventuallyShows(t, "ConfigMap team-a/settings is not there")
	})

	for _, p := range []*program{list, one} {
		p.signal(t, syscall.SIGINT)
		p.wantExit(t, 0)
		if p.stderr.String() != "" {
			t.Errorf("nothing went wrong; %s", p)
		}
	}
}

// federationReader is the kubeconfig of an account with some verbs on all that decides about delivery.
func (h *hub) federationReader(t *testing.T, name string, verbs ...string) string {
	t.Helper()
	kubeconfig := h.withRights(t, name, verbs...)
	role := &rbacv1.ClusterRole{}
	must(t, h.client.Get(t.Context(), client.ObjectKey{Name: name}, role))
	role.Rules = append(role.Rules, rbacv1.PolicyRule{
		APIGroups: []string{"", "apps", "networking.k8s.io", workv1.GroupName}, Verbs: verbs,
		Resources: []string{
			"namespaces", "configmaps", "secrets", "services", "deployments", "daemonsets", "replicasets", "ingresses", "manifestworks",
		},
	})
	must(t, h.client.Update(t.Context(), role))
	return kubeconfig
}

// eventuallyShows waits until a program that goes on has printed a text.
func (p *program) eventuallyShows(t *testing.T, text string) {
	t.Helper()
	eventually(t, "waiting for "+text, func() error {
		if !strings.Contains(p.stdout.String(), text) {
			return errors.New(p.String())
		}
		return nil
	})
}

// startFederation starts a hub that delivers, with eu1, eu2 and us1 in a set that is bound to team-a. Their agents are played by the tests.
func startFederation(t *testing.T) *hub {
	t.Helper()
	h := startHub(t)
	admin := h.environment.AdminConfig()
	must(t, manifests.InstallManifestWorks(t.Context(), admin))
	must(t, manifests.InstallSystem(t.Context(), admin, manifests.Federation, ""))
	objects := []client.Object{
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "members"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a", Labels: map[string]string{federation.FederatedLabel: "true"}}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "members"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "members"},
		},
	}
	for name, location := range map[string]string{"eu1": "europe", "eu2": "europe", "us1": "usa"} {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, &clusterv1.ManagedCluster{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "members", "location": location}},
		})
	}
	for _, object := range objects {
		must(t, h.client.Create(t.Context(), object))
	}
	h.startReplica(t, "--controllers=federation/objects", unevaluated)
	return h
}

// federatedReport is what placement federated says about an object of team-a.
func (h *hub) federatedReport(t *testing.T, object string) federated.Report {
	t.Helper()
	p := run(t, "federated", "--kubeconfig", h.adminKubeconfig, "-n", "team-a", object, "-o", "json")
	p.wantExit(t, 0)
	var reports federated.Reports
	must(t, json.Unmarshal([]byte(p.stdout.String()), &reports))
	if len(reports.Objects) != 1 {
		t.Fatalf("%d reports; %s", len(reports.Objects), p)
	}
	return reports.Objects[0]
}

// agrees is nil when a report selects the clusters, the hub has written their works, and the report has nothing left to write.
func (h *hub) agrees(t *testing.T, report federated.Report, clusters ...string) error {
	t.Helper()
	if !slices.Equal(report.Selected, clusters) {
		return fmt.Errorf("selected are %v", report.Selected)
	}
	works := &workv1.ManifestWorkList{}
	must(t, h.client.List(t.Context(), works, client.MatchingLabels{federation.NameLabel: report.Name}))
	var written []string
	for _, work := range works.Items {
		written = append(written, work.Namespace)
	}
	slices.Sort(written)
	if !slices.Equal(written, clusters) {
		return fmt.Errorf("works are in %v", written)
	}
	for _, cluster := range report.Clusters {
		if cluster.Pending != "" {
			return fmt.Errorf("%s is to %s", cluster.Name, cluster.Pending)
		}
	}
	return nil
}

// work is the ManifestWork of the ConfigMap settings in a cluster.
func (h *hub) work(t *testing.T, cluster string) *workv1.ManifestWork {
	t.Helper()
	works := &workv1.ManifestWorkList{}
	must(t, h.client.List(t.Context(), works, client.InNamespace(cluster), client.MatchingLabels{federation.NameLabel: "settings"}))
	if len(works.Items) != 1 {
		must(t, errors.New("there is no work in "+cluster))
	}
	return &works.Items[0]
}

// reportConflict plays the agent of a cluster that cannot apply the ConfigMap.
func (h *hub) reportConflict(t *testing.T, cluster string) {
	t.Helper()
	work := h.work(t, cluster)
	failed := []metav1.Condition{{
		Type: workv1.WorkApplied, Status: metav1.ConditionFalse, Reason: workv1.AppliedManifestFailed, Message: `conflict with "helm"`,
		LastTransitionTime: metav1.Now(), ObservedGeneration: work.Generation,
	}}
	work.Status.Conditions = failed
	work.Status.ResourceStatus.Manifests = []workv1.ManifestCondition{{
		ResourceMeta: workv1.ManifestResourceMeta{
			Ordinal: 1, Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "team-a", Name: "settings",
		},
		Conditions: failed,
	}}
	must(t, h.client.Status().Update(t.Context(), work))
}

// holdWork sets or removes the finalizer of the agent of a cluster.
func (h *hub) holdWork(t *testing.T, cluster string, hold bool) {
	t.Helper()
	work := h.work(t, cluster)
	work.Finalizers = nil
	if hold {
		work.Finalizers = []string{workv1.ManifestWorkFinalizer}
	}
	must(t, h.client.Update(t.Context(), work))
}
