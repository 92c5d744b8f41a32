// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func objects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	objs, err := Objects()
	if err != nil {
		t.Fatal(err)
	}
	return objs
}

// allObjects returns the objects of a hub and the optional ones.
func allObjects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	beside, err := Multicluster()
	if err != nil {
		t.Fatal(err)
	}
	asked, err := Webhook("")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := objectsIn(history)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(objects(t), beside, asked, kept)
}

// expectObject fails the test if there is no object of that kind and name.
func expectObject(t *testing.T, kind, name string) {
	t.Helper()
	if !slices.ContainsFunc(allObjects(t), func(obj *unstructured.Unstructured) bool {
		return obj.GetKind() == kind && obj.GetName() == name
	}) {
		t.Errorf("no %s is named %q", kind, name)
	}
}
