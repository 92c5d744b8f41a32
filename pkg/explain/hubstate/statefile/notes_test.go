// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// An API server clears the namespace of an object of a kind without namespaces.
func TestNamespaceOfAClusterScopedObject(t *testing.T) {
	const set = "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: a, namespace: ns}\n"
	for _, tc := range []struct {
		reason, content string
		want            []string
	}{
		{
			"one", clusterHead + "metadata: {name: a, namespace: ns}\n",
			[]string{"warning: world.yaml:3: ManagedCluster a: metadata.namespace: ns is left out, because a ManagedCluster is in no namespace"},
		},
		{
			"several", clusterHead + "metadata: {name: a, namespace: ns}\n---\n" + set +
				"---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, namespace: ns}\n",
			[]string{"warning: world.yaml:3: ManagedCluster a: metadata.namespace: ns is left out, because a ManagedCluster is in no namespace; " +
				"so are others, 3 in all"},
		},
		{"an empty one", clusterHead + "metadata: {name: a, namespace: ''}\n", nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			reader := newReader(t)
			reader.Read("world.yaml", []byte(tc.content))
			state, err := reader.State()
			if err != nil {
				t.Fatal(err)
			}
			if got := state.Clusters[0].Namespace; got != "" {
				t.Errorf("the cluster is in namespace %s", got)
			}
			if diff := cmp.Diff(tc.want, reader.Notes()); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// An API server does not take the status of an object that is applied, and does not validate it. In the files of a hub it is read.
func TestStatusOfAppliedObjects(t *testing.T) {
	const decided = "status: {numberOfSelectedClusters: 3}\n"
	placement := placementHead + "metadata: {name: a, namespace: ns}\nspec: {}\n"
	deployment := "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ns}\nstatus: {readyReplicas: 3}\n"
	changes := readChanges(t, Namespace{}, placement+decided+deployment)
	changes.Read("invalid.yaml", []byte(strings.Replace(placement, "name: a", "name: b", 1)+"status: {conditions: [{type: A}]}\n"))
	changes.Read("empty.yaml", []byte(strings.Replace(placement, "name: a", "name: c", 1)+"status: {}\n"))
	given, err := changes.State()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range given.Placements {
		if placement, is := object.(*clusterv1beta1.Placement); !is || placement.Status.NumberOfSelectedClusters != 0 {
			t.Errorf("the status is %v", object)
		}
	}
	if _, has := given.Federated.Objects[0].Object["status"]; has {
		t.Error("the Deployment has its status")
	}
	want := []string{"left out status, which apply does not write: 3"}
	if diff := cmp.Diff(want, changes.Notes()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}

	reader := newReader(t)
	reader.Read("world.yaml", []byte(placement+decided))
	state, err := reader.State()
	if err != nil {
		t.Fatal(err)
	}
	read, is := state.Placements[0].(*clusterv1beta1.Placement)
	if !is || read.Status.NumberOfSelectedClusters != 3 || reader.Notes() != nil {
		t.Errorf("the Placement of the hub is %v, notes %q", state.Placements[0], reader.Notes())
	}
}

// The items of a list have its kind, as in the answers of an API server.
func TestItemsOfATypedList(t *testing.T) {
	const list = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedClusterList\nmetadata: {resourceVersion: \"7\"}\nitems:\n"
	state := read(t, list+"- metadata: {name: a}\n- apiVersion: cluster.open-cluster-management.io/v1\n  kind: ManagedCluster\n"+
		"  metadata: {name: b}\n---\napiVersion: v1\nkind: NodeList\nitems:\n- metadata: {name: n1}\n")
	if len(state.Clusters) != 2 || len(state.Pods.Nodes) != 1 {
		t.Errorf("%d clusters, %d nodes", len(state.Clusters), len(state.Pods.Nodes))
	}

	reader := newReader(t)
	reader.Read("world.yaml", []byte(list+"- metadata: {nam: a}\n---\napiVersion: v1\nkind: List\nitems:\n- metadata: {name: a}\n---\n"+
		"apiVersion: policy.open-cluster-management.io/v1\nkind: PolicyList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n"))
	var got []string
	for _, problem := range reader.problems {
		got = append(got, problem.String())
	}
	want := []string{
		"world.yaml:5: ManagedCluster: metadata.nam: unknown field: remove it or correct its spelling",
		"world.yaml:5: ManagedCluster: metadata.name: is required: give the object a name (a generateName is not enough)",
		"world.yaml:10: apiVersion: is required: every object says its apiVersion and kind",
		"world.yaml:10: kind: is required: every object says its apiVersion and kind",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"skipped 2 Policy"}, reader.Notes()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
