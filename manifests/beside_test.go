// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// definitionWith returns a definition with versions, each with fields below spec.
func definitionWith(manager string, versions map[string][]string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if manager != "" {
		crd.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: manager, Operation: metav1.ManagedFieldsOperationApply}}
	}
	for name, fields := range versions {
		item := apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
		for _, field := range fields {
			item.Properties[field] = apiextensionsv1.JSONSchemaProps{}
		}
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"spec": {Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}},
				}},
			},
		})
	}
	return crd
}

func TestCompareDefinitions(t *testing.T) {
	ours := definitionWith("", map[string][]string{"v1": {"a", "b"}})
	for _, tc := range []struct {
		reason  string
		live    *apiextensionsv1.CustomResourceDefinition
		want    string
		wantErr string
	}{
		{reason: "the same", live: definitionWith(FieldManager, map[string][]string{"v1": {"a", "b"}})},
		{reason: "an older one of ours is brought up to date", live: definitionWith(FieldManager, map[string][]string{"v1": {"a"}})},
		{
			reason: "a newer one", live: definitionWith(FieldManager, map[string][]string{"v1": {"a", "b", "c"}}),
			want: "it has what this version does not know: v1 .spec[].c",
		},
		{
			reason: "a newer one with another version", live: definitionWith(FieldManager, map[string][]string{"v1": {"a", "b"}, "v2": nil}),
			want: "it has what this version does not know: v2, v2 .spec",
		},
		{
			reason: "much that is new", live: definitionWith(FieldManager, map[string][]string{"v1": {"c", "d", "e", "f", "g"}}),
			want: "v1 .spec[].c, v1 .spec[].d, v1 .spec[].e, and 2 more",
		},
		{reason: "somebody else's", live: definitionWith("helm", map[string][]string{"v1": {"a", "b"}}), want: "somebody else has installed it"},
		{reason: "nobody's", live: definitionWith("", map[string][]string{"v1": {"a"}}), want: "somebody else has installed it"},
		{
			reason: "somebody else's that the hub cannot work with", live: definitionWith("helm", map[string][]string{"v0": {"a"}}),
			wantErr: "it does not serve v1, which the hub needs",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, err := compareDefinitions(ours, tc.live)
			if (err != nil) != (tc.wantErr != "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
			if !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("left because %q, want %q", got, tc.want)
			}
		})
	}
}
