// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCompactMetadata(t *testing.T) {
	owners := []metav1.OwnerReference{{Name: "o"}}
	for _, tc := range []struct {
		reason string
		keep   func(map[string]string) map[string]string
		want   metav1.ObjectMeta
	}{
		{"only the name is read", nil, metav1.ObjectMeta{Namespace: "n", Name: "x", ResourceVersion: "1"}},
		{"one annotation is read", Annotation("a"), metav1.ObjectMeta{
			Namespace: "n", Name: "x", ResourceVersion: "1", Annotations: map[string]string{"a": "1"}, OwnerReferences: owners,
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			object := Metadata(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			annotations := map[string]string{"a": "1", "b": "2"}
			object.ObjectMeta = metav1.ObjectMeta{
				Namespace: "n", Name: "x", ResourceVersion: "1", Labels: map[string]string{"l": "1"}, Annotations: annotations,
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}, OwnerReferences: owners,
			}

			kept, err := CompactMetadata(tc.keep)(object)
			if err != nil {
				t.Fatal(err)
			}
			want := &metav1.PartialObjectMetadata{TypeMeta: object.TypeMeta, ObjectMeta: tc.want}
			if diff := cmp.Diff(want, kept); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}

			if len(annotations) != 2 {
				t.Error("the annotations were changed in place")
			}
		})
	}

	if kept, err := CompactMetadata(nil)("a tombstone"); kept != "a tombstone" || err != nil {
		t.Errorf("got %v and %v for what is no object", kept, err)
	}
}
