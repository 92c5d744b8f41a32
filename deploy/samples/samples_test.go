// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/manifests"
	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
)

func TestObjectsMatchTheDefinitions(t *testing.T) {
	schemas := definitions(t)
	all := slices.Concat(
		objectsOfSamples(t), objectsOfPods(t), objectsOf(t, Others(), "federation"), objectsOf(t, Others(), "clusters"))
	for _, obj := range all {
		if native, err := clientgoscheme.Scheme.New(obj.GroupVersionKind()); err == nil {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(obj.Object, native, true); err != nil {
				t.Errorf("%s: %v", key(obj), err)
			}
			continue
		}
		definition, found := schemas[obj.GroupVersionKind()]
		if !found {
			t.Errorf("%s: no definition serves %s", key(obj), obj.GroupVersionKind())
			continue
		}
		for _, problem := range definition.problems(obj) {
			t.Errorf("%s: %s", key(obj), problem)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	for _, objects := range [][]*unstructured.Unstructured{
		objectsOfSamples(t), objectsOfPods(t), objectsOf(t, Others(), "federation"), objectsOf(t, Others(), "clusters"),
	} {
		seen := map[string]bool{}
		for _, obj := range objects {
			if seen[key(obj)] {
				t.Errorf("%s is there twice", key(obj))
			}
			seen[key(obj)] = true
		}
	}
}

// The applier goes through the objects once, so what an object needs must come before it.
func TestReferencesPointBack(t *testing.T) {
	// The hub itself makes these sets.
	seen := map[string]bool{"ManagedClusterSet default": true, "ManagedClusterSet global": true}
	for _, obj := range objectsOfSamples(t) {
		var needs []string
		if namespace := obj.GetNamespace(); namespace != "" {
			needs = append(needs, "Namespace "+namespace)
		}
		switch obj.GetKind() {
		case "ManagedCluster":
			needs = append(needs, "Namespace "+obj.GetName(),
				"ManagedClusterSet "+obj.GetLabels()["cluster.open-cluster-management.io/clusterset"])
			if name := obj.GetLabels()["name"]; name != obj.GetName() {
				t.Errorf("%s: label name is %q", key(obj), name)
			}
		case "AddOnPlacementScore":
			needs = append(needs, "ManagedCluster "+obj.GetNamespace())
		case "ManagedClusterSetBinding":
			set := text(t, obj, "spec", "clusterSet")
			needs = append(needs, "ManagedClusterSet "+set)
			if set != obj.GetName() {
				t.Errorf("%s binds %q: a binding has the name of its set", key(obj), set)
			}
		case "Placement":
			sets, _, err := unstructured.NestedStringSlice(obj.Object, "spec", "clusterSets")
			if err != nil {
				t.Errorf("%s: %v", key(obj), err)
			}
			for _, set := range sets {
				needs = append(needs, "ManagedClusterSetBinding "+obj.GetNamespace()+"/"+set)
			}
		}
		for _, need := range needs {
			if !seen[need] {
				t.Errorf("%s needs %s, which does not come before it", key(obj), need)
			}
		}
		seen[key(obj)] = true
	}
}

// simulate takes the taints as they are written, and a hub makes them of the condition: both must say the same.
func TestTaintsFollowTheCondition(t *testing.T) {
	taintsOf := map[metav1.ConditionStatus][]string{
		metav1.ConditionTrue:    nil,
		metav1.ConditionFalse:   {clusterv1.ManagedClusterTaintUnavailable},
		metav1.ConditionUnknown: {clusterv1.ManagedClusterTaintUnreachable},
	}
	for _, obj := range objectsOfSamples(t) {
		if obj.GetKind() != "ManagedCluster" {
			continue
		}
		var cluster clusterv1.ManagedCluster
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &cluster); err != nil {
			t.Fatalf("%s: %v", key(obj), err)
		}
		available := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
		if available == nil {
			t.Errorf("%s: nobody says whether it is available, so a hub taints it", key(obj))
			continue
		}
		var got []string
		for _, taint := range cluster.Spec.Taints {
			if taint.Key == clusterv1.ManagedClusterTaintUnavailable || taint.Key == clusterv1.ManagedClusterTaintUnreachable {
				got = append(got, taint.Key)
			}
		}
		if want := taintsOf[available.Status]; !slices.Equal(got, want) {
			t.Errorf("%s: condition %s, taints %q, want %q", key(obj), available.Status, got, want)
		}
	}
}

func TestSamplesAreAsDescribed(t *testing.T) {
	got := map[string]int{}
	for _, obj := range objectsOfSamples(t) {
		if obj.GroupVersionKind() == placementv1alpha1.GroupVersion.WithKind("Placement") {
			got["Placement of v1alpha1"]++
			continue
		}
		got[obj.GetKind()]++
		if obj.GetKind() == "ManagedCluster" {
			got["in set "+obj.GetLabels()["cluster.open-cluster-management.io/clusterset"]]++
		}
	}
	want := map[string]int{
		"Namespace": 23, "ManagedClusterSet": 3, "ManagedCluster": 20, "AddOnPlacementScore": 11,
		"ManagedClusterSetBinding": 4, "Placement": 7, "Placement of v1alpha1": 3,
		"ServiceAccount": 1, "ClusterRole": 1, "ClusterRoleBinding": 1,
		"in set prod": 10, "in set staging": 5, "in set default": 5,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("doc.go and the comments give these counts (-want +got):\n%s", diff)
	}
}

// The comment of every placement says what it selects; the clusters must exist and be sorted as decisions are.
func TestExpectationsNameClusters(t *testing.T) {
	clusters := map[string]bool{}
	for _, obj := range objectsOfSamples(t) {
		clusters[obj.GetName()] = clusters[obj.GetName()] || obj.GetKind() == "ManagedCluster"
	}
	for file, placements := range map[string]int{"50-placements.yaml": 6, "60-placements-v1alpha1.yaml": 3, "70-placements-of-team-c.yaml": 1} {
		lists := expectations(t, file)
		for _, list := range lists {
			if list == "none" {
				continue
			}
			names := strings.Split(list, ", ")
			if !slices.IsSorted(names) {
				t.Errorf("%s: %q is not sorted", file, list)
			}
			for _, name := range names {
				if !clusters[name] {
					t.Errorf("%s: %q: no cluster is named %q", file, list, name)
				}
			}
		}
		if len(lists) != placements {
			t.Errorf("%s: %d placements say what they select, want all %d", file, len(lists), placements)
		}
	}
}

// expectations are what the comments of a file say is selected.
func expectations(t *testing.T, file string) []string {
	t.Helper()
	content, err := fs.ReadFile(filesWith(file), file)
	if err != nil {
		t.Fatal(err)
	}
	var lists []string
	for line := range strings.Lines(string(content)) {
		if list, found := strings.CutPrefix(strings.TrimSpace(line), "# Expected: "); found {
			lists = append(lists, list)
		}
	}
	return lists
}

// objectsOfSamples decodes all files in the order in which they are applied.
func objectsOfSamples(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	entries, err := fs.ReadDir(Files(), ".")
	if err != nil {
		t.Fatal(err)
	}
	var objs []*unstructured.Unstructured
	for _, entry := range entries {
		objs = append(objs, decode(t, entry.Name())...)
	}
	return objs
}

// filesWith returns the sample that has a file.
func filesWith(name string) fs.FS {
	if path.Dir(name) == "." {
		return Files()
	}
	return Others()
}

// objectsOf decodes the three files of a sample in the order in which they are applied.
func objectsOf(t *testing.T, files fs.FS, directory string) []*unstructured.Unstructured {
	t.Helper()
	names, err := fs.Glob(files, directory+"/*.yaml")
	if err != nil || len(names) != 3 {
		t.Fatalf("files %q, %v", names, err)
	}
	var objs []*unstructured.Unstructured
	for _, name := range names {
		objs = append(objs, decode(t, name)...)
	}
	return objs
}

func decode(t *testing.T, name string) []*unstructured.Unstructured {
	t.Helper()
	file, err := filesWith(name).Open(name)
	if err != nil {
		t.Fatal(err)
	}
	objs, err := manifests.Decode(file, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return objs
}

// key is "Kind namespace/name", or "Kind name" where there is no namespace.
func key(obj *unstructured.Unstructured) string {
	if obj.GetNamespace() == "" {
		return obj.GetKind() + " " + obj.GetName()
	}
	return obj.GetKind() + " " + obj.GetNamespace() + "/" + obj.GetName()
}

func text(t *testing.T, obj *unstructured.Unstructured, path ...string) string {
	t.Helper()
	value, found, err := unstructured.NestedString(obj.Object, path...)
	if err != nil || !found {
		t.Fatalf("%s: %s: found %t, error %v", key(obj), strings.Join(path, "."), found, err)
	}
	return value
}
