// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// objectsOfPods decodes the files of the sample of Pods in the order in which they are applied, without the definitions.
func objectsOfPods(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	var objs []*unstructured.Unstructured
	for _, pattern := range []string{PodsNodes, PodsPlatform, PodsApplications, PodsWorkloads, PodsRefused} {
		names, err := fs.Glob(Others(), pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s matches %q, %v", pattern, names, err)
		}
		for _, name := range names {
			objs = append(objs, decode(t, name)...)
		}
	}
	return objs
}

func TestEveryFileOfPodsIsApplied(t *testing.T) {
	all, err := fs.Glob(Others(), "pods/*")
	if err != nil {
		t.Fatal(err)
	}
	var objs []*unstructured.Unstructured
	for _, name := range all {
		objs = append(objs, decode(t, name)...)
	}
	if got, want := len(objectsOfPods(t))+len(decode(t, PodsDefinitions)), len(objs); got != want {
		t.Errorf("the patterns match files with %d objects, all files have %d", got, want)
	}
}

func TestThePodsAreAsDescribed(t *testing.T) {
	got := map[string]int{}
	namespaces := map[string]bool{}
	for _, obj := range objectsOfPods(t) {
		got[obj.GetKind()]++
		if obj.GetKind() == "Namespace" {
			namespaces[obj.GetName()] = true
		}
		if namespace := obj.GetNamespace(); namespace != "" && !namespaces[namespace] {
			t.Errorf("%s: its namespace does not come before it", key(obj))
		}
	}
	want := map[string]int{
		"Node": 6, "Namespace": 3, "AffinityClass": 3, "Tenant": 1, "ClusterPodSchedulingPolicy": 1, "PodSchedulingPolicy": 2,
		"Postgres": 1, "Redis": 2, "StatefulSet": 2, "Deployment": 3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("doc.go and the comments give these counts, and one refused policy and application more (-want +got):\n%s", diff)
	}
}

// The comment of every workload says on which Nodes its Pods are bound, and that of a refused object what is answered.
func TestExpectationsOfPodsNameNodes(t *testing.T) {
	nodes := map[string]bool{"refused": true}
	for _, obj := range decode(t, PodsNodes) {
		nodes[obj.GetName()] = true
	}
	lists := expectations(t, PodsWorkloads)
	for _, list := range lists {
		for name := range strings.SplitSeq(list, ", ") {
			if !nodes[name] {
				t.Errorf("%q: no Node is named %q", list, name)
			}
		}
	}
	if got := len(decode(t, PodsWorkloads)); len(lists) != got {
		t.Errorf("%d of %d workloads say where their Pods are bound", len(lists), got)
	}
	if got, want := len(expectations(t, PodsRefused)), len(decode(t, PodsRefused)); got != want {
		t.Errorf("%d of %d refused objects say why", got, want)
	}
}
