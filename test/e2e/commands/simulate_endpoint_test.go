// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

const shippedPurposes = "open-cluster-management:placement-hub:clusterrequest-purposes"

// checkSimulation simulates as a user with edit in team-a, on a hub with the samples.
func checkSimulation(t *testing.T, h *suite.Hub, editor string) {
	t.Helper()
	viewer := withRoles(t, h, "simulating-viewer", shippedView, shippedFleetView)
	simulate := func(kubeconfig string, args ...string) *suite.Program {
		return suite.Run(t, append([]string{"simulate", "--kubeconfig", kubeconfig, "-n", "team-a"}, args...)...)
	}
	for _, args := range [][]string{
		{}, {"-o", "name"}, {"--placement", "team-a/standby"}, {"--without-binding", "team-a/prod"},
		{"--without-binding", "team-a/prod", "--show-kept"},
	} {
		own, byHub := simulate(viewer, args...), simulate(editor, args...)
		own.WantExit(t, 0)
		byHub.WantExit(t, 0)
		if own.Stdout.String() != byHub.Stdout.String() {
			t.Errorf("%v: the hub simulates\n%s\nwant\n%s", args, byHub.Stdout.String(), own.Stdout.String())
		}
	}
	p := simulate(editor, "--without-binding", "team-a/prod", "--exit-code")
	p.WantExit(t, 1)
	p.WantStdout(t, "what if: unbind prod from team-a", "- eu1")
	p = simulate(editor, "--drain", "eu1")
	p.WantExit(t, 1)
	p.WantStderr(t, "drain eu1: a change of a cluster concerns all namespaces", shippedFleetView)
	if text := p.Stdout.String(); text != "" {
		t.Errorf("a user without the role is shown %s", text)
	}
	p = suite.Run(t, "simulate", "--kubeconfig", editor)
	p.WantExit(t, 1)
	p.WantStderr(t, "the hub simulates the Placements of one namespace at a time", "name one with -n")
	p = suite.Run(t, "simulate", "--kubeconfig", editor, "-n", "team-b")
	p.WantExit(t, 1)
	if text := p.Stdout.String(); text != "" {
		t.Errorf("a user of another namespace is shown %s", text)
	}
	reader := withRoles(t, h, "simulating-reader", shippedView)
	simulate(reader).WantExit(t, 0)
	p = simulate(reader, "--without-binding", "team-a/prod")
	p.WantExit(t, 1)
	p.WantStderr(t, "may not delete managedclustersetbindings.cluster.open-cluster-management.io prod in namespace team-a")
	checkTenantCases(t, viewer, reader)
	p = suite.Run(t, "explain", "--kubeconfig", editor, "team-a/standby", "--watch")
	p.WantExit(t, 1)
	p.WantStdout(t, "team-a/standby: no explanation")
	p.WantStderr(t, "leave --watch out to ask it")
}

// checkNewBinding compares a binding of the set edge, and a Placement beside it, as users who may write both in team-a. One of them may bind the set.
func checkNewBinding(t *testing.T, h *suite.Hub, editor string) {
	t.Helper()
	const role = "binds-edge"
	suite.Must(t, h.Client.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"cluster.open-cluster-management.io"}, Resources: []string{"managedclustersets/bind"},
			ResourceNames: []string{"edge"},
			Verbs:         []string{"create"},
		}},
	}))
	file := filepath.Join(t.TempDir(), "binding.yaml")
	suite.Must(t, os.WriteFile(file, []byte("apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n"+
		"metadata: {namespace: team-a, name: edge}\nspec: {clusterSet: edge}\n---\n"+
		"apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"+
		"metadata: {namespace: team-a, name: at-edge}\nspec: {clusterSets: [edge]}\n"), 0o600))
	binder := withRoles(t, h, "hub-binder", shippedEdit, role)
	p := suite.Run(t, "diff", "--kubeconfig", binder, "-f", file)
	p.WantExit(t, 1)
	p.WantStdout(t, "team-a/at-edge (new): 5 gained", "+ edge-ams")
	p = suite.Run(t, "diff", "--kubeconfig", editor, "-f", file)
	p.WantExit(t, 2)
	p.WantStderr(t, "may not create managedclustersets.cluster.open-cluster-management.io/bind edge",
		"a ClusterRoleBinding to open-cluster-management:managedclusterset:bind:edge")
	if text := p.Stdout.String(); text != "" {
		t.Errorf("a user who may not bind the set is shown %s", text)
	}
	p = suite.Run(t, "simulate", "--kubeconfig", editor, "-n", "team-a", "--all")
	p.WantExit(t, 1)
	p.WantStderr(t, "--all (as -o wide)", shippedFleetView)
}

// checkDelivered reports and compares delivered objects as an editor and a viewer of team-a, where the ConfigMap settings is delivered to eu1.
func checkDelivered(t *testing.T, h *suite.Hub, editor, viewer string) {
	t.Helper()
	suite.Must(t, h.Client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "kube-root-ca.crt"}}))
	p := suite.Run(t, "federated", "--kubeconfig", editor, "-n", "team-a")
	p.WantExit(t, 0)
	p.WantStdout(t, "ConfigMap/team-a/settings: 1 cluster selected by location in (europe), applied in 0", "never delivered; name one to see why")
	if text := p.Stdout.String(); strings.Contains(text, "kube-root-ca.crt") || strings.Contains(text, "hidden") {
		t.Errorf("objects that are never delivered, or clusters out of scope, are in the list: %s", text)
	}
	suite.Run(t, "federated", "--kubeconfig", editor, "-n", "team-a", "configmap/settings", "-o", "name").
		WantStdout(t, "team-a/settings@configmap eu1\n")
	p = suite.Run(t, "federated", "--kubeconfig", editor, "-n", "team-a", "configmap/setting")
	p.WantExit(t, 1)
	p.WantStderr(t, "there is no ConfigMap setting")

	p = suite.Run(t, "federated", "--kubeconfig", viewer, "-n", "team-a")
	p.WantExit(t, 1)
	p.WantStdout(t, "ManifestWorks may not be read by this user")
	p.WantStderr(t, "may list no objects of a kind that is delivered", shippedFleetView)
	p = suite.Run(t, "federated", "--kubeconfig", editor, "-A")
	p.WantExit(t, 1)
	p.WantStderr(t, "name one with -n instead of -A")

	t.Run("U10: without the hub, what is not read is not said to be zero", func(t *testing.T) {
		p := suite.Run(t, "federated", "--kubeconfig", editor, "-n", "team-a", "--endpoint", "https://127.0.0.1:1")
		p.WantExit(t, 1)
		p.WantStdout(t, "ConfigMap/team-a/settings: not evaluated; its ManifestWorks could not be read", "1 object is never delivered")
		if text := p.Stdout.String(); strings.Contains(text, "kube-root-ca.crt") || strings.Contains(text, "0 clusters") {
			t.Errorf("the list has what is never delivered or not known: %s", text)
		}
	})

	file := filepath.Join(t.TempDir(), "objects.yaml")
	write := func(text string) { suite.Must(t, os.WriteFile(file, []byte(text), 0o600)) }
	const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: team-a, annotations: " +
		`{federation.alpha.kubernetes.io/cluster-selector: '[{"key":"location","operator":"in","values":["usa"]}]'}}` + "\n"
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: new, namespace: team-a}\n"
	write(settings + "---\n" + secret)
	p = suite.Run(t, "diff", "--kubeconfig", editor, "-f", file)
	p.WantExit(t, 1)
	p.WantStdout(t, "ConfigMap/team-a/settings: 1 gained, 1 lost", "Secret/team-a/new (new): 2 gained")
	p = suite.Run(t, "diff", "--kubeconfig", withRoles(t, h, "object-reader", "view"), "-f", file)
	p.WantExit(t, 2)
	p.WantStderr(t, "may not create configmaps", "nor get secrets new")
	write("apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, labels: {federation.kubernetes.io/federated: \"false\"}}\n")
	p = suite.Run(t, "diff", "--kubeconfig", editor, "-f", file)
	p.WantExit(t, 2)
	p.WantStderr(t, "the files have other objects")
}

// checkRequests compares a ClusterRequest as a user who may create it, with and without the right to use its Purpose.
func checkRequests(t *testing.T, h *suite.Hub, requester string) {
	t.Helper()
	suite.Must(t, h.Client.Create(t.Context(), &openmcpv1alpha1.ClusterRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "eu1", Name: "theirs"},
		Spec:       openmcpv1alpha1.ClusterRequestSpec{Purposes: []openmcpv1alpha1.PurposeName{"workload"}},
	}))
	file := filepath.Join(t.TempDir(), "request.yaml")
	suite.Must(t, os.WriteFile(file, []byte("apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: ClusterRequest\n"+
		"metadata: {name: new, namespace: team-a}\nspec: {purposes: [workload]}\n"), 0o600))
	p := suite.Run(t, "diff", "--kubeconfig", withRoles(t, h, "requester-of-all", requester, shippedPurposes), "-f", file)
	p.WantExit(t, 1)
	p.WantStdout(t, "ClusterRequests: another result for 1 request\n", "team-a/new: no request -> Denied, PurposeNotFound")
	if text := p.Stdout.String(); strings.Contains(text, "theirs") || strings.Contains(text, "with a Grant") {
		t.Errorf("requests of other namespaces are shown or counted: %s", text)
	}
	p = suite.Run(t, "diff", "--kubeconfig", withRoles(t, h, "requester-of-none", requester), "-f", file)
	p.WantExit(t, 2)
	p.WantStderr(t, "may not use purposes.cluster.openmcp.cloud workload")
}

// checkAdded simulates a new workload as an editor of team-a, on a hub with two nodes.
func checkAdded(t *testing.T, h *suite.Hub, editor string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pod.yaml")
	suite.Must(t, os.WriteFile(file, []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: new, namespace: team-a}\n"+
		"spec: {containers: [{name: c, image: i}]}\n"), 0o600))
	p := suite.Run(t, "simulate", "--kubeconfig", editor, "--add", "-f", file)
	p.WantExit(t, 0)
	p.WantStdout(t, "what if: add Pod team-a/new", "of 2 nodes fit, which are not named")
	if text := p.Stdout.String(); strings.Contains(text, "n1") || strings.Contains(text, "n2") {
		t.Errorf("nodes are named: %s", text)
	}
	p = suite.Run(t, "simulate", "--kubeconfig", withRoles(t, h, "workload-reader", "view"), "--add", "-f", file)
	p.WantExit(t, 1)
	p.WantStderr(t, "may not create pods in namespace team-a")
}
