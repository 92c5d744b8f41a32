// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// objects are the objects in the API server.
type objects struct {
	clusters  map[string]*clusterv1.ManagedCluster
	scores    map[types.NamespacedName]*clusterv1alpha1.AddOnPlacementScore
	sets      map[string]*clusterv1beta2.ManagedClusterSet
	bindings  map[types.NamespacedName]*clusterv1beta2.ManagedClusterSetBinding
	decisions map[DecisionKey]Page
	// assumed has the clusters of the assumed result of each placement.
	assumed  map[Key][]string
	profiles map[clusterinfo.Profile]map[string]string
}

func noObjects() *objects {
	return &objects{
		clusters: map[string]*clusterv1.ManagedCluster{}, scores: map[types.NamespacedName]*clusterv1alpha1.AddOnPlacementScore{},
		sets: map[string]*clusterv1beta2.ManagedClusterSet{}, bindings: map[types.NamespacedName]*clusterv1beta2.ManagedClusterSetBinding{},
		decisions: map[DecisionKey]Page{}, assumed: map[Key][]string{}, profiles: map[clusterinfo.Profile]map[string]string{},
	}
}

func pick(t *rapid.T, label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(t, label)
}

// event applies the same random change to the objects and to the inventory.
func (o *objects) event(t *rapid.T, i *Inventory) {
	gone := rapid.IntRange(0, 3).Draw(t, "gone") == 0
	cluster, namespace, set := pick(t, "cluster", "c1", "c2", "c3"), pick(t, "namespace", "ns1", "ns2"), pick(t, "set", "a", "b")
	inNamespace := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: namespace, Name: name} }
	switch pick(t, "kind", "cluster", "scores", "set", "binding", "decision", "decision", "assumed", "profile") {
	case "cluster":
		if gone {
			delete(o.clusters, cluster)
			i.DeleteCluster(cluster)
			return
		}
		o.clusters[cluster] = managed(cluster, set, "region", pick(t, "region", "eu", "us"))
		if rapid.IntRange(0, 5).Draw(t, "terminating") == 0 {
			o.clusters[cluster].DeletionTimestamp = &metav1.Time{Time: metav1.Unix(1, 0).Time}
		}
		i.SetCluster(o.clusters[cluster].DeepCopy())
	case "scores":
		key := types.NamespacedName{Namespace: cluster, Name: pick(t, "scores", "x", "y")}
		if gone {
			delete(o.scores, key)
			i.DeleteScores(key.Namespace, key.Name)
			return
		}
		o.scores[key] = scored(key.Namespace, key.Name, rapid.Int32Range(0, 1).Draw(t, "score"))
		i.SetScores(o.scores[key].DeepCopy())
	case "set":
		if gone {
			delete(o.sets, set)
			i.DeleteClusterSet(set)
			return
		}
		kinds := []clusterv1beta2.SelectorType{"", clusterv1beta2.ExclusiveClusterSetLabel, clusterv1beta2.LabelSelector, "Broken"}
		selectors := []*metav1.LabelSelector{nil, {}, {MatchLabels: map[string]string{"region": "eu"}}, {MatchLabels: map[string]string{"!": ""}}}
		o.sets[set] = setOf(set, rapid.SampledFrom(kinds).Draw(t, "kind of set"), rapid.SampledFrom(selectors).Draw(t, "selector"))
		i.SetClusterSet(o.sets[set].DeepCopy())
	case "binding":
		if gone {
			delete(o.bindings, inNamespace(set))
			i.DeleteBinding(namespace, set)
			return
		}
		o.bindings[inNamespace(set)] = binding(namespace, set)
		i.SetBinding(o.bindings[inNamespace(set)].DeepCopy())
	case "profile":
		profile := clusterinfo.Profile{Namespace: namespace, Name: pick(t, "profile", "p1", "p2")}
		if gone {
			delete(o.profiles, profile)
			i.DeleteProfile(profile)
			return
		}
		doubt := pick(t, "doubt", "", "its label is wrong")
		o.profiles[profile] = map[string]string{cluster: doubt, pick(t, "labelled cluster", "c1", "c2"): doubt}
		i.SetProfile(profile, o.profiles[profile])
	case "assumed":
		owner := NewPlacementKey(V1beta1, namespace, pick(t, "placement", "p", "q"))
		if gone {
			delete(o.assumed, owner)
			i.ForgetAssumed(owner)
			return
		}
		o.assumed[owner] = rapid.SliceOfN(rapid.SampledFrom([]string{"c1", "c2", "c9"}), 0, 4).Draw(t, "clusters")
		i.Assume(owner, o.assumed[owner])
	case "decision":
		key := NewPlacementKey(V1beta1, namespace, "").Decision(pick(t, "page", "p1", "p2"))
		if gone {
			delete(o.decisions, key)
			i.DeleteDecision(key)
			return
		}
		clusters := rapid.SliceOfN(rapid.SampledFrom([]string{"c1", "c2", "c9"}), 0, 3).Draw(t, "clusters")
		o.decisions[key] = decided(key.Namespace, key.Name, pick(t, "placement", "", "p", "q"), clusters...)
		i.SetDecision(o.decisions[key])
	}
}

// fresh returns an inventory of the current objects, without any history. Assumed results replace the pages.
func (o *objects) fresh(compiler *selector.Compiler) *Inventory {
	i := New(compiler)
	for object := range maps.Values(o.decisions) {
		if _, assumed := o.assumed[object.Owner]; !assumed {
			i.SetDecision(object)
		}
	}
	for owner, clusters := range o.assumed {
		i.SetDecision(Page{Key: owner.Decision(owner.Name + "-assumed"), Owner: owner, Clusters: clusters})
	}

	for object := range maps.Values(o.clusters) {
		i.SetCluster(object)
	}
	for profile, claims := range o.profiles {
		i.SetProfile(profile, claims)
	}
	for object := range maps.Values(o.bindings) {
		i.SetBinding(object)
	}

	for object := range maps.Values(o.scores) {
		i.SetScores(object)
	}
	for object := range maps.Values(o.sets) {
		i.SetClusterSet(object)
	}
	return i
}

// contents is everything that a snapshot returns.
type contents struct {
	Clusters, Sets []string
	Bindings       map[string][]string
	Counts         map[Key]map[string]int
	Highest        map[Key]int
	Members        map[string][]string
	Candidates     map[string][]string
	Tainted        []string
}

// owners are the placements to which decisions of the test may belong, and one without decisions.
var owners = []Key{
	NewPlacementKey(V1beta1, "ns1", "p"), NewPlacementKey(V1beta1, "ns1", "q"), NewPlacementKey(V1beta1, "ns1", ""),
	NewPlacementKey(V1beta1, "ns2", "p"), NewPlacementKey(V1beta1, "ns2", "none"),
}

func viewOf(s *Snapshot) contents {
	v := contents{
		Bindings: map[string][]string{}, Counts: map[Key]map[string]int{}, Highest: map[Key]int{},
		Members: map[string][]string{}, Candidates: map[string][]string{}, Tainted: s.namesOf(s.Tainted(s.alive)),
	}
	s.bindings.Root().Walk(func(namespace []byte, bound []string) bool {
		v.Bindings[string(namespace)] = bound
		candidates, _ := s.Candidates(s.Scope(string(namespace), nil))
		v.Candidates[string(namespace)] = s.namesOf(candidates)
		return false
	})

	for _, owner := range owners {
		load := s.CountsOfOthers(owner)
		v.Counts[owner], v.Highest[owner] = map[string]int{}, load.Highest
		for id := range s.idsOfNames() {
			if count := load.Of(id); count != 0 {
				v.Counts[owner][s.names.get(id)] = count
			}
		}
	}

	for _, f := range s.Clusters() {
		v.Clusters = append(v.Clusters, fmt.Sprint(f.Name, f.Labels, f.Terminating, f.Scores, f.Profiles))
	}
	s.sets.Root().Walk(func(name []byte, set *ClusterSet) bool {
		v.Sets = append(v.Sets, fmt.Sprint(string(name), set.Name, set.exclusive, set.selector, set.Err))
		if set.members != nil {
			v.Members[set.Name] = s.namesOf(s.Match(set.members, s.alive))
		}
		return false
	})
	return v
}

func (s *Snapshot) namesOf(members Members) []string {
	names := []string{}
	for _, id := range s.SortedByName(members) {
		names = append(names, s.ClusterInfo(id).Name)
	}
	return names
}

// idsOfNames returns the ids of all clusters that exist or are in decisions.
func (s *Snapshot) idsOfNames() iter.Seq[uint] {
	return func(yield func(uint) bool) {
		for id := range uint(len(s.names.chunks) * chunkSize) {
			if s.names.get(id) != "" && !yield(id) {
				return
			}
		}
	}
}

// checkAgainstPlain compares the results of indexes with those of loops over all objects.
func (c contents) checkAgainstPlain(t *rapid.T, s *Snapshot) {
	for _, owner := range owners {
		plain := s.DecisionCounts(owner)
		if diff := cmp.Diff(plain, c.Counts[owner]); diff != "" {
			t.Fatalf("counts without %v (-plain +index):\n%s", owner, diff)
		}
		if highest := slices.Max(append(slices.Collect(maps.Values(plain)), 0)); highest != c.Highest[owner] {
			t.Fatalf("the highest count without %v is %d, by index %d", owner, highest, c.Highest[owner])
		}
	}

	for namespace := range c.Bindings {
		scope, plain := s.Scope(namespace, nil), []string{}
		for _, f := range s.Clusters() {
			if scope.Contains(f) && !f.Terminating {
				plain = append(plain, f.Name)
			}
		}
		if diff := cmp.Diff(plain, c.Candidates[namespace]); diff != "" {
			t.Fatalf("candidates of %s (-plain +index):\n%s", namespace, diff)
		}
	}
}

// TestSnapshotForgetsHistory checks that a snapshot depends only on the current objects, and that a former snapshot does not change.
func TestSnapshotForgetsHistory(t *testing.T) {
	compiler := selector.NewCompiler()
	property.Check(t, func(t *rapid.T) {
		i, there := New(compiler), noObjects()
		taken := i.Snapshot()
		was := viewOf(taken)
		for range rapid.IntRange(1, 25).Draw(t, "events") {
			there.event(t, i)
			now := i.Snapshot()
			if now != i.Snapshot() {
				t.Fatal("two snapshots of one moment")
			}
			is := viewOf(now)
			is.checkAgainstPlain(t, now)
			if changed := cmp.Diff(was, is); changed != "" && now.Generation+now.DecisionsGeneration <= taken.Generation+taken.DecisionsGeneration {
				t.Fatalf("generation %d after %d, in spite of a change:\n%s", now.Generation, taken.Generation, changed)
			}

			if diff := cmp.Diff(was, viewOf(taken)); diff != "" {
				t.Fatalf("a snapshot changed (-then +now):\n%s", diff)
			}
			taken, was = now, is
		}

		fresh := there.fresh(compiler).Snapshot()
		if diff := cmp.Diff(viewOf(fresh), viewOf(taken)); diff != "" {
			t.Fatalf("snapshot (-of the objects +after the events):\n%s", diff)
		}
		same := func(a, b *clusterinfo.ClusterInfo) bool { return len(clusterinfo.ChangedProperties(a, b)) == 0 }
		if !slices.EqualFunc(fresh.Clusters(), taken.Clusters(), same) {
			t.Fatal("the facts of a cluster differ")
		}
	})
}
