// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

func generationOf(set *clusterv1beta2.ManagedClusterSet, generation int64) *clusterv1beta2.ManagedClusterSet {
	set.Generation = generation
	return set
}

func TestAffectedSets(t *testing.T) {
	eu := &metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}
	for _, tc := range []struct {
		reason string
		change func(*Inventory) Affected
		want   []string
	}{
		{"a cluster that comes", func(i *Inventory) Affected { return i.SetCluster(managed("new", "prod")) }, []string{"global", "prod"}},
		{"one that goes", func(i *Inventory) Affected { return i.DeleteCluster("in-eu") }, []string{"eu", "global", "late"}},
		{"one that moves", func(i *Inventory) Affected { return i.SetCluster(managed("c", "dev")) }, []string{"dev", "prod"}},
		{
			"one that leaves for a set that does not exist",
			func(i *Inventory) Affected { return i.SetCluster(managed("c", "gone")) },
			[]string{"prod"},
		},
		{"a label that no set reads", func(i *Inventory) Affected { return i.SetCluster(managed("c", "prod", "a", "b")) }, nil},
		{"no set for a set with a selector", func(i *Inventory) Affected { return i.SetCluster(managed("none", "late")) }, nil},
		{"one that begins to terminate stays a member", func(i *Inventory) Affected {
			terminating := managed("c", "prod")
			terminating.DeletionTimestamp = &metav1.Time{}
			return i.SetCluster(terminating)
		}, nil},
		{"a set that comes", func(i *Inventory) Affected { return i.SetClusterSet(exclusive("new")) }, []string{"new"}},
		{"a set in the same generation", func(i *Inventory) Affected { return i.SetClusterSet(exclusive("prod")) }, nil},
		{"a set in another generation that says the same", func(i *Inventory) Affected {
			return i.SetClusterSet(generationOf(exclusive("prod"), 2))
		}, []string{"prod"}},
		{"a set that goes", func(i *Inventory) Affected { return i.DeleteClusterSet("dev") }, []string{"dev"}},
		{"a set that does not exist", func(i *Inventory) Affected { return i.DeleteClusterSet("gone") }, nil},
	} {
		i := New(selector.NewCompiler())
		i.SetClusterSet(exclusive("prod"))
		i.SetClusterSet(exclusive("dev"))
		i.SetClusterSet(setOf("eu", clusterv1beta2.LabelSelector, eu))
		i.SetClusterSet(setOf("global", clusterv1beta2.LabelSelector, &metav1.LabelSelector{}))
		i.SetClusterSet(setOf("broken", "None", nil))
		i.SetClusterSet(exclusive("late"))
		i.SetClusterSet(generationOf(setOf("late", clusterv1beta2.LabelSelector, eu), 2)) // It does not go by the label of sets any more.
		i.SetClusterSet(exclusive("gone"))
		i.DeleteClusterSet("gone")
		i.SetCluster(managed("c", "prod"))
		i.SetCluster(managed("in-eu", "", "region", "eu"))
		i.SetCluster(managed("none", ""))

		got := tc.change(i).Sets
		slices.Sort(got)
		if !cmp.Equal(tc.want, got) {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

func TestMembersAreKnownForOneGenerationOfAValidSet(t *testing.T) {
	i := New(selector.NewCompiler())
	recreated := exclusive("prod")
	recreated.UID = "another"
	i.SetClusterSet(exclusive("prod"))
	i.SetClusterSet(setOf("broken", "None", nil))
	i.SetClusterSet(setOf("unselecting", clusterv1beta2.LabelSelector, nil))
	i.SetCluster(managed("c", "prod"))
	i.SetCluster(managed("d", "prod"))

	for _, tc := range []struct {
		reason string
		set    *clusterv1beta2.ManagedClusterSet
		want   uint
		known  bool
	}{
		{"a set with two clusters", exclusive("prod"), 2, true},
		{"a set without a selector has none", setOf("unselecting", clusterv1beta2.LabelSelector, nil), 0, true},
		{"a set with a mistake", setOf("broken", "None", nil), 0, false},
		{"another generation", generationOf(exclusive("prod"), 2), 0, false},
		{"another set of the name", recreated, 0, false},
		{"no such set", exclusive("nothing"), 0, false},
	} {
		if got, known := i.Members(tc.set); got != tc.want || known != tc.known {
			t.Errorf("%s: %d, %t, want %d, %t", tc.reason, got, known, tc.want, tc.known)
		}
	}

	i.SetClusterSet(generationOf(exclusive("prod"), 2))
	if got, known := i.Members(generationOf(exclusive("prod"), 2)); got != 2 || !known {
		t.Errorf("a new generation that says the same: %d, %t, want 2, true", got, known)
	}
}

// membership is an inventory beside the sets and clusters that it was given.
type membership struct {
	inventory *Inventory
	compiler  *selector.Compiler
	sets      map[string]*clusterv1beta2.ManagedClusterSet
	clusters  map[string]*clusterinfo.ClusterInfo
}

func (m *membership) members() map[string][]string { return membersOf(m.compiler, m.sets, m.clusters) }

// changeSet adds, changes or deletes a set, which affects that set.
func (m *membership) changeSet(t *rapid.T, generation int64) (got Affected, want []string) {
	name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "set")
	if rapid.IntRange(0, 4).Draw(t, "gone") == 0 {
		if _, is := m.sets[name]; is {
			want = []string{name}
		}
		delete(m.sets, name)
		return m.inventory.DeleteClusterSet(name), want
	}

	m.sets[name] = generationOf(exclusive(name), generation)
	if rapid.Bool().Draw(t, "selects") {
		m.sets[name] = generationOf(setOf(name, clusterv1beta2.LabelSelector, &metav1.LabelSelector{
			MatchLabels: map[string]string{"region": "eu"},
		}), generation)
	}
	return m.inventory.SetClusterSet(m.sets[name]), []string{name}
}

// changeCluster adds, changes or deletes a cluster, which affects the sets with other members after it.
func (m *membership) changeCluster(t *rapid.T, labels *rapid.Generator[map[string]string]) (got Affected, want []string) {
	before := m.members()

	name := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "cluster")
	if rapid.IntRange(0, 4).Draw(t, "leaves") == 0 {
		got = m.inventory.DeleteCluster(name)
		delete(m.clusters, name)
	} else {
		changed := managed(name, "")
		changed.Labels = labels.Draw(t, "labels")
		got = m.inventory.SetCluster(changed)
		m.clusters[name] = &clusterinfo.ClusterInfo{Name: name, Labels: changed.Labels}
	}

	for set, members := range m.members() {
		if !slices.Equal(before[set], members) {
			want = append(want, set)
		}
	}
	return got, want
}

// The naive reference matches every set with every cluster.
func TestMembershipIsWhatEverySetSays(t *testing.T) {
	keys, values := []string{clusterv1beta2.ClusterSetLabel, "region"}, []string{"", "a", "b", "eu"}
	labels := rapid.MapOfN(rapid.SampledFrom(keys), rapid.SampledFrom(values), 0, 2)
	property.Check(t, func(t *rapid.T) {
		m := &membership{
			compiler: selector.NewCompiler(),
			sets:     map[string]*clusterv1beta2.ManagedClusterSet{}, clusters: map[string]*clusterinfo.ClusterInfo{},
		}
		m.inventory = New(m.compiler)

		for generation := range rapid.IntRange(0, 12).Draw(t, "steps") {
			var (
				got  Affected
				want []string
			)
			if rapid.Bool().Draw(t, "changes a set") {
				got, want = m.changeSet(t, int64(generation))
			} else {
				got, want = m.changeCluster(t, labels)
			}

			slices.Sort(want)
			slices.Sort(got.Sets)
			if !slices.Equal(want, got.Sets) {
				t.Fatalf("affected are %q, want %q", got.Sets, want)
			}
			for name, members := range m.members() {
				if count, known := m.inventory.Members(m.sets[name]); !known || count != uint(len(members)) {
					t.Fatalf("the set %s has %d members (known: %t), want %q", name, count, known, members)
				}
			}
		}
	})
}

// membersOf returns the sorted names of the members of each set.
func membersOf(
	compiler *selector.Compiler, sets map[string]*clusterv1beta2.ManagedClusterSet, clusters map[string]*clusterinfo.ClusterInfo,
) map[string][]string {
	members := map[string][]string{}
	for name, set := range sets {
		compiled := NewClusterSet(compiler, set)
		members[name] = nil
		for cluster, info := range clusters {
			if compiled.Contains(info) {
				members[name] = append(members[name], cluster)
			}
		}
		slices.Sort(members[name])
	}

	return members
}
