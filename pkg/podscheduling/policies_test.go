// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
)

// clusterPolicy returns a policy with a spec in YAML.
func clusterPolicy(tb testing.TB, name, spec string) *Policy {
	tb.Helper()
	policy := &kupidv1alpha1.ClusterPodSchedulingPolicy{}
	policy.Name = name
	parse(tb, spec, &policy.Spec)
	return NewClusterPolicy(policy)
}

// everywhere returns a policy that selects all pods, with constraints in YAML.
func everywhere(tb testing.TB, name, constraints string) *Policy {
	tb.Helper()
	return clusterPolicy(tb, name, "namespaceSelector: {}\npodSelector: {}\n"+constraints)
}

func namespacedPolicy(tb testing.TB, namespace, name, spec string) *Policy {
	tb.Helper()
	policy := &kupidv1alpha1.PodSchedulingPolicy{}
	policy.Namespace, policy.Name = namespace, name
	parse(tb, spec, &policy.Spec)
	return NewPolicy(policy)
}

func parse(tb testing.TB, document string, into any) {
	tb.Helper()
	if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
		tb.Fatalf("%s: %v", document, err)
	}
}

func toJSON(tb testing.TB, document string) []byte {
	tb.Helper()
	raw, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		tb.Fatalf("%s: %v", document, err)
	}
	return raw
}

func workload(tb testing.TB, kind schema.GroupKind, document string) (*Workload, []byte) {
	tb.Helper()
	raw := toJSON(tb, document)
	w, err := ReadWorkload(kind, raw)
	if err != nil {
		tb.Fatal(err)
	}
	return w, raw
}

// apply returns an object after the patch of a result.
func apply(tb testing.TB, raw []byte, result Result) []byte {
	tb.Helper()
	patch, err := result.Patch()
	if err != nil {
		tb.Fatal(err)
	}
	if patch == nil {
		return raw
	}
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		tb.Fatalf("%s: %v", patch, err)
	}
	patched, err := decoded.Apply(raw)
	if err != nil {
		tb.Fatalf("apply %s to %s: %v", patch, raw, err)
	}

	return patched
}

// equalJSON compares two JSON texts by their values.
func equalJSON(tb testing.TB, want, got []byte) {
	tb.Helper()
	var a, b any
	for text, value := range map[*[]byte]*any{&want: &a, &got: &b} {
		if err := json.Unmarshal(*text, value); err != nil {
			tb.Fatalf("%s: %v", *text, err)
		}
	}
	if diff := cmp.Diff(a, b); diff != "" {
		tb.Errorf("-want +got:\n%s", diff)
	}
}

func names(policies []*Policy) []string {
	var found []string
	for _, policy := range policies {
		found = append(found, policy.String())
	}
	return found
}

func TestMatching(t *testing.T) {
	const etcd = "podSelector: {matchLabels: {app: etcd}}\n"
	cases := []struct {
		reason                     string
		policies                   []*Policy
		namespace                  string
		namespaceLabels, podLabels map[string]string
		want                       []string
	}{
		{
			reason:   "K3: a cluster policy without namespaceSelector has no effect anywhere",
			policies: []*Policy{clusterPolicy(t, "p", "podSelector: {}\nnodeName: n1")}, namespace: "a",
		},
		{
			reason:   "K4: a cluster policy without podSelector has no effect",
			policies: []*Policy{clusterPolicy(t, "p", "namespaceSelector: {}\nnodeName: n1")}, namespace: "a",
		},
		{
			reason:   "K5: a namespaced policy with an empty selector applies to its namespace",
			policies: []*Policy{namespacedPolicy(t, "a", "p", "podSelector: {}")}, namespace: "a",
			want: []string{"PodSchedulingPolicy a/p"},
		},
		{
			reason:   "K5: and to no other one",
			policies: []*Policy{namespacedPolicy(t, "a", "p", "podSelector: {}")}, namespace: "b",
		},
		{reason: "K34: without a policy nothing matches", policies: nil, namespace: "a"},
		{
			reason: "K18: cluster policies come first, each kind by name",
			policies: []*Policy{
				namespacedPolicy(t, "a", "1", "podSelector: {}"), everywhere(t, "b", ""), namespacedPolicy(t, "a", "0", "podSelector: {}"),
				everywhere(t, "a", ""), namespacedPolicy(t, "z", "0", "podSelector: {}"),
			},
			namespace: "a",
			want: []string{
				"ClusterPodSchedulingPolicy a", "ClusterPodSchedulingPolicy b", "PodSchedulingPolicy a/0", "PodSchedulingPolicy a/1",
			},
		},
		{
			reason:    "2.1.6: an invalid policy matches, so that it is reported, also when it is the selector that is invalid",
			policies:  []*Policy{everywhere(t, "a", "nodeName: A_B"), namespacedPolicy(t, "a", "b", "podSelector: {matchLabels: {a b: c}}")},
			namespace: "a", podLabels: map[string]string{"app": "web"},
			want: []string{"ClusterPodSchedulingPolicy a", "PodSchedulingPolicy a/b"},
		},
		{
			reason:    "2.1.6: an invalid podSelector is reported only in the namespaces that the policy selects",
			policies:  []*Policy{clusterPolicy(t, "a", "namespaceSelector: {matchLabels: {x: y}}\npodSelector: {matchLabels: {a b: c}}")},
			namespace: "a",
		},
	}
	for _, expression := range []string{
		"matchLabels: {team: a}", "matchExpressions: [{key: team, operator: In, values: [a, c]}]",
		"matchExpressions: [{key: team, operator: NotIn, values: [b]}, {key: team, operator: Exists}]",
	} {
		policy := clusterPolicy(t, "p", fmt.Sprintf("namespaceSelector: {%s}\n%s", expression, etcd))
		for _, pair := range []struct {
			team, app string
			want      []string
		}{{"a", "etcd", []string{"ClusterPodSchedulingPolicy p"}}, {"a", "web", nil}, {"b", "etcd", nil}, {"b", "web", nil}} {
			cases = append(cases, struct {
				reason                     string
				policies                   []*Policy
				namespace                  string
				namespaceLabels, podLabels map[string]string
				want                       []string
			}{
				"K32: both have to match: " + expression + " " + pair.team + " " + pair.app,
				[]*Policy{policy}, "x", map[string]string{"team": pair.team}, map[string]string{"app": pair.app}, pair.want,
			})
		}
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			got := names(NewPolicies(c.policies).Matching(c.namespace, c.namespaceLabels, c.podLabels))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestPolicyWarnings(t *testing.T) {
	const empty = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}, {}]}}}"
	cases := []struct {
		reason string
		policy *Policy
		want   []string
	}{
		{"2.1.7: selectors and constraints are there", everywhere(t, "p", "nodeName: n1"), nil},
		{"2.1.7: nothing is there", clusterPolicy(t, "p", "{}"), []string{
			"spec.namespaceSelector: is absent, so the policy selects no namespaces; {} selects all",
			"spec.podSelector: is absent, so the policy selects no pods; {} selects all",
			"spec: has no constraint, so the policy changes nothing",
		}},
		{"K37: required terms are all empty", everywhere(t, "p", "nodeSelector: {pool: etcd}\n"+empty), []string{emptyTermsWarning}},
		{
			"2.1.4: one term is not empty",
			everywhere(t, "p", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "+
				"[{}, {matchExpressions: [{key: a, operator: Exists}]}]}}}"), nil,
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			if len(c.policy.Errors) > 0 {
				t.Errorf("Errors = %v, want a valid policy", c.policy.Errors)
			}
			if diff := cmp.Diff(c.want, c.policy.Warnings); diff != "" {
				t.Errorf("Warnings (-want +got):\n%s", diff)
			}
		})
	}
}
