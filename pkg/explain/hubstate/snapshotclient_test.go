// SPDX-License-Identifier: Apache-2.0

package hubstate_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/snapshot"
)

const takenSnapshot = `---
apiVersion: placement-hub.open-cluster-management.io/v1alpha1
kind: PlacementSnapshot
formatVersion: 1
time: "2026-11-28T10:00:00Z"
namespace: team-a
kinds:
- {apiVersion: cluster.open-cluster-management.io/v1, kind: ManagedCluster, objects: 2}
- {apiVersion: cluster.open-cluster-management.io/v1beta1, kind: PlacementDecision, namespaces: [team-a], objects: 1}
unread:
- {apiVersion: cluster.open-cluster-management.io/v1beta1, kind: PlacementDecision, reason: of all namespaces}
- {apiVersion: v1, kind: Node, reason: nodes is forbidden}
- {apiVersion: work.open-cluster-management.io/v1, kind: ManifestWork, reason: not served, absent: true}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: c1, labels: {region: eu}}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: c2, labels: {region: us}}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata: {namespace: team-a, name: web-decision-1}
`

// SN1: a snapshot is read as the hub was, with the rights of the user who took it.
func TestSN1SnapshotClient(t *testing.T) {
	decoded, err := snapshot.Decode([]byte(takenSnapshot))
	if err != nil {
		t.Fatal(err)
	}
	hub, err := hubstate.NewSnapshotClient(decoded, scheme.New())
	if err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string][]client.ListOption{
		"[c1 c2]": nil, "[c1]": {client.MatchingLabels{"region": "eu"}}, "[c2]": {client.MatchingFields{metav1.ObjectNameField: "c2"}},
	} {
		for _, list := range []client.ObjectList{
			&clusterv1.ManagedClusterList{}, untyped("ManagedClusterList"),
			&metav1.PartialObjectMetadataList{TypeMeta: untypedMeta("ManagedClusterList")},
		} {
			if err := hub.List(t.Context(), list, options...); err != nil {
				t.Fatal(err)
			}
			if got := namesIn(t, list); name != got {
				t.Errorf("%T lists %s, want %s", list, got, name)
			}
		}
	}
	cluster := &clusterv1.ManagedCluster{}
	if err := hub.Get(t.Context(), client.ObjectKey{Name: "c2"}, cluster); err != nil || cluster.Labels["region"] != "us" {
		t.Errorf("c2 is read as %v: %v", cluster, err)
	}

	for what, tc := range map[string]struct {
		err error
		is  func(error) bool
	}{
		"a cluster that is not there":         {hub.Get(t.Context(), client.ObjectKey{Name: "c3"}, cluster), apierrors.IsNotFound},
		"a kind that the user might not read": {hub.List(t.Context(), &corev1.NodeList{}), apierrors.IsForbidden},
		"a kind that the hub does not have":   {hub.List(t.Context(), &workv1.ManifestWorkList{}), meta.IsNoMatchError},
		"a kind that is in no snapshot":       {hub.List(t.Context(), &corev1.EventList{}), apierrors.IsForbidden},
		"the decisions of other namespaces":   {hub.List(t.Context(), &clusterv1beta1.PlacementDecisionList{}), apierrors.IsForbidden},
		"a write":                             {hub.Delete(t.Context(), cluster), apierrors.IsForbidden},
		"the decisions of the namespace": {hub.List(t.Context(), &clusterv1beta1.PlacementDecisionList{}, client.InNamespace("team-a")),
			isNil},
		"delivered objects that nobody asks for": {hub.List(t.Context(), &corev1.SecretList{}), isNil},
	} {
		if !tc.is(tc.err) {
			t.Errorf("%s: unexpected error %v", what, tc.err)
		}
	}
}

func isNil(err error) bool { return err == nil }

func untypedMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: kind}
}

func untyped(kind string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(clusterv1.GroupVersion.String())
	list.SetKind(kind)
	return list
}

func namesIn(t *testing.T, list client.ObjectList) string {
	t.Helper()
	objects, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range objects {
		accessor, err := meta.Accessor(object)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, accessor.GetName())
	}
	slices.Sort(names)
	return "[" + strings.Join(names, " ") + "]"
}
