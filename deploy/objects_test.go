// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/manifests"
)

// test/integration/chart compares the contents with those that kubectl builds.
func TestObjectsAreThoseOfTheKustomizations(t *testing.T) {
	cases := []struct {
		reason      string
		chosen      Choices
		directories []string
		arguments   []string
	}{
		{"base", Choices{}, []string{"base"}, []string{"controller", "--controllers=*", "--max-removal-percent=50"}},
		{
			"components add arguments", Choices{Systems: []string{manifests.Federation}, WithoutTaints: true, ManifestWorks: true},
			[]string{"base", "components/federation", "../manifests/manifestworks"},
			[]string{
				"controller", "--controllers=*", "--max-removal-percent=50", "--controllers=federation/*", "--controllers=-managedcluster-taints",
			},
		},
		{
			"the overlay replaces them", Choices{BesideUpstream: true}, []string{"overlays/beside-upstream"},
			[]string{"controller", "--controllers=placement"},
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			objects, err := Objects(c.chosen)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, dir := range c.directories {
				want = append(want, ids(build(t, dir))...)
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, ids(objects)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			container := containerOf(t, objects)
			got, _, err := unstructured.NestedStringSlice(container, "args")
			if diff := cmp.Diff(c.arguments, got); err != nil || diff != "" {
				t.Errorf("arguments (-want +got): %v\n%s", err, diff)
			}
			if container["image"] != "placement-hub:latest" {
				t.Errorf("image %v, want that of the Deployment", container["image"])
			}
		})
	}
}

func TestObjectsHaveTheImage(t *testing.T) {
	objects, err := Objects(Choices{Image: "registry.example/hub:v1"})
	if err != nil {
		t.Fatal(err)
	}
	if image := containerOf(t, objects)["image"]; image != "registry.example/hub:v1" {
		t.Errorf("image %v", image)
	}
}

func TestObjectsOfAnUnknownSystem(t *testing.T) {
	if _, err := Objects(Choices{Systems: []string{"fleet"}}); err == nil || !strings.Contains(err.Error(), `there is no system "fleet"`) {
		t.Errorf("error %v, want one that names the system", err)
	}
}

// What an object needs is applied before it: kubectl applies a stream in its order.
func TestObjectsAreInOrder(t *testing.T) {
	objects, err := Objects(Choices{Systems: manifests.Systems(), ManifestWorks: true})
	if err != nil {
		t.Fatal(err)
	}
	namespaces := map[string]bool{}
	defined, webhooks := true, false
	for _, object := range objects {
		switch object.GetKind() {
		case "CustomResourceDefinition":
			if !defined {
				t.Errorf("%s follows other objects", id(object))
			}
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			webhooks = true
		default:
			if webhooks {
				t.Errorf("%s follows the webhooks, which the hub has to serve", id(object))
			}
		}
		defined = defined && object.GetKind() == "CustomResourceDefinition"
		if object.GetKind() == "Namespace" {
			namespaces[object.GetName()] = true
		}
		if namespace := object.GetNamespace(); namespace != "" && !namespaces[namespace] {
			t.Errorf("%s comes before its Namespace", id(object))
		}
	}
}

// Of a system that is turned off nothing stays but definitions and namespaces, and no webhook outlives what serves it.
func TestRemovalLeavesTheObjectsOfUsers(t *testing.T) {
	cases := []struct {
		reason string
		chosen Choices
		all    func() ([]*unstructured.Unstructured, error)
	}{
		{"the hub", Choices{}, func() ([]*unstructured.Unstructured, error) { return Objects(Choices{}) }},
		{
			"a system with webhooks that fail closed", Choices{Systems: []string{manifests.AffinityClass}},
			func() ([]*unstructured.Unstructured, error) { return manifests.System(manifests.AffinityClass, "") },
		},
		{
			"a system with a namespace", Choices{Systems: []string{manifests.ClusterRequest}, BesideUpstream: true},
			func() ([]*unstructured.Unstructured, error) { return manifests.System(manifests.ClusterRequest, "") },
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			objects, err := Removal(c.chosen)
			if err != nil {
				t.Fatal(err)
			}
			all, err := c.all()
			if err != nil {
				t.Fatal(err)
			}
			all = slices.DeleteFunc(all, func(object *unstructured.Unstructured) bool {
				return slices.Contains([]string{"CustomResourceDefinition", "Namespace"}, object.GetKind())
			})
			if diff := cmp.Diff(ids(all), ids(objects)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if !strings.HasSuffix(objects[0].GetKind(), "WebhookConfiguration") {
				t.Errorf("the first object is %s, want a webhook configuration", id(objects[0]))
			}
		})
	}
	if _, err := Removal(Choices{Systems: []string{"fleet"}}); err == nil {
		t.Error("an unknown system is no error")
	}
}

// containerOf returns the container of the Deployment.
func containerOf(t *testing.T, objects []*unstructured.Unstructured) map[string]any {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == "Deployment" {
			containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			if err != nil {
				t.Fatal(err)
			}
			return containers[0].(map[string]any)
		}
	}
	t.Fatal("there is no Deployment")
	return nil
}
