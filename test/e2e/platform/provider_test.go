// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// TestProviders runs both providers that are built in as their ServiceAccounts, on what docs/cluster-providers.md applies. A Cluster of each
// becomes healthy, and the loopback provider leaves no API server when it is told to stop.
func TestProviders(t *testing.T) {
	plane, err := localplane.Start(t.Context(), localplane.Options{})
	suite.Must(t, err)
	t.Cleanup(func() { suite.Must(t, plane.Stop()) })
	applyDefinitions(t, plane)
	applyFiles(t, plane, "../../../manifests/clusterprovider/*.yaml")
	applyFiles(t, plane, "../../../docs/examples/loopback-provider.yaml")
	hub, err := client.New(plane.AdminConfig(), client.Options{Scheme: system.Scheme()})
	suite.Must(t, err)
	suite.Must(t, hub.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}))

	dataDir := t.TempDir()
	loopback := suite.Start(t, "provider", "loopback", "--kubeconfig", providerKubeconfig(t, plane, "loopback"), "--data-dir", dataDir,
		"--kube-apiserver-binary", filepath.Join(suite.Assets, binaries.APIServer), "--etcd-endpoints", plane.EtcdURL())
	null := suite.Start(t, "provider", "null", "--kubeconfig", providerKubeconfig(t, plane, "null"))
	wantHealthy(t, hub, loopback, "loopback", "local")
	wantHealthy(t, hub, null, "null", "default")
	clusters := filepath.Join(dataDir, "clusters")
	if len(suite.Processes(t, clusters)) == 0 {
		t.Error("the loopback provider runs no API server")
	}

	for _, provider := range []*suite.Program{loopback, null} {
		provider.Signal(t, syscall.SIGTERM)
		provider.WantExit(t, 0)
	}
	if running := suite.Processes(t, clusters); len(running) > 0 {
		t.Errorf("still running: %q", running)
	}
}

// wantHealthy creates a Cluster of a profile, once it is published, and waits until it is healthy.
func wantHealthy(t *testing.T, hub client.Client, p *suite.Program, name string, profile openmcpv1alpha1.ProfileName) {
	t.Helper()
	provider := &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: name}}
	suite.Eventually(t, "waiting for the profile", func() error {
		suite.Must(t, hub.Get(t.Context(), client.ObjectKeyFromObject(provider), provider))
		published := func(other openmcpv1alpha1.Profile) bool { return other.Name == profile }
		if !provider.Status.Ready || !slices.ContainsFunc(provider.Status.Profiles, published) {
			return fmt.Errorf("the status is %+v; %s", provider.Status, p)
		}
		return nil
	})
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}, Spec: openmcpv1alpha1.ClusterSpec{
		ClusterProviderRef: openmcpv1alpha1.ClusterProviderReference{Name: name, Profile: profile},
	}}
	suite.Must(t, hub.Create(t.Context(), cluster))
	suite.Eventually(t, "waiting for the Cluster", func() error {
		suite.Must(t, hub.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster))
		if cluster.Status.Phase != openmcpv1alpha1.ClusterSucceeded {
			return fmt.Errorf("the status is %+v; %s", cluster.Status, p)
		}
		return nil
	})
}

// applyDefinitions applies the definitions of cluster.openmcp.cloud.
func applyDefinitions(t *testing.T, plane *localplane.ControlPlane) {
	t.Helper()
	objects, err := manifests.System(manifests.ClusterRequest, "")
	suite.Must(t, err)
	objects = slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return object.GetKind() != "CustomResourceDefinition"
	})
	suite.Must(t, manifests.Apply(t.Context(), plane.AdminConfig(), objects))
}

// applyFiles applies the objects in the files whose paths match a pattern, other than kustomizations.
func applyFiles(t *testing.T, plane *localplane.ControlPlane, pattern string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	suite.Must(t, err)
	var objects []*unstructured.Unstructured
	for _, path := range paths {
		if filepath.Base(path) == "kustomization.yaml" {
			continue
		}
		file, err := os.Open(path)
		suite.Must(t, err)
		decoded, err := manifests.Decode(file, path)
		suite.Must(t, err)
		suite.Must(t, file.Close())
		objects = append(objects, decoded...)
	}
	if len(objects) == 0 {
		t.Fatalf("no objects in %s", pattern)
	}
	suite.Must(t, manifests.Apply(t.Context(), plane.AdminConfig(), objects))
}

// providerKubeconfig writes a kubeconfig of the ServiceAccount of a provider.
func providerKubeconfig(t *testing.T, plane *localplane.ControlPlane, name string) string {
	t.Helper()
	config, err := plane.ServiceAccountConfig(t.Context(), "clusterprovider-"+name, "provider")
	suite.Must(t, err)
	return suite.WriteKubeconfig(t, config)
}
