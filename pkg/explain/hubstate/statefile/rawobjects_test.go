// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/pkg/explain/admission"
)

// Policies see objects as the API server has them: without the empty fields of their Go types, and with the defaults of their definitions.
func TestPoliciesSeeObjectsAsTheyAreGiven(t *testing.T) {
	const (
		head = "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {name: p, namespace: ns"
		live = head + ", uid: u, creationTimestamp: null}\nspec: {numberOfClusters: 1}\n"
	)
	fields := func(metadata, spec map[string]any) map[string]any {
		spec["scoreRateLimit"], spec["sortBy"] = "1m", "ClusterName" // The defaults.
		metadata["name"], metadata["namespace"] = "p", "ns"
		return map[string]any{
			"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement", "metadata": metadata, "spec": spec,
		}
	}
	uid := func() map[string]any { return map[string]any{"uid": "u"} }
	for _, tc := range []struct {
		reason, live, file string
		old, object        map[string]any
	}{
		{
			reason: "created", file: head + "}\nspec: {numberOfClusters: 2, tolerations: [{key: a}]}\n",
			object: fields(map[string]any{}, map[string]any{
				"numberOfClusters": int64(2), "tolerations": []any{map[string]any{"key": "a", "operator": "Equal"}},
			}),
		},
		{
			reason: "updated", live: live, file: head + "}\nspec: {numberOfClusters: 2}\n",
			old:    fields(uid(), map[string]any{"numberOfClusters": int64(1)}),
			object: fields(uid(), map[string]any{"numberOfClusters": int64(2)}),
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			changes, hub := readChanges(t, Namespace{}, tc.file), newReader(t)
			hub.Compare(changes.Has)
			hub.Read("hub.yaml", []byte(tc.live))
			state, err := hub.State()
			if err != nil {
				t.Fatal(err)
			}
			var got []admission.Request
			review := func(_ *admission.World, _ int, requests []admission.Request) ([]admission.Answer, error) {
				got = requests
				return make([]admission.Answer, len(requests)), nil
			}
			if _, _, err := changes.Apply(state, &Writes{Asked: hub.Live(), Review: review}); err != nil || len(got) != 1 {
				t.Fatalf("%d requests, error %v", len(got), err)
			}
			if diff := cmp.Diff(tc.old, fieldsIn(got[0].Old)); diff != "" {
				t.Errorf("the object before (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.object, fieldsIn(got[0].Object)); diff != "" {
				t.Errorf("the object (-want +got):\n%s", diff)
			}
		})
	}
}

// fieldsIn returns the fields of an object; nil for none.
func fieldsIn(object *unstructured.Unstructured) map[string]any {
	if object == nil {
		return nil
	}
	return object.Object
}

// A file with the live object is no change for policies, also where the Go type of the object has fields that both leave out.
func TestAnUpdateWithoutAChangeIsNoneForPolicies(t *testing.T) {
	const (
		cluster = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: c1}\nspec: {}\n"
		rules   = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: unchanged}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [cluster.open-cluster-management.io], apiVersions: ["*"], operations: [UPDATE], resources: [managedclusters]}
  validations:
  - expression: object.spec == oldObject.spec
    message: the spec changes
`
		binding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: unchanged}
spec: {policyName: unchanged, validationActions: [Deny]}
`
	)
	var objects []*unstructured.Unstructured
	for _, text := range []string{rules, binding} {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	policies, err := admission.NewPolicies(objects)
	if err != nil {
		t.Fatal(err)
	}
	hub, added := newReader(t), newReader(t)
	added.Enforce(policies, Applied)
	added.Read("added.yaml", []byte(cluster))
	hub.Compare(added.Has)
	hub.Read("hub.yaml", []byte(cluster))
	state, err := hub.State()
	if err != nil {
		t.Fatal(err)
	}
	added.Update(hub.Live())
	if _, err := added.Review(t.Context(), state); err != nil {
		t.Errorf("the cluster is refused: %v", err)
	}
}
