// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
)

// kindsOfFuzz are the kinds in a stable order.
var kindsOfFuzz = []schema.GroupKind{
	podKind, controllerKind, replicaSetKind, deploymentKind, statefulSetKind, daemonSetKind, jobKind, cronJobKind,
}

// FuzzInject checks that the patch of any object by any policy applies, changes nothing but the five fields, and is empty the second time.
func FuzzInject(f *testing.F) {
	const constraints = `{"nodeSelector":{"a/b~c":"x"},"nodeName":"n","schedulerName":"s","tolerations":[{"operator":"Exists"}],` +
		`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` +
		`{"matchExpressions":[{"key":"pool","operator":"In","values":["etcd"]}]},{}]}}}}`
	for _, object := range []string{
		`null`, `{}`, `{"spec":null}`, `{"spec":{}}`, `{"spec":{"nodename":"x","nodeSelector":null,"affinity":{"nodeAffinity":null}}}`,
		`{"metadata":{"labels":{"a":"b"},"x":1e400},"spec":{"later":[1.50],"nodeSelector":{"a":"b"},"containers":[{"name":"c"}],` +
			`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"later":1,"nodeSelectorTerms":[` +
			`{"later":{"x":12345678901234567890},"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}}}}`,
		`{"spec":{"template":{"metadata":null,"spec":{"tolerations":[{"key":"k"}],"schedulingGates":[{"name":"g"}]}}}}`,
		`{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"schedulerName":"default-scheduler"}}}}}}`,
	} {
		for kind := range kindsOfFuzz {
			f.Add(uint8(kind), []byte(object), []byte(constraints))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, object, constraints []byte) {
		decoded, err := decode(object)
		if err != nil {
			return // The API server sends no such object.
		}
		// Encoding anew leaves one member of each name, as the API server does.
		raw, err := json.Marshal(decoded)
		if err != nil {
			t.Fatal(err)
		}
		policy := &kupidv1alpha1.ClusterPodSchedulingPolicy{}
		if json.Unmarshal(constraints, &policy.Spec) != nil {
			return // The API server stores no such policy.
		}
		policy.Name = "p"
		policy.Spec.NamespaceSelector, policy.Spec.PodSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
		checkInjection(t, kindsOfFuzz[int(kind)%len(kindsOfFuzz)], raw, []*Policy{NewClusterPolicy(policy)})
	})
}

func checkInjection(t *testing.T, kind schema.GroupKind, raw []byte, policies []*Policy) {
	t.Helper()
	w, err := ReadWorkload(kind, raw)
	if err != nil {
		return
	}
	patched := apply(t, raw, Inject(w, policies))
	if before, after := withoutFields(t, kind, raw), withoutFields(t, kind, patched); !reflect.DeepEqual(before, after) {
		t.Errorf("other fields changed: %v became %v", before, after)
	}
	again, err := ReadWorkload(kind, patched)
	if err != nil {
		t.Fatalf("%s: %v", patched, err)
	}
	if second := Inject(again, policies); len(second.Operations) > 0 {
		t.Errorf("the second injection into %s: %v", patched, second.Operations)
	}
}

// withoutFields decodes an object without the five fields of its pod spec.
func withoutFields(t *testing.T, kind schema.GroupKind, raw []byte) any {
	t.Helper()
	decoded, err := decode(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	object, _ := decoded.(map[string]any)
	names := bytes.Split([]byte(specPaths[kind]), []byte("/"))[1:]
	for _, name := range names {
		object = member[map[string]any](object, string(name))
	}
	for _, name := range []string{nodeSelectorField, nodeNameField, affinityField, schedulerNameField, tolerationsField} {
		delete(object, name)
	}

	return decoded
}
