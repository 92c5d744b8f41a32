// SPDX-License-Identifier: Apache-2.0

package argocdrefresh

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// read returns what Read finds in an ApplicationSet in YAML.
func read(t *testing.T, text string) ApplicationSet {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return Read(&unstructured.Unstructured{Object: object})
}

// docs/spec/argocd-refresh.md AR2: which generators read PlacementDecisions, at which levels.
func TestReadFindsReferences(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, reason, generators string
		want                     []Reference
	}{{
		name: "by name", reason: "the generator reads one PlacementDecision",
		generators: `[{clusterDecisionResource: {configMapRef: ocm, name: p-decision-1}}]`,
		want:       []Reference{{"ocm", Selection{Name: "p-decision-1"}}},
	}, {
		name: "by labels", reason: "the selector is kept in one spelling",
		generators: `[{clusterDecisionResource: {configMapRef: ocm, labelSelector: {matchLabels: {b: c, a: b}}}}]`,
		want:       []Reference{{"ocm", Selection{LabelSelector: "a=b,b=c"}}},
	}, {
		name: "by expressions", reason: "matchExpressions count as matchLabels do",
		generators: `[{clusterDecisionResource: {configMapRef: ocm, labelSelector: {matchExpressions: [{key: a, operator: In, values: [c, b]}]}}}]`,
		want:       []Reference{{"ocm", Selection{LabelSelector: "a in (b,c)"}}},
	}, {
		name: "two levels", reason: "a matrix in a merge is the deepest nesting of Argo CD",
		generators: `[{merge: {generators: [{matrix: {generators: [{clusterDecisionResource: {configMapRef: ocm, name: p}}, {list: {}}]}}]}}]`,
		want:       []Reference{{"ocm", Selection{Name: "p"}}},
	}, {
		name: "three levels", reason: "Argo CD refuses it",
		generators: `[{merge: {generators: [{matrix: {generators: [
			{matrix: {generators: [{clusterDecisionResource: {configMapRef: ocm, name: p}}]}}]}}]}}]`,
	}, {
		name: "a matrix beside a merge", reason: "every generator counts",
		generators: `[{matrix: {generators: [{clusterDecisionResource: {configMapRef: a, name: p}}]}},
			{merge: {generators: [{clusterDecisionResource: {configMapRef: b, name: q}}]}}]`,
		want: []Reference{{"a", Selection{Name: "p"}}, {"b", Selection{Name: "q"}}},
	}, {
		name: "name and selector", reason: "Argo CD refuses both",
		generators: `[{clusterDecisionResource: {configMapRef: ocm, name: p, labelSelector: {matchLabels: {a: b}}}}]`,
	}, {
		name: "neither", reason: "Argo CD refuses it",
		generators: `[{clusterDecisionResource: {configMapRef: ocm}},
			{clusterDecisionResource: {configMapRef: ocm, labelSelector: {matchLabels: {}}}}]`,
	}, {
		name: "no ConfigMap", reason: "Argo CD cannot read it",
		generators: `[{clusterDecisionResource: {name: p}}]`,
	}, {
		name: "an invalid selector", reason: "Argo CD sends it to the API server, which refuses it",
		generators: `[{clusterDecisionResource: {configMapRef: ocm, labelSelector: {matchExpressions: [{key: a, operator: Like, values: [b]}]}}}]`,
	}, {
		name: "parameters of another generator", reason: "the second generator of a matrix may select any PlacementDecision",
		generators: `[{matrix: {generators: [{list: {}},
			{clusterDecisionResource: {configMapRef: ocm, labelSelector: {matchLabels: {a: '{{x}}'}}}}]}}]`,
		want: []Reference{{"ocm", Selection{}}},
	}, {
		name: "a name with parameters", reason: "it may be the name of any PlacementDecision",
		generators: `[{matrix: {generators: [{list: {}}, {clusterDecisionResource: {configMapRef: ocm, name: '{{.x}}'}}]}}]`,
		want:       []Reference{{"ocm", Selection{}}},
	}, {
		name: "a ConfigMap with parameters", reason: "its kind cannot be known",
		generators: `[{clusterDecisionResource: {configMapRef: '{{x}}', name: p}}]`,
	}, {
		name: "wrong types", reason: "the generators of a broken CustomResourceDefinition read nothing",
		generators: `[1, {clusterDecisionResource: x}, {clusterDecisionResource: {configMapRef: 1}}, {matrix: {generators: 1}}]`,
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := read(t, "{metadata: {name: s}, spec: {generators: "+test.generators+"}}")
			if diff := cmp.Diff(test.want, got.References); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// docs/spec/argocd-refresh.md AR8: opt-in and opt-out.
func TestReadFollowed(t *testing.T) {
	t.Parallel()
	const (
		decisions = `{clusterDecisionResource: {configMapRef: ocm, name: p}}`
		inMatrix  = `{matrix: {generators: [{list: {}}, {clusterDecisionResource: {configMapRef: ocm, name: p}}]}}`
	)
	tests := []struct {
		name, generators string
		// without, optedIn and optedOut are Followed without the annotation, with "true" and with "false".
		without, optedIn, optedOut bool
	}{
		{name: "decisions", generators: decisions, without: true, optedIn: true},
		{name: "a selector", generators: `{clusterDecisionResource: {configMapRef: ocm, name: p}, selector: {}}`, without: true, optedIn: true},
		{name: "lists and clusters", generators: decisions + `, {list: {}}, {clusters: {}}`, without: true, optedIn: true},
		{name: "a matrix of cheap generators", generators: inMatrix, without: true, optedIn: true},
		{name: "git", generators: decisions + `, {git: {}}`, optedIn: true},
		{name: "git in a matrix", generators: `{matrix: {generators: [` + decisions + `, {git: {}}]}}`, optedIn: true},
		{name: "git on two levels", generators: `{merge: {generators: [{matrix: {generators: [` + decisions + `, {git: {}}]}}]}}`, optedIn: true},
		{name: "SCM", generators: decisions + `, {scmProvider: {}}`, optedIn: true},
		{name: "pull requests", generators: decisions + `, {pullRequest: {}}`, optedIn: true},
		{name: "a plugin", generators: decisions + `, {plugin: {}}`, optedIn: true},
		{name: "OCI", generators: decisions + `, {oci: {}}`, optedIn: true},
		{name: "a generator of the future", generators: decisions + `, {weather: {}}`, optedIn: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for annotation, want := range map[string]bool{"": test.without, "yes": test.without, "true": test.optedIn, "false": test.optedOut} {
				got := read(t, `{metadata: {name: s, annotations: {placement-hub.open-cluster-management.io/refresh: "`+annotation+`"}},
					spec: {generators: [`+test.generators+`]}}`)
				if got.Followed != want {
					t.Errorf("Followed = %t with the annotation %q, want %t", got.Followed, annotation, want)
				}
			}
		})
	}
}

// docs/spec/argocd-refresh.md AR6: the annotation counts with any value, as Argo CD looks for its key alone.
func TestReadRequested(t *testing.T) {
	t.Parallel()
	for annotations, want := range map[string]bool{
		`{}`: false, `{argocd.argoproj.io/application-set-refresh: "true"}`: true, `{argocd.argoproj.io/application-set-refresh: ""}`: true,
	} {
		got := read(t, `{metadata: {name: s, resourceVersion: "7", annotations: `+annotations+`}}`)
		if got.Requested != want || got.Name != "s" || got.ResourceVersion != "7" {
			t.Errorf("Read(%s) = %+v, want Requested %t", annotations, got, want)
		}
	}
}

// docs/spec/argocd-refresh.md AR2: a ConfigMap of PlacementRules or of another group.
func TestNamesDecisions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		data map[string]string
		want bool
	}{
		{"PlacementDecisions", map[string]string{"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "placementdecisions"}, true},
		{"another version", map[string]string{"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "placementdecisions"}, true},
		{"PlacementRules", map[string]string{"apiVersion": "apps.open-cluster-management.io/v1", "kind": "placementrules"}, false},
		{"another group", map[string]string{"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "placementdecisions"}, false},
		{"the kind instead of the resource", map[string]string{
			"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "PlacementDecision",
		}, false},
		{"no version", map[string]string{"apiVersion": "cluster.open-cluster-management.io", "kind": "placementdecisions"}, false},
		{"nothing", nil, false},
	}
	for _, test := range tests {
		if got := NamesDecisions(test.data); got != test.want {
			t.Errorf("%s: NamesDecisions() = %t, want %t", test.name, got, test.want)
		}
	}
}
