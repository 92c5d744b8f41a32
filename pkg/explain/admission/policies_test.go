// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/placement-hub/placement-hub/manifests"
)

const cluster = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: %s}\nspec: %s\n"

func policies(tb testing.TB) *Policies {
	tb.Helper()
	objects, err := manifests.Policies()
	if err != nil {
		tb.Fatal(err)
	}
	found, err := NewPolicies(objects)
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// read returns the only object of a manifest; nil if it is empty.
func read(tb testing.TB, manifest string) *unstructured.Unstructured {
	tb.Helper()
	objects, err := manifests.Decode(strings.NewReader(manifest), "test")
	if err != nil {
		tb.Fatal(err)
	}
	if len(objects) == 0 {
		return nil
	}
	return objects[0]
}

const (
	binding = "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n" +
		"metadata: {namespace: team-a, name: %s}\nspec: {clusterSet: %s}\n"
	placement = "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {namespace: %s, name: p}\nspec: %s\n"
	limited   = "apiVersion: placement.open-cluster-management.io/v1alpha1\nkind: Placement\nmetadata: {namespace: team-a, name: p}\nspec: %s\n"
)

func TestReview(t *testing.T) {
	exempt := &corev1.Namespace{}
	exempt.Name, exempt.Labels = "exempt", map[string]string{"placement-hub.open-cluster-management.io/admission": "off"}
	words := read(t, "apiVersion: v1\nkind: ConfigMap\n"+
		"metadata: {namespace: open-cluster-management-hub, name: placement-vocabulary}\ndata: {labels: region, bound: '', bound.team-a: green}\n")
	world := NewWorld([]*corev1.Namespace{exempt}, []*unstructured.Unstructured{words}, sets.New("unread"))
	negative, unbound := "{numberOfClusters: -1}", "{clusterSets: [blue]}"
	all := policies(t)
	for _, test := range []struct {
		reason, object, old, refusal, warning string
		empty                                 bool
		rights, unread                        string
	}{
		{reason: "a binding has the name of its set, and asks for a right", object: fmt.Sprintf(binding, "blue", "blue"), rights: "bindings"},
		{
			reason: "a binding with another name is refused", object: fmt.Sprintf(binding, "blue", "green"),
			refusal: "ValidatingAdmissionPolicy 'open-cluster-management-placement-hub-bindings' with binding " +
				"'open-cluster-management-placement-hub-bindings' denied request: The ManagedClusterSetBinding must have the same name as the " +
				"target ManagedClusterSet",
		},
		{
			reason: "a binding that is older than the policy stays", object: fmt.Sprintf(binding, "blue", "green"),
			old: fmt.Sprintf(binding, "blue", "green"),
		},
		{
			reason: "an update that changes the set is refused", object: fmt.Sprintf(binding, "blue", "green"),
			old: fmt.Sprintf(binding, "blue", "blue"), refusal: "must have the same name as the target",
		},
		{
			reason: "a user with all rights may accept a cluster", object: fmt.Sprintf(cluster, "eu1", "{hubAcceptsClient: true}"),
			rights: "clusters",
		},
		{
			reason: "the name of a cluster is that of a namespace", object: fmt.Sprintf(cluster, "a.b.c", "{}"),
			refusal: "denied request: metadata.name format is not correct: ",
		},
		{
			reason: "a namespace has no name of 64 characters", object: fmt.Sprintf(cluster, strings.Repeat("a", 64), "{}"),
			refusal: "denied request: metadata.name format is not correct: ",
		},
		{reason: "a name of 63 characters is valid", object: fmt.Sprintf(cluster, strings.Repeat("a", 63), "{}")},
		{
			reason: "a cluster is reached by https", object: fmt.Sprintf(cluster, "eu1", "{managedClusterClientConfigs: [{url: 'http://eu1'}]}"),
			refusal: `denied request: url "http://eu1" is invalid in client configs`,
		},
		{reason: "a Placement without mistakes", object: fmt.Sprintf(placement, "team-a", "{numberOfClusters: 1}")},
		{
			reason: "a messageExpression has the words of the condition", object: fmt.Sprintf(placement, "team-a", negative),
			refusal: "denied request: spec.numberOfClusters: Invalid value: -1: must be 0 or more",
		},
		{reason: "a namespaceSelector exempts", object: fmt.Sprintf(placement, "exempt", negative)},
		{
			reason: "labels that are not known decide nothing", object: fmt.Sprintf(placement, "unread", negative), unread: "placements vocabulary",
		},
		{
			reason: "limits need no labels", object: fmt.Sprintf(placement, "unread", "{tolerations: ["+
				strings.Repeat("{key: a, operator: Exists},", 65)+"]}"), unread: "placements vocabulary", refusal: "spec.tolerations: Too many: 65",
		},
		{
			reason: "a matchCondition lets an older Placement stay", object: fmt.Sprintf(placement, "team-a", negative),
			old: fmt.Sprintf(placement, "team-a", negative),
		},
		{
			reason: "an update of the spec is checked", object: fmt.Sprintf(placement, "team-a", negative),
			old: fmt.Sprintf(placement, "team-a", "{}"), refusal: "spec.numberOfClusters",
		},
		{
			reason: "limits have no exempt namespace", refusal: "spec.tolerations: Too many: 65",
			object: fmt.Sprintf(placement, "exempt", "{tolerations: ["+strings.Repeat("{key: a, operator: Exists},", 65)+"]}"),
		},
		{
			reason: "a Placement of the other API has limits", refusal: "Too many: 101",
			object: fmt.Sprintf(limited, "{predicates: [{labelSelector: {matchExpressions: ["+
				strings.Repeat("{key: a, operator: Exists},", 101)+"]}}]}"),
		},
		{
			reason: "a set that is not bound is warned about", object: fmt.Sprintf(placement, "team-a", unbound),
			warning: "Validation failed for ValidatingAdmissionPolicy 'open-cluster-management-placement-hub-vocabulary' with binding " +
				"'open-cluster-management-placement-hub-vocabulary': spec.clusterSets[0]: Invalid value: \"blue\": is not bound to the namespace " +
				"yet: create a ManagedClusterSetBinding named blue, unless it was created just now",
		},
		{reason: "without the parameter there is no warning", object: fmt.Sprintf(placement, "team-a", unbound), empty: true},
		{
			reason: "a parameter that a system brings is there, and a policy asks for rights", empty: true,
			rights: "clusters-fields",
			object: "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: Cluster\nmetadata: {namespace: team-a, name: c}\nspec: {tenancy: Shared}\n",
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			within := world
			if test.empty {
				within = NewWorld(nil, nil, nil)
			}
			request := Request{Object: read(t, test.object), Old: read(t, test.old)}
			answers, err := all.ReviewAll(t.Context(), within, 1, []Request{request})
			if err != nil {
				t.Fatal(err)
			}
			answer := answers[0]
			if test.refusal == "" && answer.Refusal != "" || !strings.Contains(answer.Refusal, test.refusal) {
				t.Errorf("refused with %q, want %q", answer.Refusal, test.refusal)
			}
			if text := strings.Join(answer.Warnings, "\n"); text != test.warning {
				t.Errorf("warned with %q, want %q", text, test.warning)
			}
			if rights := short(answer.Rights); test.refusal == "" && rights != test.rights {
				t.Errorf("rights are asked for by %q, want %q", rights, test.rights)
			}
			if unread := short(answer.Unread); unread != test.unread {
				t.Errorf("not evaluated are %q, want %q", unread, test.unread)
			}
		})
	}
}

// short returns names of policies without what they have in common.
func short(names []string) string {
	return strings.ReplaceAll(strings.Join(names, " "), "open-cluster-management-placement-hub-", "")
}

// A policy that does not compile would refuse every object, or admit it if the policy fails open.
func TestPoliciesCompile(t *testing.T) {
	for _, hook := range policies(t).hooks {
		if err := hook.Evaluator.CompileError(); err != nil {
			t.Errorf("%s: %v", hook.Policy.Name, err)
		}
	}
}

// Rights are what the answers of the policies of a hub depend on, so that Answer.Rights names all policies whose answer may differ for
// another user. A policy that only warns may look at the user, and so may a variable that asks the authorizer with it.
func TestPoliciesAskTheAuthorizerAlone(t *testing.T) {
	for _, hook := range policies(t).hooks {
		if !slices.ContainsFunc(hook.Bindings, func(binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) bool {
			return !slices.Equal(binding.Spec.ValidationActions, []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn})
		}) {
			continue
		}
		spec := hook.Policy.Spec
		for _, validation := range spec.Validations {
			spec.MatchConditions = append(spec.MatchConditions, admissionregistrationv1.MatchCondition{Expression: validation.Expression})
		}
		for _, condition := range spec.MatchConditions {
			if strings.Contains(condition.Expression, "userInfo") {
				t.Errorf("%s: %s reads who the user is", hook.Policy.Name, condition.Expression)
			}
			for _, variable := range spec.Variables {
				decides := strings.Contains(variable.Expression, "userInfo") && !strings.Contains(variable.Expression, "authorizer.")
				if decides && strings.Contains(condition.Expression, "variables."+variable.Name) {
					t.Errorf("%s: %s reads who the user is, by variable %s", hook.Policy.Name, condition.Expression, variable.Name)
				}
			}
		}
	}
}

// The resource of a request is that of its CustomResourceDefinition.
func TestResourcesAreThoseOfTheDefinitions(t *testing.T) {
	definitions, err := manifests.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, definition := range definitions {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(schema.GroupVersionKind{
			Group: definition.Spec.Group, Version: definition.Spec.Versions[0].Name, Kind: definition.Spec.Names.Kind,
		})
		if resource := (Request{Object: object}).attributes().GetResource().Resource; resource != definition.Spec.Names.Plural {
			t.Errorf("%s is of %s, want %s", definition.Spec.Names.Kind, resource, definition.Spec.Names.Plural)
		}
	}
}

func TestConcern(t *testing.T) {
	all := policies(t)
	for kind, want := range map[schema.GroupVersionKind]bool{
		{Group: "cluster.open-cluster-management.io", Version: "v1", Kind: "ManagedCluster"}:      true,
		{Group: "cluster.open-cluster-management.io", Version: "v1beta1", Kind: "Placement"}:      true,
		{Group: "cluster.open-cluster-management.io", Version: "v1beta3", Kind: "Placement"}:      false,
		{Version: "v1", Kind: "Namespace"}:                                                        true,
		{Version: "v1", Kind: "ConfigMap"}:                                                        false, // Only its deletion is of concern.
		{Group: "cluster.openmcp.cloud", Version: "v1alpha1", Kind: "AccessRequest"}:              true,
		{Group: "cluster.open-cluster-management.io", Version: "v1beta2", Kind: "ManagedCluster"}: false,
	} {
		if all.Concern(kind) != want {
			t.Errorf("Concern(%s) is %t", kind, !want)
		}
	}
}

func BenchmarkReview(b *testing.B) {
	all, world := policies(b), NewWorld(nil, nil, nil)
	for name, manifest := range map[string]string{
		"cluster":   fmt.Sprintf(cluster, "eu1", "{hubAcceptsClient: true}"),
		"placement": fmt.Sprintf(placement, "team-a", "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {region: eu}}}}]}"),
	} {
		b.Run(name, func(b *testing.B) {
			requests := []Request{{Object: read(b, manifest)}}
			review := func() {
				if answers, err := all.ReviewAll(b.Context(), world, 1, requests); err != nil || answers[0].Refusal != "" {
					b.Fatal(answers, err)
				}
			}
			review() // It compiles.
			for b.Loop() {
				review()
			}
		})
	}
}
