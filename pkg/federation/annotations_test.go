// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// The hub keeps those annotations of an object that decide about its delivery, and drops the others.
func TestHubAnnotations(t *testing.T) {
	for _, tc := range []struct {
		reason      string
		annotations map[string]string
		// want are the HubAnnotations, and withMetadata the MetadataAnnotations where they differ.
		want, withMetadata map[string]string
	}{
		{reason: "none"},
		{reason: "those of others, and of Federation v1", annotations: map[string]string{"example.com/x": "a", formerAnnotations[0]: "b"}},
		{
			reason: "those of the hub", annotations: map[string]string{
				SelectorAnnotation: "[]", PlacementAnnotation: "p", removalbudget.PercentAnnotation: "5", "federation.kubernetes.io/x": "y",
				"team": "a",
			},
			want: map[string]string{
				SelectorAnnotation: "[]", PlacementAnnotation: "p", removalbudget.PercentAnnotation: "5", "federation.kubernetes.io/x": "y",
			},
		},
		{
			reason: "the record of a leader election alone", annotations: map[string]string{leaderAnnotation: "{}"},
			withMetadata: map[string]string{leaderAnnotation: ""},
		},
		{
			reason:       "the record of a leader election with a selector",
			annotations:  map[string]string{leaderAnnotation: "{}", SelectorAnnotation: "[]"},
			want:         map[string]string{SelectorAnnotation: "[]"},
			withMetadata: map[string]string{leaderAnnotation: "", SelectorAnnotation: "[]"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, HubAnnotations(tc.annotations)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tc.withMetadata == nil {
				tc.withMetadata = tc.want
			}
			if diff := cmp.Diff(tc.withMetadata, MetadataAnnotations(tc.annotations)); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
		})
	}
}

// An event of a Namespace concerns its objects only if the defaults that it has for them change.
func TestSameDefaults(t *testing.T) {
	for _, tc := range []struct {
		reason string
		edit   func(*metav1.ObjectMeta)
		want   bool
	}{
		{"nothing changes", func(*metav1.ObjectMeta) {}, true},
		{"labels and annotations of others change", func(m *metav1.ObjectMeta) { m.Labels["a"], m.Annotations["example.com/a"] = "b", "c" }, true},
		{"it is another Namespace of that name", func(m *metav1.ObjectMeta) { m.UID = "2" }, false},
		{"it opts out", func(m *metav1.ObjectMeta) { delete(m.Labels, FederatedLabel) }, false},
		{"the default selector changes", func(m *metav1.ObjectMeta) { m.Annotations[SelectorAnnotation] = europe }, false},
		{"the default Placement appears", func(m *metav1.ObjectMeta) { m.Annotations[PlacementAnnotation] = "p" }, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			before := &metav1.ObjectMeta{
				UID: "1", Labels: map[string]string{FederatedLabel: "true"}, Annotations: map[string]string{SelectorAnnotation: "[]"},
			}
			after := before.DeepCopy()
			tc.edit(after)
			if got := SameDefaults(before, after); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
