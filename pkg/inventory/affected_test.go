// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// sampleObjects returns an inventory with the sets a (bound in ns and other), b (bound in ns) and eu (a label selector, bound in eu), the clusters
// a1 and b1, and placements named after what they read.
func sampleObjects() *Inventory {
	inventory := New(selector.NewCompiler())
	inventory.SetClusterSet(exclusive("a"))
	inventory.SetClusterSet(exclusive("b"))
	inventory.SetClusterSet(setOf("eu", clusterv1beta2.LabelSelector, &metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}))
	for _, bound := range [][2]string{{"ns", "a"}, {"ns", "b"}, {"other", "a"}, {"eu", "eu"}} {
		inventory.SetBinding(binding(bound[0], bound[1]))
	}
	inventory.SetCluster(managed("a1", "a", "region", "eu"))
	inventory.SetCluster(managed("b1", "b"))
	inventory.SetScores(scored("a1", "demo", 1))

	for _, placement := range []struct {
		namespace, name string
		dependencies    Dependencies
	}{
		{"eu", "all", Dependencies{}},
		{"ns", "all", Dependencies{Reads: []clusterinfo.Property{{Kind: clusterinfo.Taint}}}},
		{"ns", "b1", Dependencies{
			ClusterSets: []string{"b"}, Reads: []clusterinfo.Property{{Kind: clusterinfo.Availability}, {Kind: clusterinfo.Name, Name: "b1"}},
		}},
		{"ns", "only-b", Dependencies{ClusterSets: []string{"b"}, Reads: []clusterinfo.Property{{Kind: clusterinfo.Any}}}},
		{"ns", "region", Dependencies{Reads: []clusterinfo.Property{{Kind: clusterinfo.Label, Name: "region"}}}},
		{"ns", "score", Dependencies{ClusterSets: []string{"a"}, Reads: []clusterinfo.Property{{Kind: clusterinfo.Score, Name: "demo"}}}},
		{"ns", "unbound", Dependencies{ClusterSets: []string{"c"}, Reads: []clusterinfo.Property{{Kind: clusterinfo.Any}}}},
		{"other", "all", Dependencies{Reads: []clusterinfo.Property{{Kind: clusterinfo.Any}}}},
		{"other", "unbound", Dependencies{ClusterSets: []string{"b"}}},
		{"unbound", "all", Dependencies{Reads: []clusterinfo.Property{{Kind: clusterinfo.Any}}}},
	} {
		key := NewPlacementKey(V1beta1, placement.namespace, placement.name)
		inventory.Subscribe(key, placement.dependencies)
		inventory.SnapshotFor(key)
	}

	return inventory
}

func TestAffected(t *testing.T) {
	tainted := managed("a1", "a", "region", "eu")
	tainted.Spec.Taints = []clusterv1.Taint{{Key: "gpu"}}

	annotated := managed("a1", "a", "region", "eu")
	annotated.Annotations = map[string]string{"a": "b"}

	terminating := managed("a1", "a", "region", "eu")
	terminating.DeletionTimestamp = &metav1.Time{}
	terminating.DeletionTimestamp.Time = metav1.Now().Time

	available := managed("b1", "b")
	available.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}

	// kept adds a decision of ns/b1 for a1, which is not in the scope of ns/b1.
	kept := func(i *Inventory) *Inventory {
		i.SetDecision(decided("ns", "b1-decision-1", "b1", "a1"))
		return i
	}
	back := managed("a1", "a", "region", "eu")
	back.Status.Conditions = available.Status.Conditions

	heartbeat := managed("a1", "a", "region", "eu")
	heartbeat.ResourceVersion = "2"
	for _, tc := range []struct {
		reason string
		event  func(*Inventory) Affected
		cause  Cause
		want   []string
	}{
		{"law 4: nothing changed", func(i *Inventory) Affected { return i.SetCluster(managed("a1", "a", "region", "eu")) }, "", nil},
		{"law 4: a heartbeat", func(i *Inventory) Affected { return i.SetCluster(heartbeat) }, "", nil},
		{"a taint", func(i *Inventory) Affected { return i.SetCluster(tainted) }, CauseCluster, []string{"ns/all", "other/all"}},
		{"availability wakes those who tell of it, and those who read everything", func(i *Inventory) Affected { return i.SetCluster(available) },
			CauseCluster, []string{"ns/b1", "ns/only-b"}},
		{"A1: availability of a cluster that decisions keep, though it is in their scope no more",
			func(i *Inventory) Affected { return kept(i).SetCluster(back) }, CauseCluster, []string{"ns/b1", "other/all"}},
		{"A1: a cluster that decisions keep goes", func(i *Inventory) Affected { return kept(i).DeleteCluster("a1") }, CauseCluster,
			[]string{"eu/all", "ns/all", "ns/b1", "ns/region", "ns/score", "other/all"}},
		{"what decisions do not tell of a cluster that they keep", func(i *Inventory) Affected { return kept(i).SetCluster(tainted) },
			CauseCluster, []string{"ns/all", "other/all"}},
		{"a label does not change a name", func(i *Inventory) Affected { return i.SetCluster(managed("b1", "b", "x", "y")) }, CauseCluster,
			[]string{"ns/only-b"}},
		{"another cluster comes into the scope of a name", func(i *Inventory) Affected { return i.SetCluster(managed("b2", "b")) }, CauseCluster,
			[]string{"ns/all", "ns/b1", "ns/only-b", "ns/region"}},
		{"a cluster of the name outside the scope", func(i *Inventory) Affected {
			i.DeleteCluster("b1")
			return i.SetCluster(managed("b1", "a"))
		}, CauseCluster, []string{"ns/all", "ns/region", "ns/score", "other/all"}},
		{"an annotation", func(i *Inventory) Affected { return i.SetCluster(annotated) }, CauseCluster, []string{"other/all"}},
		{"a new cluster", func(i *Inventory) Affected { return i.SetCluster(managed("a2", "a")) }, CauseCluster,
			[]string{"ns/all", "ns/region", "ns/score", "other/all"}},
		{"a new cluster in no set that is bound", func(i *Inventory) Affected { return i.SetCluster(managed("c1", "c")) }, CauseCluster, nil},
		{"a cluster goes", func(i *Inventory) Affected { return i.DeleteCluster("b1") }, CauseCluster,
			[]string{"ns/all", "ns/b1", "ns/only-b", "ns/region"}},
		{"an unknown cluster goes", func(i *Inventory) Affected { return i.DeleteCluster("nobody") }, "", nil},
		{"a cluster terminates", func(i *Inventory) Affected { return i.SetCluster(terminating) }, CauseCluster,
			[]string{"eu/all", "ns/all", "ns/region", "ns/score", "other/all"}},
		{"a cluster moves to another set: who loses it and who gains it", func(i *Inventory) Affected {
			return i.SetCluster(managed("a1", "b", "region", "eu"))
		}, CauseCluster, []string{"ns/b1", "ns/only-b", "ns/score", "other/all"}},
		{"a cluster leaves its set", func(i *Inventory) Affected {
			return i.SetCluster(managed("a1", "nobody's", "region", "eu"))
		}, CauseCluster, []string{"ns/all", "ns/region", "ns/score", "other/all"}},
		{"a label that a set reads", func(i *Inventory) Affected { return i.SetCluster(managed("b1", "b", "region", "eu")) }, CauseCluster,
			[]string{"eu/all", "ns/only-b", "ns/region"}},
		{"scores", func(i *Inventory) Affected { return i.SetScores(scored("a1", "demo", 2)) }, CauseScores, []string{"ns/score", "other/all"}},
		{"equal scores", func(i *Inventory) Affected { return i.SetScores(scored("a1", "demo", 1)) }, "", nil},
		{"scores that nobody reads by name", func(i *Inventory) Affected { return i.SetScores(scored("a1", "more", 2)) }, CauseScores,
			[]string{"other/all"}},
		{"scores go", func(i *Inventory) Affected { return i.DeleteScores("a1", "demo") }, CauseScores, []string{"ns/score", "other/all"}},
		{"unknown scores go", func(i *Inventory) Affected { return i.DeleteScores("a1", "nothing") }, "", nil},
		{"1.13: scores of an unknown cluster", func(i *Inventory) Affected { return i.SetScores(scored("c9", "demo", 2)) }, "", nil},
		{"a set changes", func(i *Inventory) Affected { return i.SetClusterSet(setOf("b", clusterv1beta2.LabelSelector, nil)) }, CauseClusterSet,
			[]string{"ns/all", "ns/b1", "ns/only-b", "ns/region"}},
		{"a set breaks", func(i *Inventory) Affected { return i.SetClusterSet(setOf("b", "None", nil)) }, CauseClusterSet,
			[]string{"ns/all", "ns/b1", "ns/only-b", "ns/region"}},
		{"a set does not change", func(i *Inventory) Affected { return i.SetClusterSet(setOf("b", "", nil)) }, "", nil},
		{"a set that nobody bound", func(i *Inventory) Affected { return i.SetClusterSet(exclusive("c")) }, CauseClusterSet, nil},
		{"the last set of a namespace goes: NoIntersection becomes NoManagedClusterSetBindings", func(i *Inventory) Affected {
			i.DeleteBinding("ns", "b")
			return i.DeleteClusterSet("a")
		}, CauseClusterSet, []string{"ns/all", "ns/b1", "ns/only-b", "ns/region", "ns/score", "ns/unbound", "other/all", "other/unbound"}},
		{"one of two sets goes", func(i *Inventory) Affected { return i.DeleteClusterSet("b") }, CauseClusterSet,
			[]string{"ns/all", "ns/b1", "ns/only-b", "ns/region"}},
		{"an unknown set goes", func(i *Inventory) Affected { return i.DeleteClusterSet("nothing") }, "", nil},
		{"a binding", func(i *Inventory) Affected { return i.SetBinding(binding("ns", "eu")) }, CauseBinding, []string{"ns/all", "ns/region"}},
		{"a binding of a set that is not there", func(i *Inventory) Affected { return i.SetBinding(binding("ns", "c")) }, CauseBinding, nil},
		{"the first binding of a namespace", func(i *Inventory) Affected { return i.SetBinding(binding("unbound", "a")) }, CauseBinding,
			[]string{"unbound/all"}},
		{"the only binding of a namespace goes", func(i *Inventory) Affected { return i.DeleteBinding("other", "a") }, CauseBinding,
			[]string{"other/all", "other/unbound"}},
		{"a binding again", func(i *Inventory) Affected { return i.SetBinding(binding("ns", "a")) }, "", nil},
		{"an unknown binding goes", func(i *Inventory) Affected { return i.DeleteBinding("ns", "c") }, "", nil},
		{"a placement that is forgotten is affected by nothing", func(i *Inventory) Affected {
			i.Unsubscribe(NewPlacementKey(V1beta1, "other", "all"))
			return i.SetCluster(annotated)
		}, CauseCluster, nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			affected := tc.event(sampleObjects())
			var got []string
			for _, key := range affected.Subscribers {
				got = append(got, key.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("placements (-want +got):\n%s", diff)
			}

			if affected.Cause != tc.cause {
				t.Errorf("cause is %q, want %q", affected.Cause, tc.cause)
			}
		})
	}
}

// TestAffectedByMovedProfile checks that a ClusterProfile which is assigned to another cluster affects the placements of both clusters,
// each once.
func TestAffectedByMovedProfile(t *testing.T) {
	i := sampleObjects()
	profiles := Dependencies{Reads: []clusterinfo.Property{{Kind: clusterinfo.ClusterProfile}}}
	for _, name := range []string{"z", "y"} {
		key := NewPlacementKey(V1beta1, "ns", name)
		i.Subscribe(key, profiles)
		i.SnapshotFor(key)
	}
	profile := clusterinfo.Profile{Namespace: "fleet", Name: "p"}
	i.SetProfile(profile, map[string]string{"a1": ""})

	var got []string
	for _, key := range i.SetProfile(profile, map[string]string{"b1": ""}).Subscribers {
		got = append(got, key.String())
	}
	if diff := cmp.Diff([]string{"ns/only-b", "ns/y", "ns/z", "other/all"}, got); diff != "" {
		t.Errorf("placements (-want +got):\n%s", diff)
	}
}

// TestAffectedByTheOnlyCluster checks that a cluster that matches no predicate affects a placement if it is the only cluster in its scope,
// because a status distinguishes an empty scope from one in which no cluster matches.
func TestAffectedByTheOnlyCluster(t *testing.T) {
	us := metav1.LabelSelector{MatchLabels: map[string]string{"region": "us"}}
	plain, withCEL := selector.Spec{Labels: us}, selector.Spec{Labels: us, CEL: []string{`managedCluster.metadata.name != "none"`}}
	added := func(i *Inventory) Affected { return i.SetCluster(managed("e2", "e")) }
	other := func(i *Inventory) { i.SetCluster(managed("e1", "e")) }
	for _, tc := range []struct {
		reason      string
		clusterSets []string
		spec        selector.Spec
		before      func(*Inventory)
		event       func(*Inventory) Affected
		affects     bool
	}{
		{"the first cluster of a set", []string{"e"}, plain, func(*Inventory) {}, added, true},
		{"the second cluster of a set", []string{"e"}, plain, other, added, false},
		{"the second cluster, where an expression reads only clusters with other labels", []string{"e"}, withCEL, other, added, false},
		{"the first cluster of a set beside a set with clusters", []string{"a", "e"}, plain, func(*Inventory) {}, added, false},
		{"the first cluster of a set beside a set that does not exist", []string{"e", "missing"}, plain, func(*Inventory) {}, added, true},
		{"the last cluster goes", []string{"e"}, plain, other, func(i *Inventory) Affected { return i.DeleteCluster("e1") }, true},
		{"the last but one goes", []string{"e"}, plain, func(i *Inventory) {
			other(i)
			added(i)
		}, func(i *Inventory) Affected { return i.DeleteCluster("e1") }, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			i, key := sampleObjects(), NewPlacementKey(V1beta1, "ns", "us")
			i.SetClusterSet(exclusive("e"))
			i.SetBinding(binding("ns", "e"))
			i.SetBinding(binding("ns", "missing"))
			tc.before(i)
			i.Subscribe(key, Dependencies{ClusterSets: tc.clusterSets, Predicates: []*selector.Selector{compiled(t, tc.spec)}})
			i.SnapshotFor(key)
			if got := slices.Contains(tc.event(i).Subscribers, key); got != tc.affects {
				t.Errorf("affected: %t, want %t", got, tc.affects)
			}
		})
	}
}

// TestAffectedByAPropertyThatAllRead checks that a changed property of a matching cluster affects the placements that read it by its name, by
// its kind, and as Any.
func TestAffectedByAPropertyThatAllRead(t *testing.T) {
	i, want := sampleObjects(), []Key{}
	for name, read := range map[string]clusterinfo.Property{
		"any": {Kind: clusterinfo.Any}, "kind": {Kind: clusterinfo.Score}, "name": {Kind: clusterinfo.Score, Name: "demo"},
	} {
		key, dependencies := regional(t, "eu-"+name, "eu")
		dependencies.Reads = []clusterinfo.Property{read}
		i.Subscribe(key, dependencies)
		i.SnapshotFor(key)
		want = append(want, key)
	}
	slices.SortFunc(want, Key.Compare)

	got := i.SetScores(scored("a1", "demo", 2)).Subscribers
	got = slices.DeleteFunc(got, func(key Key) bool { return !slices.Contains(want, key) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("placements (-want +got):\n%s", diff)
	}
}
