// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
)

// tryInstall is install, which may fail: it returns what Helm says.
func (c cluster) tryInstall(t *testing.T, more ...string) (string, error) {
	t.Helper()
	return c.helm.try(t, append([]string{"upgrade", "--install", release, directory, "--namespace", manifests.Namespace, "--create-namespace",
		"--kubeconfig", c.kubeconfig}, more...)...)
}

// expectRefusal expects that an upgrade fails with a text.
func (c cluster) expectRefusal(t *testing.T, want string, more ...string) {
	t.Helper()
	if output, err := c.tryInstall(t, more...); err == nil || !strings.Contains(output, want) {
		t.Errorf("helm upgrade --install %s: %v, want %q\n%s", strings.Join(more, " "), err, want, output)
	}
}

// A field that somebody else has set: Helm 4 refuses the next upgrade, and Helm 3 resets the field. A release without the field leaves it, so that an
// autoscaler can have it.
func TestScaledByOthers(t *testing.T) { forEachHelm(t, checkScaled) }

func checkScaled(t *testing.T, helm helmVersion) {
	t.Helper()
	c := startCluster(t, helm)
	scale := func(replicas string) {
		kubectl(t, "scale", "deployment", "placement-hub-controller", "--replicas", replicas, "--namespace", manifests.Namespace,
			"--kubeconfig", c.kubeconfig, "--cache-dir", t.TempDir())
	}
	expect := func(t *testing.T, want int32) {
		t.Helper()
		if got := ptr.Deref(c.deployment(t).Spec.Replicas, -1); got != want {
			t.Errorf("the Deployment has %d replicas, want %d", got, want)
		}
	}
	c.install(t)
	expect(t, 2)
	scale("3")
	if helm.serverSide {
		c.expectRefusal(t, `conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas`)
		expect(t, 3)
		c.install(t, "--force-conflicts")
	} else {
		c.install(t)
	}
	expect(t, 2)

	scale("3")
	c.install(t, "--set", "replicas=null")
	if helm.serverSide { // kubectl has taken the field over.
		expect(t, 3)
	} else { // Helm 3 removes what the release had, so that the API server sets its default.
		expect(t, 1)
	}
	scale("4")
	c.install(t, "--set", "replicas=null")
	expect(t, 4)
	c.install(t, "--set", "replicas=null,podAnnotations.a=b")
	expect(t, 4)
}

// Definitions that kubectl has applied, one of them in another version. No Helm takes them over unless it is told to, and the values leave them out.
func TestDefinitionsOfOthers(t *testing.T) { forEachHelm(t, checkDefinitions) }

func checkDefinitions(t *testing.T, helm helmVersion) {
	t.Helper()
	const name = "placements.cluster.open-cluster-management.io"
	c := startCluster(t, helm)
	kubectl(t, "apply", "--server-side", "--kubeconfig", c.kubeconfig, "--cache-dir", t.TempDir(),
		"--kustomize", kustomization(t, []string{"manifests/crds"}, nil))
	placements := &unstructured.Unstructured{}
	placements.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: definition})
	placements.SetName(name)
	other := `[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/description","value":"another version"}]`
	if err := c.client.Patch(t.Context(), placements, client.RawPatch(types.JSONPatchType, []byte(other))); err != nil {
		t.Fatal(err)
	}
	expect := func(t *testing.T, other bool) {
		t.Helper()
		if err := c.client.Get(t.Context(), client.ObjectKeyFromObject(placements), placements); err != nil {
			t.Fatal(err)
		}
		versions, _, err := unstructured.NestedSlice(placements.Object, "spec", "versions")
		if err != nil {
			t.Fatal(err)
		}
		description, _, err := unstructured.NestedString(versions[0].(map[string]any), "schema", "openAPIV3Schema", "description")
		if err != nil || (description == "another version") != other {
			t.Errorf("the definition has the description %.40q (%v), want the other one: %t", description, err, other)
		}
	}

	t.Run("Helm refuses", func(t *testing.T) {
		c.expectRefusal(t, "exists and cannot be imported into the current release: invalid ownership metadata")
		expect(t, true)
	})
	t.Run("a release without definitions leaves them", func(t *testing.T) {
		c.install(t, flags(withoutDefinitions)...)
		expect(t, true)
		helm.run(t, "uninstall", release, "--namespace", manifests.Namespace, "--kubeconfig", c.kubeconfig)
		expect(t, true)
	})
	t.Run("a release takes them over", func(t *testing.T) {
		if helm.serverSide {
			c.expectRefusal(t, "conflict with ", "--take-ownership")
			expect(t, true)
			c.install(t, "--take-ownership", "--force-conflicts")
		} else {
			c.install(t, "--take-ownership")
		}
		expect(t, false)
	})
	t.Run("somebody changes a definition of the release", func(t *testing.T) {
		if err := c.client.Patch(t.Context(), placements, client.RawPatch(types.JSONPatchType, []byte(other))); err != nil {
			t.Fatal(err)
		}
		if helm.serverSide {
			c.expectRefusal(t, "conflict with ")
			expect(t, true)
			c.install(t, "--force-conflicts")
		} else {
			c.install(t)
		}
		expect(t, false)
	})
}
