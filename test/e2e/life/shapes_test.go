// SPDX-License-Identifier: Apache-2.0

package life

import (
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/deploy"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// TestShapesStart starts hubs with systems beside upstream, which TestLifeOfAnInstallation does not have: each system by `placement manifests` and by
// the chart, there with a dashboard and one replica, or with the address of explanations. test/integration/chart and deploy compare all the others
// with what their processes need.
func TestShapesStart(t *testing.T) {
	i := startNode(t, nil)
	suite.Must(t, manifests.InstallManifestWorks(t.Context(), i.Environment.AdminConfig()))
	i.Apply(t, suite.PlatformDefinitions)
	i.kubectl(t, "apply", "--server-side", "--kustomize", filepath.Join(i.root, "manifests", "crds"))
	groups := [][]string{
		{manifests.AffinityClass, manifests.Federation}, {manifests.ClusterRequest, manifests.PodScheduling, manifests.ClusterProfiles},
	}
	others := []string{"dashboard.enabled=true,replicas=1", "explanations.url=https://explanations.example.com"}
	for _, systems := range groups {
		t.Run("manifests "+strings.Join(systems, " "), func(t *testing.T) {
			chosen := deploy.Choices{BesideUpstream: true, Systems: systems}
			objects, err := deploy.Objects(chosen)
			suite.Must(t, err)
			suite.Must(t, manifests.Apply(t.Context(), i.Environment.AdminConfig(), objects))
			i.wantStarted(t)
			for _, systems := range [][]string{systems, nil} {
				chosen.Systems = systems
				removal, err := deploy.Removal(chosen)
				suite.Must(t, err)
				for _, object := range removal {
					suite.Must(t, client.IgnoreNotFound(i.Client.Delete(t.Context(), object)))
				}
			}
			i.waitForPods(t, "", 0)
		})
	}
	chart := filepath.Join(i.root, "deploy", "charts", "placement-hub")
	for n, systems := range groups {
		t.Run("chart "+strings.Join(systems, " "), func(t *testing.T) {
			i.helm(t, "upgrade", "--install", release, chart, "--create-namespace", "--take-ownership", "--force-conflicts",
				"--set", "besideUpstream=true,systems."+strings.Join(systems, "=true,systems.")+"=true", "--set", others[n])
			i.wantStarted(t)
			i.helm(t, "uninstall", release)
			i.waitForPods(t, "", 0)
		})
	}
}

// wantStarted waits until the Pods of the hub are ready and users find its explanations, and expects that no container has ended.
func (i *installation) wantStarted(t *testing.T) {
	t.Helper()
	i.waitForRollout(t)
	pods := &corev1.PodList{}
	suite.Must(t, i.Client.List(t.Context(), pods, client.InNamespace(manifests.Namespace)))
	for n := range pods.Items {
		for _, container := range pods.Items[n].Status.ContainerStatuses {
			if container.RestartCount > 0 {
				t.Errorf("pod %s has restarted %d times", pods.Items[n].Name, container.RestartCount)
			}
		}
	}
	suite.Eventually(t, "waiting for the address of explanations", func() error {
		key := client.ObjectKey{Namespace: manifests.Namespace, Name: endpoint.ConfigMap}
		return i.Client.Get(t.Context(), key, &corev1.ConfigMap{})
	})
	suite.Must(t, i.Client.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace(manifests.Namespace),
		client.MatchingFields{"metadata.name": endpoint.ConfigMap}))
}
