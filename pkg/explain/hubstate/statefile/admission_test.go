// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"strings"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

func reviewed(adapter api.Adapter, spec map[string]any) map[string]any {
	owner := adapter.Codec().Owner()
	return map[string]any{
		"apiVersion": owner.GroupVersion().String(), "kind": owner.Kind,
		"metadata": map[string]any{"namespace": "ns", "name": "p"}, "spec": spec,
	}
}

// A placement is taken in as by an API server: with its defaults, by the rules of its own API.
func TestAdmissionOfPlacements(t *testing.T) {
	admission, err := NewAdmission(definitionsOfHub(t))
	if err != nil {
		t.Fatal(err)
	}

	for range 2 { // Nothing is remembered.
		placement, err := admission.Placement(api.V1beta1, reviewed(api.V1beta1, map[string]any{"tolerations": []any{map[string]any{"key": "a"}}}))
		if err != nil {
			t.Fatal(err)
		}
		typed, ok := placement.Object.(*clusterv1beta1.Placement)
		if !ok || typed.Spec.Tolerations[0].Operator != clusterv1beta1.TolerationOpEqual {
			t.Errorf("the default of an operator is missing in %+v", placement.Object)
		}
	}

	older, err := admission.Placement(api.V1alpha1, reviewed(api.V1alpha1, map[string]any{"numberOfClusters": int64(2)}))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := older.Object.(*placementv1alpha1.Placement); !ok || *older.Wanted != 2 {
		t.Errorf("got %+v", older)
	}

	for _, tc := range []struct {
		reason string
		api    api.Adapter
		spec   map[string]any
		want   string
	}{
		{"two mistakes are both told", api.V1beta1, map[string]any{"sortBy": "Age", "x": "y"}, "spec.x: unknown field: remove it, or use one of "},
		{"the second one", api.V1beta1, map[string]any{"sortBy": "Age", "x": "y"}, `; spec.sortBy: Unsupported value: "Age"`},
		{"a field of the other API", api.V1alpha1, map[string]any{"tolerations": []any{}}, "spec.tolerations: unknown field"},
	} {
		if _, err := admission.Placement(tc.api, reviewed(tc.api, tc.spec)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.reason, err, tc.want)
		}
	}
}

func TestAdmissionNeedsEveryAPI(t *testing.T) {
	crds := definitionsOfHub(t)
	for i, crd := range crds {
		if crd.Spec.Group == placementv1alpha1.GroupName && crd.Spec.Names.Kind == "Placement" {
			crds = append(crds[:i], crds[i+1:]...)
			break
		}
	}
	if _, err := NewAdmission(crds); err == nil || !strings.Contains(err.Error(), "no CustomResourceDefinition serves "+placementv1alpha1.GroupName) {
		t.Errorf("error %v, want one that names what is missing", err)
	}
}
