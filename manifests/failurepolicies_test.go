// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Policies that deny access must fail closed; policies that only help must fail open.
func TestFailurePolicies(t *testing.T) {
	want := map[string]string{
		"bindings": "Fail", "bindings-deletion": "Fail", "clusters": "Fail", "limits": "Fail", "limits-v1alpha1": "Fail", "readable": "Fail",
		"readable-clusters": "Fail", "readable-scores": "Fail", "readable-placements": "Fail", "readable-v1alpha1-placements": "Fail",
		"placements": "Ignore", "vocabulary": "Ignore", "affected": "Ignore",
	}
	got := map[string]string{}
	for _, obj := range objects(t) {
		if obj.GetKind() == "ValidatingAdmissionPolicy" {
			name := strings.TrimPrefix(obj.GetName(), "open-cluster-management-placement-hub-")
			var err error
			if got[name], _, err = unstructured.NestedString(obj.Object, "spec", "failurePolicy"); err != nil {
				t.Errorf("%s: %v", describe(obj), err)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failurePolicy (-want +got):\n%s", diff)
	}
}
