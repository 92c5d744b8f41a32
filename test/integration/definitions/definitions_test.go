// SPDX-License-Identifier: Apache-2.0

// Package definitions applies objects of the kinds that are not installed by default to a real API server, and checks what it accepts.
package definitions

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// A check creates an object, or creates and updates it.
type check struct {
	reason   string
	object   string
	update   string   // JSON merge patch of the object; "" for none
	refusals []string // parts of the message; none if the API server accepts the object, or the update
}

func TestDefinitions(t *testing.T) {
	plane, err := localplane.Start(t.Context(), localplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	install(t, plane)
	c, err := client.New(plane.AdminConfig(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range slices.Concat(clusterRequestChecks(), []check{
		{reason: "affinity-class 1.1: a class", object: class("dc1", "{topology.kubernetes.io/zone: dc1}")},
		{reason: "affinity-class A22: an empty nodeSelector", object: class("a", "{}"), refusals: []string{"spec.nodeSelector", "at least 1"}},
		{reason: "affinity-class A22: no nodeSelector", object: "apiVersion: cozystack.io/v1alpha1\nkind: AffinityClass\nmetadata: {name: " +
			"a}\nspec: {}",
			refusals: []string{"spec.nodeSelector: Required value"}},
		{reason: "affinity-class A22: a value that no label has", object: class("a", "{zone: bad value!}"),
			refusals: []string{"spec.nodeSelector.zone"}},
		{reason: "affinity-class 1.1: a key that no label has", object: class("a", "{bad key!: a}"),
			refusals: []string{"spec.nodeSelector", "has a key that no label has"}},
		{reason: "affinity-class A22: a name of 64 characters", object: class(strings.Repeat("a", 64), "{zone: a}"),
			refusals: []string{"metadata.name must have at most 63 characters"}},
		{reason: "affinity-class 1.1: a name of 63 characters", object: class(strings.Repeat("a", 63), "{zone: a}")},
		{reason: "affinity-class 1.1: an enforcement that there is not", object: class("a", "{zone: a}\n  enforcement: Never"),
			refusals: []string{"spec.enforcement: Unsupported value"}},
		{reason: "affinity-class A23: the nodeSelector is immutable", object: class("dc2", "{zone: dc2}"),
			update:   `{"spec":{"nodeSelector":{"zone":"dc3"}}}`,
			refusals: []string{"spec.nodeSelector", "is immutable: create another AffinityClass"}},
		{reason: "affinity-class 1.1: the enforcement is not", object: class("dc4", "{zone: dc4}"), update: `{"spec":{"enforcement":"Warn"}}`},
		{reason: "affinity-class 1.1: other fields of a Tenant are passed through",
			object: "apiVersion: apps.cozystack.io/v1alpha1\nkind: Tenant\nmetadata: {name: acme, namespace: default}\n" +
				"spec: {defaultAffinityClass: dc1, allowedAffinityClasses: [dc1, dc2], etcd: true, monitoring: {deep: [1]}}"},
		{reason: "affinity-class 1.1: a class twice in a list",
			object: "apiVersion: apps.cozystack.io/v1alpha1\nkind: Tenant\nmetadata: {name: b, namespace: default}\nspec: " +
				"{allowedAffinityClasses: [dc1, dc1]}",
			refusals: []string{"spec.allowedAffinityClasses[1]: Duplicate value"}},
		{reason: "2.1.1: a PodSchedulingPolicy with every field", object: "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: PodSchedulingPolicy\n" +
			"metadata: {name: p, namespace: default}\nspec: {podSelector: {matchLabels: {app: etcd}}, " + constraints + "}"},
		{reason: "2.1.1: a ClusterPodSchedulingPolicy with every field", object: "apiVersion: kupid.gardener.cloud/v1alpha1\n" +
			"kind: ClusterPodSchedulingPolicy\nmetadata: {name: p}\nspec: {namespaceSelector: {}, podSelector: {}, " + constraints + "}"},
		{reason: "2.1.7: the definition leaves wrong values to the webhook, which has the texts of the API server", object: "apiVersion: " +
			"kupid.gardener.cloud/v1alpha1\nkind: PodSchedulingPolicy\nmetadata: {name: q, namespace: default}\nspec: {nodeName: A_B, " +
			"tolerations: " +
			"[{operator: Equal}], affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}"},
	}) {
		t.Run(check.reason, func(t *testing.T) {
			object := decode(t, check.object)
			given := object.DeepCopy()
			err := c.Create(t.Context(), object)
			if check.update != "" {
				if err != nil {
					t.Fatal(err)
				}
				err = c.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(check.update)))
			}
			expect(t, err, check.refusals)
			if err == nil && check.update == "" {
				expectFields(t, given.Object["spec"], object.Object["spec"])
			}
			if status, found := given.Object["status"]; found && len(check.refusals) == 0 {
				object.Object["status"] = status
				if err := client.IgnoreNotFound(c.Status().Update(t.Context(), object)); err != nil { // A grant has no subresource.
					t.Fatal(err)
				}
				expectFields(t, status, object.Object["status"])
			}
		})
	}
}

// constraints are all fields that a policy injects.
const constraints = "nodeSelector: {pool: etcd}, nodeName: n1, schedulerName: custom, tolerations: [{key: pool, operator: Exists, " +
	"effect: NoExecute, tolerationSeconds: 3}], affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: " +
	"[{matchExpressions: [{key: pool, operator: In, values: [etcd]}]}]}}, podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: " +
	"[{weight: 1, podAffinityTerm: {topologyKey: zone, labelSelector: {}}}]}}"

func class(name, selector string) string {
	return "apiVersion: cozystack.io/v1alpha1\nkind: AffinityClass\nmetadata: {name: " + name + "}\nspec:\n  nodeSelector: " + selector
}

func decode(t *testing.T, document string) *unstructured.Unstructured {
	t.Helper()
	objects, err := manifests.Decode(strings.NewReader(document), "object")
	if err != nil {
		t.Fatal(err)
	}
	return objects[0]
}

// install applies the definitions and waits until they are served.
func install(t *testing.T, plane *localplane.ControlPlane) {
	t.Helper()
	var definitions []*unstructured.Unstructured
	for _, directory := range []string{"podscheduling", "affinityclass", "clusterrequest"} {
		files := os.DirFS(filepath.Join("..", "..", "..", "manifests", directory))
		names, err := fs.Glob(files, "*_*.yaml")
		if err != nil || len(names) == 0 {
			t.Fatalf("definitions in %s: %v, %v", directory, names, err)
		}
		for _, name := range names {
			content, err := fs.ReadFile(files, name)
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := manifests.Decode(bytes.NewReader(content), name)
			if err != nil {
				t.Fatal(err)
			}
			definitions = append(definitions, decoded...)
		}
	}
	if err := manifests.Apply(t.Context(), plane.AdminConfig(), definitions); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, err error, refusals []string) {
	t.Helper()
	if len(refusals) == 0 {
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		return
	}
	if err == nil {
		t.Fatalf("accepted, want a refusal with %q", refusals)
	}
	for _, part := range refusals {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("refused: %v, want %q in it", err, part)
		}
	}
}

// expectFields checks that every given field is in the stored value: none is pruned.
func expectFields(t *testing.T, given, stored any) {
	t.Helper()
	switch given := given.(type) {
	case map[string]any:
		object, _ := stored.(map[string]any)
		for name, value := range given {
			if _, found := object[name]; !found {
				t.Errorf("%s is not stored", name)
			}
			expectFields(t, value, object[name])
		}
	case []any:
		list, _ := stored.([]any)
		if len(list) != len(given) {
			t.Fatalf("%v is stored as %v", given, stored)
		}
		for i := range given {
			expectFields(t, given[i], list[i])
		}
	}
}
