// SPDX-License-Identifier: Apache-2.0

package deliveries

import (
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// stored returns an object as a client reads it.
func stored(t *testing.T, i int) *unstructured.Unstructured {
	t.Helper()
	object := Object(i)
	kind, err := apiutil.GVKForObject(object, system.Scheme())
	if err != nil {
		t.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	read := &unstructured.Unstructured{Object: content}
	read.SetGroupVersionKind(kind)
	return read
}

func TestObjectsAreDeliveredToAllClusters(t *testing.T) {
	steered := 0
	for i := range 50 {
		object := stored(t, i)
		if why := federation.ExcludedNamespace(object.GetNamespace(), "hub", Namespace(i).Labels, false); why != "" {
			t.Fatal(why)
		}
		target, err := federation.Choose(object.GetAnnotations(), nil)
		if err != nil {
			t.Fatal(err)
		}
		away := labels.Set{State: Away}
		if slices.ContainsFunc(target.Requirements, func(r labels.Requirement) bool { return !r.Matches(away) }) {
			steered++
		}
		for _, requirement := range target.Requirements {
			if !requirement.Matches(labels.Set(Cluster(i).Labels)) {
				t.Errorf("object %d is not delivered to cluster %d", i, i)
			}
		}
	}
	if steered != Steered {
		t.Errorf("%d objects are steered, want %d", steered, Steered)
	}
}

func TestExpectedFindsWhatIsWrong(t *testing.T) {
	objects := []*unstructured.Unstructured{stored(t, 0), stored(t, Steered+1)}
	expected, err := NewExpected(objects)
	if err != nil {
		t.Fatal(err)
	}
	settings, shop := federation.NewPayload(federation.DefaultKinds()[0], objects[0]), federation.NewPayload(federation.DefaultKinds()[4], objects[1])
	for cluster := range Clusters - 1 {
		work, err := settings.Work(ClusterName(cluster), federation.Variant{})
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if cluster == 7 {
			work.Spec.Workload.Manifests = work.Spec.Workload.Manifests[:1]
			want = "ManifestWork " + work.Namespace + "/" + work.Name + " has another payload than its object"
		}
		if got := expected.Take(work); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if cluster == 8 && expected.Take(work) == "" {
			t.Error("a work is needed twice")
		}
	}
	for cluster := range Clusters {
		replicas := int32(3)
		if cluster == 0 {
			replicas = 4
		}
		work, err := shop.Work(ClusterName(cluster), federation.Variant{Replicas: replicas, HasReplicas: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := expected.Take(work); got != "" {
			t.Error(got)
		}
	}
	want := []string{
		"ManifestWork " + ClusterName(Clusters-1) + "/" + settings.Identity().WorkName() + " is missing",
		"the ManifestWorks " + shop.Identity().WorkName() + " lack -1 replicas",
	}
	if got := expected.Missing(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !json.Valid(Edited(1)) {
		t.Errorf("an edit is no JSON: %s", Edited(1))
	}
}
