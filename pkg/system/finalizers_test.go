// SPDX-License-Identifier: Apache-2.0

package system

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

// finalizerConstant is the declaration of an exported constant for a finalizer.
var finalizerConstant = regexp.MustCompile(`(?m)^(?:const )?\s*([A-Z]\w*Finalizer(?:Prefix)?|Finalizer)\s+=`)

// A finalizer that is not among those of its system would be left by `placement uninstall`.
func TestEveryFinalizerIsOfASystem(t *testing.T) {
	listed, err := os.ReadFile("finalizers.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := 0
	err = fs.WalkDir(os.DirFS(".."), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(".."), path)
		if err != nil {
			return fmt.Errorf("reading a file of Go: %w", err)
		}
		for _, found := range finalizerConstant.FindAllSubmatch(text, -1) {
			constants++
			if !strings.Contains(string(listed), "."+string(found[1])) {
				t.Errorf("pkg/%s declares %s, which is in no systems.Finalizer of pkg/system/finalizers.go", path, found[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, entry := range (&Options{}).Systems() {
		total += len(entry.Finalizers)
		for _, finalizer := range entry.Finalizers {
			if !strings.HasPrefix(finalizer.Waits, "until ") || !strings.HasSuffix(finalizer.Left, ".") {
				t.Errorf("%s: waits %q, left %q", finalizer, finalizer.Waits, finalizer.Left)
			}
		}
	}
	if constants != total {
		t.Errorf("pkg declares %d constants for finalizers, and the systems have %d", constants, total)
	}
}

func TestFinalizersAreRecognized(t *testing.T) {
	whole, prefix := systems.Finalizer{Name: "a.io/b"}, systems.Finalizer{Name: "request.a.io/", Prefix: true}
	for _, c := range []struct {
		finalizer systems.Finalizer
		have      []string
		want      []string
	}{
		{whole, []string{"other", "a.io/b", "a.io/b2"}, []string{"a.io/b"}},
		{whole, nil, []string{}},
		{prefix, []string{"request.a.io/1", "a.io/b", "request.a.io/2"}, []string{"request.a.io/1", "request.a.io/2"}},
	} {
		got := c.finalizer.In(c.have)
		if diff := cmp.Diff(c.want, append([]string{}, got...)); diff != "" {
			t.Errorf("%s in %v (-want +got):\n%s", c.finalizer, c.have, diff)
		}
	}
	if text := prefix.String(); text != "request.a.io/<uid>" {
		t.Errorf("a prefix is printed as %s", text)
	}
}

// What stays of an object is named by what is on the hub, and by the object itself where nothing else says it.
func TestWhatRemainsIsNamed(t *testing.T) {
	metadata := func(namespace, name, uid string, annotations map[string]string) metav1.PartialObjectMetadata {
		object := metav1.PartialObjectMetadata{}
		object.Namespace, object.Name, object.UID, object.Annotations = namespace, name, types.UID(uid), annotations
		return object
	}
	lists := map[string][]metav1.PartialObjectMetadata{
		"manifestworks federation.kubernetes.io/managed=true": {
			metadata("eu1", "w", "", map[string]string{federation.ObjectAnnotation: "Deployment.apps/shop/web"}),
			metadata("eu2", "w", "", map[string]string{federation.ObjectAnnotation: "Deployment.apps/shop/web2"}),
		},
		"managedclusters ": {
			metadata("", "mc", "", map[string]string{openmcpv1alpha1.ClusterAnnotation: "shop/web"}),
			metadata("", "other", "", nil),
		},
		"clusterrequests ": {metadata("shop", "r", "1", nil)},
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"namespace": "shop", "name": "web", "finalizers": []any{
			openmcpv1alpha1.RequestFinalizerPrefix + "1", openmcpv1alpha1.RequestFinalizerPrefix + "2", openmcpv1alpha1.ProviderFinalizer,
		}},
		"spec":   map[string]any{"clusterProviderRef": map[string]any{"name": "cloud"}},
		"status": map[string]any{"secretRef": map[string]any{"name": "web.kubeconfig"}},
	}}
	want := map[string][]string{
		federation.Finalizer:                   {"ManifestWork eu1/w"},
		openmcpv1alpha1.RequestFinalizerPrefix: {"ClusterRequest shop/r", "a ClusterRequest that is gone, UID 2"},
		openmcpv1alpha1.ProviderFinalizer:      {`the cluster of ClusterProvider "cloud"`},
		openmcpv1alpha1.InventoryFinalizer:     {"ManagedCluster mc"},
		openmcpv1alpha1.AccessFinalizer:        {"Secret shop/web.kubeconfig"},
	}
	another := object.DeepCopy()
	another.SetName("web2")
	got, ofAnother := map[string][]string{}, []string(nil)
	listed := map[string]int{}
	for _, entry := range (&Options{}).Systems() {
		for _, finalizer := range entry.Finalizers {
			if finalizer.Remains == nil {
				continue
			}
			remains := finalizer.Remains(func(of schema.GroupVersionResource, selector string) []metav1.PartialObjectMetadata {
				listed[of.Resource]++
				return lists[of.Resource+" "+selector]
			})
			got[finalizer.Name] = remains(object)
			if finalizer.Name == federation.Finalizer {
				ofAnother = remains(another)
			}
		}
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what remains (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ManifestWork eu2/w"}, ofAnother); diff != "" {
		t.Errorf("what remains of another object (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"manifestworks": 1, "managedclusters": 1, "clusterrequests": 1}, listed); diff != "" {
		t.Errorf("lists, whatever the number of objects (-want +got):\n%s", diff)
	}
}
