// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

const root = "../../.."

// TestInstallation applies what docs/clusters.md has for the first hour, in its order: the base with the component without-taints, the samples
// with their status, and another component. A process with the arguments of the Deployment then selects the clusters of the samples.
func TestInstallation(t *testing.T) {
	environment, err := localplane.Start(t.Context(), localplane.Options{ControllerManager: true})
	suite.Must(t, err)
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	admin := suite.WriteKubeconfig(t, environment.AdminConfig())
	h := &suite.Hub{Story: t, Environment: environment, AdminKubeconfig: admin}
	h.Client, err = client.New(environment.AdminConfig(), client.Options{Scheme: system.Scheme()})
	suite.Must(t, err)

	suite.Kubectl(t, admin, "apply", "--server-side", "-k", filepath.Join(root, "deploy", "base"))
	suite.Kubectl(t, admin, "apply", "--server-side", "-k", kustomization(t, "without-taints"))
	suite.Kubectl(t, admin, "wait", "--for=condition=Established", "crd", "--all")
	// No API server reaches the webhook of a Deployment without nodes.
	suite.Kubectl(t, admin, "delete", "mutatingwebhookconfigurations,validatingwebhookconfigurations",
		"open-cluster-management-placement-hub-managedclusters")
	suite.Kubectl(t, admin, "apply", "--server-side", "-f", filepath.Join(root, "deploy", "samples"))
	status := []string{"apply", "--server-side", "--subresource=status"}
	for _, pattern := range []string{"2*.yaml", "3*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, "deploy", "samples", pattern))
		suite.Must(t, err)
		for _, file := range files {
			status = append(status, "-f", file)
		}
	}
	suite.Kubectl(t, admin, status...)

	components := []string{"without-taints", "podscheduling"}
	suite.Kubectl(t, admin, "apply", "--server-side", "-k", kustomization(t, components...))
	components = append(components, "federation", "affinityclass", "clusterrequest")
	suite.Kubectl(t, admin, "apply", "--server-side", "-k", kustomization(t, components...))
	deployment := &appsv1.Deployment{}
	suite.Must(t, h.Client.Get(t.Context(), types.NamespacedName{Namespace: manifests.Namespace, Name: "placement-hub-controller"}, deployment))
	arguments := deployment.Spec.Template.Spec.Containers[0].Args
	want := []string{
		"controller", "--controllers=*", "--max-removal-percent=50", "--controllers=-managedcluster-taints", "--controllers=podscheduling/*",
		"--controllers=federation/*", "--controllers=affinityclass/*", "--controllers=clusterrequest/*",
	}
	if !slices.Equal(arguments, want) {
		t.Fatalf("the arguments are %q, want %q", arguments, want)
	}
	account, err := h.Account(t)
	suite.Must(t, err)
	h.Kubeconfig = suite.WriteKubeconfig(t, account)
	r := h.StartServer(t, append(slices.Clone(arguments), "--kubeconfig", h.Kubeconfig, "--listen=127.0.0.1:0", "--webhook-listen=127.0.0.1:0")...)
	h.WantDecisions(t, types.NamespacedName{Namespace: "team-a", Name: "standby"}, "ap1")
	h.WantDecisions(t, types.NamespacedName{Namespace: "team-a", Name: "payments"}, "eu1", "eu2", "us1")
	r.Signal(t, syscall.SIGTERM)
	r.WantExit(t, 0)
}

// kustomization writes one with the base and components, and returns its directory.
func kustomization(t *testing.T, components ...string) string {
	t.Helper()
	directory, err := filepath.EvalSymlinks(t.TempDir())
	suite.Must(t, err)
	checkout, err := filepath.Abs(root)
	suite.Must(t, err)
	deploy, err := filepath.Rel(directory, filepath.Join(checkout, "deploy"))
	suite.Must(t, err)
	separator := "\n- " + deploy + "/components/"
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [" + deploy + "/base]\ncomponents:" +
		separator + strings.Join(components, separator) + "\n"
	suite.Must(t, os.WriteFile(filepath.Join(directory, "kustomization.yaml"), []byte(text), 0o600))
	return directory
}
