// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"testing"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// docs/spec/differences.md C3: the annotation is read of both APIs. Another value makes the Placement misconfigured, so that its decisions stay.
func TestMissingScoreAnnotation(t *testing.T) {
	const must = `metadata.annotations[placement-hub.open-cluster-management.io/missing-score]: Invalid value: `
	const be = `: must be "worst"; remove the annotation to have missing scores count 0`
	for _, adapter := range api.Adapters() {
		for _, tc := range []struct {
			reason      string
			annotations map[string]string
			worst       bool
			mistake     string
		}{
			{"absent", map[string]string{"other": "worst"}, false, ""},
			{"worst", map[string]string{api.MissingScoreAnnotation: "worst"}, true, ""},
			{"misspelt", map[string]string{api.MissingScoreAnnotation: "Worst"}, false, must + `"Worst"` + be},
			{"empty", map[string]string{api.MissingScoreAnnotation: ""}, false, must + `""` + be},
		} {
			t.Run(string(adapter.Name())+"/"+tc.reason, func(t *testing.T) {
				object := adapter.Empty()
				object.SetNamespace("ns")
				object.SetName("p")
				object.SetAnnotations(tc.annotations)
				request := adapter.Read(object).Request(selector.NewCompiler())
				expect(t, "worst", tc.worst, request.MissingIsWorst)
				mistake := ""
				if err := request.Errors.ToAggregate(); err != nil {
					mistake = err.Error()
				}
				expect(t, "mistake", tc.mistake, mistake)
			})
		}
	}
}

// A Version differs exactly where the Request may: by UID, generation and the annotations that decide, of which an empty one is not an absent one.
func TestVersions(t *testing.T) {
	version := func(change func(api.Object)) api.Version {
		object := api.V1beta1.Empty()
		object.SetUID("1")
		object.SetGeneration(1)
		change(object)
		return api.V1beta1.Read(object).Version()
	}
	annotate := func(key, value string) func(api.Object) {
		return func(object api.Object) { object.SetAnnotations(map[string]string{key: value}) }
	}
	first := version(func(api.Object) {})
	for reason, tc := range map[string]struct {
		change func(api.Object)
		equal  bool
	}{
		"nothing":            {func(api.Object) {}, true},
		"a resourceVersion":  {func(object api.Object) { object.SetResourceVersion("7") }, true},
		"another annotation": {annotate("a", "b"), true},
		"an uid":             {func(object api.Object) { object.SetUID("2") }, false},
		"a generation":       {func(object api.Object) { object.SetGeneration(2) }, false},
		"the annotation":     {annotate(api.MissingScoreAnnotation, "worst"), false},
		"an empty one":       {annotate(api.MissingScoreAnnotation, ""), false},
	} {
		if got := version(tc.change) == first; got != tc.equal {
			t.Errorf("%s: the Versions are equal: %v, want %v", reason, got, tc.equal)
		}
	}
}
