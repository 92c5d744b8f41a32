// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// What is sent as a merge patch is what apply would have made of the object.
func TestMergeIsApply(t *testing.T) {
	const health = `{"f:status":{"f:conditions":{"k:{\"type\":\"Healthy\"}":{".":{},"f:type":{},"f:status":{}}},"f:endpoints":{},"f:phase":{}}}`
	for _, tc := range []struct {
		reason        string
		live, applied string
		entries       []metav1.ManagedFieldsEntry
		status        bool
		owns          []fieldpath.Path
		want          string
	}{
		{
			reason: "fields of others stay",
			live:   `{metadata: {labels: {a: theirs}}, spec: {values: {x: 1}}}`, applied: `{metadata: {labels: {b: ours}}}`,
			want: `{metadata: {labels: {a: theirs, b: ours}}, spec: {values: {x: 1}}}`,
		},
		{
			reason: "a label that is not applied any more goes", live: `{metadata: {labels: {a: theirs, b: ours}}}`, applied: `{}`,
			entries: []metav1.ManagedFieldsEntry{managed(own, "v2", `{"f:metadata":{"f:labels":{"f:b":{}}}}`, "")},
			want:    `{metadata: {labels: {a: theirs}}}`,
		},
		{
			reason: "so does one that was applied by the version that is gone", live: `{metadata: {labels: {a: theirs, b: ours}}}`, applied: `{}`,
			entries: []metav1.ManagedFieldsEntry{managed(own, "v1", `{"f:metadata":{"f:labels":{"f:b":{}}}}`, "")},
			want:    `{metadata: {labels: {a: theirs}}}`,
		},
		{
			reason: "one that another manager has too stays, whatever its version", live: `{metadata: {labels: {b: both}}}`, applied: `{}`,
			entries: []metav1.ManagedFieldsEntry{
				managed(own, "v2", `{"f:metadata":{"f:labels":{"f:b":{}}}}`, ""), managed(others, "v1", `{"f:metadata":{"f:labels":{"f:b":{}}}}`, ""),
			},
			want: `{metadata: {labels: {b: both}}}`,
		},
		{
			reason: "two entries of one manager in two versions count both", live: `{metadata: {labels: {b: both, c: both}}}`, applied: `{}`,
			entries: []metav1.ManagedFieldsEntry{
				managed(own, "v2", `{"f:metadata":{"f:labels":{"f:b":{},"f:c":{}}}}`, ""),
				managed(others, "v1", `{"f:metadata":{"f:labels":{"f:b":{}}}}`, ""),
				managed(others, "v2", `{"f:metadata":{"f:labels":{"f:c":{}}}}`, ""),
			},
			want: `{metadata: {labels: {b: both, c: both}}}`,
		},
		{
			reason: "what nobody else writes goes, whether it is in managedFields or not", status: true,
			live:    `{status: {phase: Old, seen: theirs, endpoints: [{url: a}], conditions: [{type: Other, status: "True"}]}}`,
			applied: `{status: {phase: New}}`,
			owns:    []fieldpath.Path{fieldpath.MakePathOrDie("status", "phase"), fieldpath.MakePathOrDie("status", "endpoints")},
			want:    `{status: {phase: New, seen: theirs, conditions: [{type: Other, status: "True"}]}}`,
		},
		{
			reason: "conditions are a map, and other lists are replaced", status: true,
			live: `{status: {phase: Old, conditions: [{type: Other, status: "True"}, {type: Healthy, status: "True"}], ` +
				`endpoints: [{url: a}, {url: b}]}}`,
			applied: `{status: {conditions: [{type: Healthy, status: "False"}], endpoints: [{url: c}]}}`,
			entries: []metav1.ManagedFieldsEntry{managed(own, "v2", health, "status")},
			want:    `{status: {conditions: [{type: Other, status: "True"}, {type: Healthy, status: "False"}], endpoints: [{url: c}]}}`,
		},
		{
			reason: "the status and the object have managedFields of their own", status: true,
			live: `{metadata: {labels: {b: ours}}, status: {phase: Old}}`, applied: `{status: {phase: New}}`,
			entries: []metav1.ManagedFieldsEntry{managed(own, "v2", `{"f:metadata":{"f:labels":{"f:b":{}}}}`, "")},
			want:    `{metadata: {labels: {b: ours}}, status: {phase: New}}`,
		},
		{
			reason: "nothing differs", live: `{status: {phase: Same}}`, applied: `{status: {phase: Same}}`, status: true,
			want: `{status: {phase: Same}}`,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			live, applied := widget(t, tc.live), widget(t, tc.applied)
			live.SetManagedFields(tc.entries)
			applied.SetResourceVersion("7")
			applied.SetUID("u")
			r := &request{force: true}
			if tc.status {
				r.subresource = subresourceStatus
			}

			got, err := readDocument(t).merge(live, applied, own, r, tc.owns)
			if err != nil {
				t.Fatal(err)
			}
			want := widget(t, tc.want)
			want.SetManagedFields(tc.entries)
			if diff := cmp.Diff(want.Object, got.Object); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergeWithoutForceConflicts(t *testing.T) {
	live, applied := widget(t, `{metadata: {labels: {a: theirs}}}`), widget(t, `{metadata: {labels: {a: ours}}}`)
	live.SetManagedFields([]metav1.ManagedFieldsEntry{managed(others, "v1", `{"f:metadata":{"f:labels":{"f:a":{}}}}`, "")})

	_, err := readDocument(t).merge(live, applied, own, &request{}, nil)
	if !apierrors.IsConflict(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		t.Errorf("got %v, want the conflict of the API server", err)
	}
	if _, err := readDocument(t).merge(live, applied, own, &request{force: true}, nil); err != nil {
		t.Error(err)
	}
}

func TestDropRemovesWhatTheSchemaLacks(t *testing.T) {
	for _, tc := range []struct {
		reason, applied, want string
		lacking               []string
	}{
		{"everything is declared", `{status: {phase: a, limits: {x: {cpu: "1"}}}}`, `{status: {phase: a, limits: {x: {cpu: "1"}}}}`, nil},
		{
			"fields, fields of items and of values",
			`{status: {newer: {deep: 1}, phase: a, conditions: [{type: A, extra: 1}, {type: B, extra: 2}], limits: {x: {cpu: "1", gpu: "2"}}}}`,
			`{status: {phase: a, conditions: [{type: A}, {type: B}], limits: {x: {cpu: "1"}}}}`,
			[]string{"status.conditions[].extra", "status.limits.x.gpu", "status.newer"},
		},
		{"values take any field, and metadata is not looked at", `{metadata: {finalizers: [a]}, spec: {values: {any: {thing: [1]}}}}`,
			`{metadata: {finalizers: [a]}, spec: {values: {any: {thing: [1]}}}}`, nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got := widget(t, tc.applied)
			if diff := cmp.Diff(tc.lacking, readDocument(t).drop(got)); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(widget(t, tc.want).Object, got.Object); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
