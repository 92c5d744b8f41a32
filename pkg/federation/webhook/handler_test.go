// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
)

const held = "federation: the object is neither delivered nor withdrawn until this is corrected"

// respond returns the response to the review of an object in JSON.
func respond(tb testing.TB, kind, object string) admission.Response {
	tb.Helper()
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Kind: metav1.GroupVersionKind{Version: "v1", Kind: kind},
		Object: runtime.RawExtension{Raw: []byte(object)},
	}}
	return Handlers(emptyHub())[Path].Handle(tb.Context(), request)
}

func annotated(tb testing.TB, annotations map[string]string) string {
	tb.Helper()
	raw, err := json.Marshal(metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "x", Annotations: annotations}})
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}

// docs/spec/federated-selector.md 3.1.4: a warning at admission, never a denial.
func TestWarnings(t *testing.T) {
	const selector, preferences = federation.SelectorAnnotation, federation.DeploymentPreferencesAnnotation
	for _, tc := range []struct {
		reason, kind string
		annotations  map[string]string
		want         []string
	}{
		{reason: "nothing of the hub", kind: "ConfigMap", annotations: map[string]string{"team": "a"}},
		{
			reason: "all is well", kind: "Deployment",
			annotations: map[string]string{
				selector: `[{"key":"location","operator":"in","values":["europe"]}]`, preferences: `{"clusters":{"*":{"weight":1}}}`,
				federation.OrphanAnnotation: "true", federation.PropagateDependenciesAnnotation: "false",
			},
		},
		{reason: "objects of the control plane alone", kind: "Secret", annotations: map[string]string{selector: federation.ControlPlaneOnly}},
		{
			reason: "federated-selector F13: no JSON", kind: "ConfigMap", annotations: map[string]string{selector: ""},
			want: []string{"annotation " + selector + ": unexpected end of JSON input", held},
		},
		{
			reason: "federated-selector F12: every requirement that is wrong", kind: "ConfigMap",
			annotations: map[string]string{selector: `[{"key":"a","operator":"exists","values":["b"]},{"key":"c","operator":"Gt","values":["x"]}]`},
			want: []string{
				"annotation " + selector + ": requirement[0]: values: Invalid value: [\"b\"]: values set must be empty for exists and does not exist",
				"annotation " + selector + ": requirement[1]: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, " +
					"the value must be an integer",
				held,
			},
		},
		{
			reason: "federated-selector F38: both annotations", kind: "ConfigMap",
			annotations: map[string]string{selector: "[]", federation.PlacementAnnotation: "p"},
			want: []string{
				"annotations " + selector + " and " + federation.PlacementAnnotation + " exclude each other; remove one of them", held,
			},
		},
		{
			reason: "federated-selector 3.1.6: preferences that cannot be parsed", kind: "Deployment",
			annotations: map[string]string{preferences: `{"clusters":{"eu1":{"weight":-1}}}`},
			want: []string{
				"annotation " + preferences + ": clusters[eu1].weight: Invalid value: -1: must be 0 or more", held,
			},
		},
		{
			reason: "preferences of another kind", kind: "ReplicaSet", annotations: map[string]string{preferences: `{}`},
			want: []string{"annotation " + preferences + ": has no effect on a ReplicaSet"},
		},
		{
			reason: "the defaults of a Namespace", kind: "Namespace",
			annotations: map[string]string{selector: "null", federation.OrphanAnnotation: "true"},
			want: []string{
				"annotation " + selector + ": must be a JSON array, not null; [] selects every cluster",
				"federation: objects of the namespace without an annotation of their own are neither delivered nor withdrawn until this is corrected",
				"annotation " + federation.OrphanAnnotation + ": has no effect on a Namespace; annotate its objects",
			},
		},
		{
			reason: "names that are nearly right, and values without an effect", kind: "ConfigMap",
			annotations: map[string]string{"federation.kubernetes.io/cluster-selector": "[]", federation.OrphanAnnotation: "yes"},
			want: []string{
				"annotation federation.kubernetes.io/cluster-selector: is unknown; did you mean " + selector + "? Correct its name, or remove it",
				held,
				"annotation " + federation.OrphanAnnotation + `: "yes" has no effect; use "true", or remove the annotation`,
			},
		},
		{
			reason: "the same on a Namespace, and a name of Federation v1", kind: "Namespace",
			annotations: map[string]string{"federation.kubernetes.io/cluster-selector": "[]", "federation.kubernetes.io/job-preferences": "{}"},
			want: []string{
				"annotation federation.kubernetes.io/cluster-selector: is unknown; did you mean " + selector + "? Correct its name, or remove it",
				"annotation federation.kubernetes.io/job-preferences: has no effect on this hub, as opposed to Federation v1",
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			answer := respond(t, tc.kind, annotated(t, tc.annotations))
			if !answer.Allowed {
				t.Errorf("denied: %v", answer.Result)
			}
			if diff := cmp.Diff(tc.want, answer.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManyWarningsAreCounted(t *testing.T) {
	requirements := strings.Repeat(`{"key":"a b","operator":"`+strings.Repeat("é", 200)+`"},`, 20)
	answer := respond(t, "ConfigMap", annotated(t, map[string]string{
		federation.SelectorAnnotation: "[" + strings.TrimSuffix(requirements, ",") + "]",
	}))
	if got := answer.Warnings[len(answer.Warnings)-1]; got != "federation: 10 more warnings" || len(answer.Warnings) != maxWarnings+2 {
		t.Errorf("%d warnings, the last one %q", len(answer.Warnings), got)
	}
}

func TestAnObjectThatIsBeingDeletedIsAdmittedInSilence(t *testing.T) {
	object := fmt.Sprintf(`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","annotations":{%q:""}}}`, federation.SelectorAnnotation)
	if answer := respond(t, "ConfigMap", object); !answer.Allowed || len(answer.Warnings) > 0 {
		t.Errorf("allowed %v, warnings %q", answer.Allowed, answer.Warnings)
	}
}

func FuzzReviewsAreAdmitted(f *testing.F) {
	for _, seed := range []string{
		"", "null", "[]", "{", `{"metadata":null}`, `{"metadata":{"annotations":{"federation.kubernetes.io/x":1}}}`,
		`{"metadata":{"annotations":{"federation.alpha.kubernetes.io/cluster-selector":"[null]"}}}`,
		`{"metadata":{"annotations":{"federation.kubernetes.io/deployment-preferences":"{\"clusters\":{\"\\u0007\":{}}, \"x\":1}"}}}`,
		`{"metadata":{"annotations":{"federation.alpha.kubernetes.io/cluster-selector":"\ud800é"}}}`,
		`{"metadata":{"annotations":{"placement.open-cluster-management.io/placement":""}}}`,
	} {
		f.Add("Deployment", seed)
	}

	f.Add("Namespace", "{}")
	f.Add("", "{}")
	f.Fuzz(func(t *testing.T, kind, object string) {
		answer := respond(t, kind, object)
		if !answer.Allowed {
			t.Errorf("denied: %v", answer.Result)
		}
		if len(answer.Warnings) > maxWarnings+maxConsequences {
			t.Errorf("%d warnings", len(answer.Warnings))
		}

		for _, warning := range answer.Warnings {
			if len(warning) > webhook.MaxWarningBytes || !utf8.ValidString(warning) || strings.ContainsAny(warning, "\n\r\x00") {
				t.Errorf("an API server drops or cuts %q", warning)
			}
		}
	})
}
