// SPDX-License-Identifier: Apache-2.0

package commands

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
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

const inEurope = `[{"key":"location","operator":"in","values":["europe"]}]`

// TestFederatedOnAHub is one story: what placement federated and explain say agrees with what the hub writes.
func TestFederatedOnAHub(t *testing.T) {
	h := startFederation(t)
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "settings", Annotations: map[string]string{federation.SelectorAnnotation: inEurope},
	}}
	suite.Must(t, h.Client.Create(t.Context(), settings))
	kubeconfig := h.AdminKubeconfig
	report := func() federated.Report { return federatedReport(t, h, "configmap/settings") }
	suite.Eventually(t, "waiting for the hub to deliver", func() error { return agrees(t, h, report(), "eu1", "eu2") })

	follower := federationReader(t, h, "follower", "list", "watch")
	list := suite.Start(t, "federated", "--kubeconfig", follower, "-n", "team-a", "--watch")
	one := suite.Start(t, "explain", "--kubeconfig", follower, "-n", "team-a", "configmap/settings", "--watch")
	for _, p := range []*suite.Program{list, one} {
		eventuallyShows(t, p, "ConfigMap/team-a/settings: 2 clusters selected by location in (europe), applied in 0")
	}

	t.Run("federated-selector F18: the error of an agent", func(t *testing.T) {
		reportConflict(t, h, "eu1")
		p := suite.Run(t, "federated", "--kubeconfig", kubeconfig, "-n", "team-a")
		p.WantExit(t, 0)
		p.WantStdout(t, "ConfigMap/team-a/settings: 2 clusters selected by location in (europe), applied in 0",
			"agent: configmaps team-a/settings: conflict with \"helm\"")
		eventuallyShows(t, list, "agent: configmaps team-a/settings: conflict with \"helm\"")
		eventuallyShows(t, one, "agent: configmaps team-a/settings: conflict with \"helm\"")
	})

	t.Run("federated-selector F16: a counterfactual and a simulation come true", func(t *testing.T) {
		suite.Run(t, "explain", "--kubeconfig", kubeconfig, "-n", "team-a", "configmap/settings", "--cluster", "us1").
			WantStdout(t, "us1: Predicate, predicate 1 label location In [europe]: is usa", "would be selected if label location were europe")
		suite.Run(t, "simulate", "--kubeconfig", kubeconfig, "--label", "us1:location=europe").
			WantStdout(t, "delivers 1 object newly", "+ us1  matches location in (europe)")
		cluster := &clusterv1.ManagedCluster{}
		suite.Must(t, h.Client.Get(t.Context(), client.ObjectKey{Name: "us1"}, cluster))
		cluster.Labels["location"] = "europe"
		suite.Must(t, h.Client.Update(t.Context(), cluster))
		suite.Eventually(t, "waiting for us1", func() error { return agrees(t, h, report(), "eu1", "eu2", "us1") })
		eventuallyShows(t, list, "ConfigMap/team-a/settings: 3 clusters selected")
		eventuallyShows(t, one, "ConfigMap/team-a/settings: 3 clusters selected")
	})

	t.Run("federated-selector F38: a Placement that is missing", func(t *testing.T) {
		canary := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "canary", Annotations: map[string]string{federation.PlacementAnnotation: "canary"},
		}}
		suite.Must(t, h.Client.Create(t.Context(), canary))
		suite.Run(t, "federated", "--kubeconfig", kubeconfig, "-n", "team-a", "cm/canary").
			WantStdout(t, "held, no cluster has it", "the Placement canary of the annotation", "does not exist")
		eventuallyShows(t, list, "ConfigMap/team-a/canary: held, no cluster has it")
	})

	t.Run("who may not watch is told so", func(t *testing.T) {
		p := suite.Run(t, "federated", "--kubeconfig", federationReader(t, h, "lister", "list"), "-n", "team-a", "--watch")
		p.WantExit(t, 1)
		p.WantStderr(t, "does not allow this user to watch", "verbs list and watch")
	})

	t.Run("a tenant is told what is missing", func(t *testing.T) {
		tenant := tenant(t, h)
		p := suite.Run(t, "federated", "--kubeconfig", tenant, "-n", "team-a")
		p.WantExit(t, 1)
		p.WantStdout(t, "ManifestWorks may not be read by this user", "ConfigMaps may not be read by this user")
		p.WantStderr(t, "managedclusters.cluster", "ask an administrator")
		suite.Run(t, "federated", "--kubeconfig", tenant, "-n", "team-a", "--watch").WantExit(t, 1)
	})

	t.Run("federated-selector F20: a deletion that waits for an agent", func(t *testing.T) {
		holdWork(t, h, "eu2", true)
		suite.Must(t, h.Client.Delete(t.Context(), settings))
		suite.Eventually(t, "waiting for the hub to delete the other works", func() error {
			if got := report(); got.State != "Deleting" || got.Message != "waiting for clusters eu2 to remove team-a/settings" {
				return fmt.Errorf("%s: %s", got.State, got.Message)
			}
			return nil
		})
		suite.Run(t, "federated", "--kubeconfig", kubeconfig, "-n", "team-a", "configmap", "settings").
			WantStdout(t, "being deleted, 1 cluster left", "waits for its agent to remove the copy")
		eventuallyShows(t, list, "being deleted, 1 cluster left")
		holdWork(t, h, "eu2", false)
		eventuallyShows(t, one, "ConfigMap team-a/settings is not there")
	})

	for _, p := range []*suite.Program{list, one} {
		p.Signal(t, syscall.SIGINT)
		p.WantExit(t, 0)
		if p.Stderr.String() != "" {
			t.Errorf("nothing went wrong; %s", p)
		}
	}
}

// federationReader is the kubeconfig of an account with some verbs on all that decides about delivery.
func federationReader(t *testing.T, h *suite.Hub, name string, verbs ...string) string {
	t.Helper()
	kubeconfig := withRights(t, h, name, verbs...)
	role := &rbacv1.ClusterRole{}
	suite.Must(t, h.Client.Get(t.Context(), client.ObjectKey{Name: name}, role))
	role.Rules = append(role.Rules, rbacv1.PolicyRule{
		APIGroups: []string{"", "apps", "networking.k8s.io", workv1.GroupName}, Verbs: verbs,
		Resources: []string{
			"namespaces", "configmaps", "secrets", "services", "deployments", "daemonsets", "replicasets", "ingresses", "manifestworks",
		},
	})
	suite.Must(t, h.Client.Update(t.Context(), role))
	h.AwaitRoles(t)
	return kubeconfig
}

// eventuallyShows waits until a program that goes on has printed a text.
func eventuallyShows(t *testing.T, p *suite.Program, text string) {
	t.Helper()
	suite.Eventually(t, "waiting for "+text, func() error {
		if !strings.Contains(p.Stdout.String(), text) {
			return errors.New(p.String())
		}
		return nil
	})
}

// startFederation starts a hub that delivers, with eu1, eu2 and us1 in a set that is bound to team-a. Their agents are played by the tests.
func startFederation(t *testing.T) *suite.Hub {
	t.Helper()
	h := suite.StartHub(t)
	admin := h.Environment.AdminConfig()
	suite.Must(t, manifests.InstallManifestWorks(t.Context(), admin))
	suite.Must(t, manifests.InstallSystem(t.Context(), admin, manifests.Federation, ""))
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
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	h.StartReplica(t, "--controllers=federation/objects", suite.Unevaluated)
	return h
}

// federatedReport is what placement federated says about an object of team-a.
func federatedReport(t *testing.T, h *suite.Hub, object string) federated.Report {
	t.Helper()
	p := suite.Run(t, "federated", "--kubeconfig", h.AdminKubeconfig, "-n", "team-a", object, "-o", "json")
	p.WantExit(t, 0)
	var reports federated.Reports
	suite.Must(t, json.Unmarshal([]byte(p.Stdout.String()), &reports))
	if len(reports.Objects) != 1 {
		t.Fatalf("%d reports; %s", len(reports.Objects), p)
	}
	return reports.Objects[0]
}

// agrees is nil when a report selects the clusters, the hub has written their works, and the report has nothing left to write.
func agrees(t *testing.T, h *suite.Hub, report federated.Report, clusters ...string) error {
	t.Helper()
	if !slices.Equal(report.Selected, clusters) {
		return fmt.Errorf("selected are %v", report.Selected)
	}
	works := &workv1.ManifestWorkList{}
	suite.Must(t, h.Client.List(t.Context(), works, client.MatchingLabels{federation.NameLabel: report.Name}))
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
func work(t *testing.T, h *suite.Hub, cluster string) *workv1.ManifestWork {
	t.Helper()
	works := &workv1.ManifestWorkList{}
	suite.Must(t, h.Client.List(t.Context(), works, client.InNamespace(cluster), client.MatchingLabels{federation.NameLabel: "settings"}))
	if len(works.Items) != 1 {
		suite.Must(t, errors.New("there is no work in "+cluster))
	}
	return &works.Items[0]
}

// reportConflict plays the agent of a cluster that cannot apply the ConfigMap.
func reportConflict(t *testing.T, h *suite.Hub, cluster string) {
	t.Helper()
	work := work(t, h, cluster)
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
	suite.Must(t, h.Client.Status().Update(t.Context(), work))
}

// holdWork sets or removes the finalizer of the agent of a cluster.
func holdWork(t *testing.T, h *suite.Hub, cluster string, hold bool) {
	t.Helper()
	work := work(t, h, cluster)
	work.Finalizers = nil
	if hold {
		work.Finalizers = []string{workv1.ManifestWorkFinalizer}
	}
	suite.Must(t, h.Client.Update(t.Context(), work))
}
