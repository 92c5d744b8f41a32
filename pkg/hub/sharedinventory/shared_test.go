// SPDX-License-Identifier: Apache-2.0

package sharedinventory

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

var (
	set     = &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}}
	binding = &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}}
)

func member(region string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: "c1", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set", "region": region},
	}}
}

func configMap(name string) inventory.Key {
	return inventory.Key{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}, GroupKind: "ConfigMap"}
}

func isPlacement(key inventory.Key) bool { return key.API() != "" }

// reads subscribes a key to the label region of all clusters.
func reads(s *Shared, key inventory.Key) {
	s.Inventory.Subscribe(key, inventory.Dependencies{Reads: []clusterinfo.Property{{Kind: clusterinfo.Label, Name: "region"}}})
	s.Inventory.SnapshotFor(key)
}

// called counts the calls of a controller's enqueue function, and remembers the last one.
type called struct {
	times int
	last  inventory.Affected
}

func (c *called) enqueue(_ time.Time, affected inventory.Affected) {
	c.times++
	c.last = affected
}

func TestEachControllerIsToldOfItsOwnSubscribers(t *testing.T) {
	placement, other := inventory.NewPlacementKey(inventory.V1beta1, "ns", "p"), inventory.NewPlacementKey(inventory.V1alpha1, "ns", "q")
	for _, tc := range []struct {
		reason      string
		subscribers []inventory.Key
		// placements and objects are what the two controllers are told; nothing if they are not called.
		placements, objects []inventory.Key
	}{
		{reason: "nobody reads the label"},
		{
			reason: "only placements do", subscribers: []inventory.Key{placement, other},
			placements: []inventory.Key{placement, other},
		},
		{reason: "only objects do", subscribers: []inventory.Key{configMap("a")}, objects: []inventory.Key{configMap("a")}},
		{
			reason: "both do", subscribers: []inventory.Key{configMap("a"), placement, other, configMap("z")},
			placements: []inventory.Key{placement, other}, objects: []inventory.Key{configMap("a"), configMap("z")},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s, placements, objects := New(), &called{}, &called{}
			s.Handle(isPlacement, placements.enqueue)
			s.Handle(func(key inventory.Key) bool { return !isPlacement(key) }, objects.enqueue)
			s.Set(inventory.ClusterSets, set)
			s.Set(inventory.Bindings, binding)
			s.Set(inventory.Clusters, member("eu"))
			for _, key := range tc.subscribers {
				reads(s, key)
			}
			*placements, *objects = called{}, called{}

			s.Set(inventory.Clusters, member("us"))
			for _, told := range []struct {
				controller string
				got        *called
				want       []inventory.Key
			}{{"placements", placements, tc.placements}, {"objects", objects, tc.objects}} {
				want := called{}
				if len(told.want) > 0 {
					want = called{times: 1, last: inventory.Affected{Subscribers: told.want, Cause: inventory.CauseCluster}}
				}
				if diff := cmp.Diff(want, *told.got, cmp.AllowUnexported(called{})); diff != "" {
					t.Errorf("the controller of %s is told (-want +got):\n%s", told.controller, diff)
				}
			}
		})
	}
}

func TestADeletedClusterAffectsItsReaders(t *testing.T) {
	s, told := New(), &called{}
	s.Handle(func(inventory.Key) bool { return true }, told.enqueue)
	s.Set(inventory.ClusterSets, set)
	s.Set(inventory.Bindings, binding)
	s.Set(inventory.Clusters, member("eu"))
	reads(s, configMap("a"))
	s.Delete(inventory.Clusters, member("eu"))
	if diff := cmp.Diff([]inventory.Key{configMap("a")}, told.last.Subscribers); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}

	if s.Inventory.Snapshot().Cluster("c1") != nil {
		t.Error("the inventory has the cluster")
	}
}

// The controllers are elected together, and whoever comes first warns of unreadable objects.
func TestTheElectionIsNotedOnce(t *testing.T) {
	s := New()
	s.Checker = freshness.New(nil, s.Observed, nil)

	spoilt := member("eu")
	if err := unreadable.Mark(spoilt, unreadable.Fields{{Path: "spec", Value: "1", Problem: "is wrong"}}); err != nil {
		t.Fatal(err)
	}
	s.unreadables.handler(clusterKind, "").OnAdd(spoilt, true)
	first, second := events.NewFakeRecorder(1), events.NewFakeRecorder(1)
	s.Elect(first, nil)
	s.Elect(second, nil)

	if len(first.Events) != 1 || len(second.Events) != 0 {
		t.Errorf("%d and %d warnings, want 1 and 0", len(first.Events), len(second.Events))
	}
}
