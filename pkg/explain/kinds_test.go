// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// An entry is all that a kind needs to be read, found, named, applied and replaced.
func TestEveryKindIsKept(t *testing.T) {
	seen := map[schema.GroupVersionKind]bool{}
	for _, kind := range Kinds() {
		gvk := kind.GroupVersionKind
		if seen[gvk] {
			t.Errorf("%s is in the table twice", gvk)
		}
		seen[gvk] = true
		if kind.Concerns == 0 {
			continue
		}

		if gvk.Version == "" {
			gvk.Version = "v9"
		}
		if gvk.Kind == "" {
			gvk.Kind = "Postgres"
		}
		if found := FindKind(gvk); found != kind {
			t.Errorf("%s is found as %v", gvk, found)
		}

		state := &State{}
		named := &unstructured.Unstructured{}
		named.SetGroupVersionKind(gvk)
		named.SetName("n")
		if kind.Namespaced {
			named.SetNamespace("ns")
		}

		object, err := kind.Decode(named.Object)
		if err != nil {
			t.Fatalf("%s: %v", gvk, err)
		}
		if err := kind.Add(state, object); err != nil {
			t.Fatalf("%s: %v", gvk, err)
		}

		after, applied, err := state.With(func(yield func(*Kind, api.Object) bool) {
			if copied, is := object.DeepCopyObject().(api.Object); is {
				yield(kind, copied)
			}
		})
		if err != nil || len(applied) != 1 || applied[0].Result.New {
			t.Errorf("%s: applied %+v, error %v", gvk, applied, err)
		}

		for _, s := range []*State{state, after} {
			count := 0
			for found, one := range s.Each(kind.Concerns) {
				count++
				if found != kind || one.GetName() != "n" {
					t.Errorf("%s is found as %s", gvk, found.Name(one))
				}
			}
			if count != 1 || kind.Find(s, object) == nil {
				t.Errorf("%s: %d objects", gvk, count)
			}
		}
	}
}

func TestNamesOfSeveral(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind]string{
		{Group: "cluster.openmcp.cloud", Version: "v1alpha1", Kind: "Purpose"}:            "Purposes",
		{Group: "kupid.gardener.cloud", Version: "v1alpha1", Kind: "PodSchedulingPolicy"}: "PodSchedulingPolicies",
		{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}:                      "Ingresses",
	} {
		if got := FindKind(kind).Several(); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}
