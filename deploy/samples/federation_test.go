// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

func TestTheFederatedObjectsAreAsDescribed(t *testing.T) {
	got := map[string]int{}
	for _, obj := range objectsOf(t, Others(), "federation") {
		got[obj.GetKind()]++
	}
	want := map[string]int{
		"ManagedCluster": 3, "Namespace": 4, "ManagedClusterSet": 1, "ManagedClusterSetBinding": 1, "Placement": 1,
		"ConfigMap": 3, "Secret": 1, "Service": 1, "Deployment": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("doc.go and the comments give these counts (-want +got):\n%s", diff)
	}
}

// The comment of every object says which clusters get it, by the code of the controller.
func TestExpectationsOfFederatedObjects(t *testing.T) {
	clusters := map[string]labels.Set{}
	for _, obj := range decode(t, FederationClusters) {
		if obj.GetKind() == "ManagedCluster" {
			clusters[obj.GetName()] = obj.GetLabels()
		}
	}
	objects, lists := decode(t, FederationObjects), expectations(t, FederationObjects)
	if len(lists) != len(objects) {
		t.Fatalf("%d of %d objects say where they are delivered", len(lists), len(objects))
	}
	for i, obj := range objects {
		target, err := federation.Choose(obj.GetAnnotations(), nil)
		switch {
		case err != nil:
			if lists[i] != "none" {
				t.Errorf("%s: %v; the comment says %q", key(obj), err, lists[i])
			}
		case target.Placement != "":
			if lists[i] != "us1" {
				t.Errorf("%s: the comment says %q; the Placement selects the only cluster of the USA", key(obj), lists[i])
			}
		default:
			if got := strings.Join(reached(t, obj, target, clusters), ", "); got != lists[i] {
				t.Errorf("%s reaches %q, the comment says %q", key(obj), got, lists[i])
			}
		}
	}
}

// reached returns the clusters of an object, sorted, each with its replicas if the object has any.
func reached(t *testing.T, obj *unstructured.Unstructured, target federation.Target, clusters map[string]labels.Set) []string {
	t.Helper()
	var names []string
	for name, set := range clusters {
		if !slices.ContainsFunc(target.Requirements, func(r labels.Requirement) bool { return !r.Matches(set) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	replicas, found, err := unstructured.NestedInt64(obj.Object, "spec", "replicas")
	if err != nil || !found {
		return names
	}
	preferences, err := federation.PreferencesOf(obj.GetKind(), obj.GetAnnotations())
	if err != nil {
		t.Fatalf("%s: %v", key(obj), err)
	}
	var selected []federation.ReplicaCluster
	for _, name := range names {
		selected = append(selected, federation.ReplicaCluster{Name: name, Available: true})
	}
	plan := federation.PlanReplicas(inventory.Key{}, int32(replicas), preferences, selected)
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, plan[name])
	}
	return names
}
