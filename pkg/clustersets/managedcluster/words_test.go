// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// talker returns a cluster with labels of these keys and claims of these names.
func talker(labels, claims []string) clusterv1.ManagedCluster {
	cluster := clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}}
	for _, key := range labels {
		cluster.Labels[key] = "v"
	}
	for _, name := range claims {
		cluster.Status.ClusterClaims = append(cluster.Status.ClusterClaims, clusterv1.ManagedClusterClaim{Name: name, Value: "v"})
	}
	return cluster
}

// tainted returns a cluster with a taint.
func tainted(key, value string) clusterv1.ManagedCluster {
	return clusterv1.ManagedCluster{Spec: clusterv1.ManagedClusterSpec{Taints: []clusterv1.Taint{{Key: key, Value: value}}}}
}

// withTaint returns a cluster with a taint more.
func withTaint(cluster clusterv1.ManagedCluster, key string) clusterv1.ManagedCluster {
	changed := *cluster.DeepCopy()
	changed.Spec.Taints = append(changed.Spec.Taints, clusterv1.Taint{Key: key})
	return changed
}

// use returns a Placement that names sets.
func use(namespace string, sets ...string) clusterv1beta1.Placement {
	return clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace}, Spec: clusterv1beta1.PlacementSpec{ClusterSets: sets},
	}
}

// binds returns bindings of "namespace/set".
func binds(keys ...string) []clusterv1beta2.ManagedClusterSetBinding {
	bindings := make([]clusterv1beta2.ManagedClusterSetBinding, 0, len(keys))
	for _, key := range keys {
		namespace, set, _ := strings.Cut(key, "/")
		bindings = append(bindings, clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: set}})
	}
	return bindings
}

// many returns n words of a length.
func many(n, length int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("%0*d", length, i)
	}
	return words
}

func TestVocabulary(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		clusters []clusterv1.ManagedCluster
		sets     []string
		bindings []clusterv1beta2.ManagedClusterSetBinding
		uses     []clusterv1beta1.Placement
		want     map[string]string
	}{
		{
			reason: "nothing is known to be nothing, which is not the same as not known",
			want:   map[string]string{"labels": "", "claims": "", "taints": "", "bound": "0", "placements": "= 0"},
		},
		{
			reason:   "taints that stay, by key and by value",
			clusters: []clusterv1.ManagedCluster{tainted("gpu", "a100"), tainted("gpu", ""), tainted(clusterv1.ManagedClusterTaintUnreachable, "")},
			want:     map[string]string{"labels": "", "claims": "", "taints": "gpu\ngpu=\ngpu=a100", "bound": "0", "placements": "= 0"},
		},
		{
			reason:   "Placements by the sets that they use, whether bound or not, but for sets that do not exist",
			sets:     []string{"one", "three"},
			bindings: binds("a/one", "a/two", "b/one"),
			uses:     []clusterv1beta1.Placement{use("a"), use("a", "two", "three", "four", "two"), use("b"), use("c", "one"), use("c", "four")},
			want: map[string]string{
				"labels": "", "claims": "", "taints": "", "bound": "2", "bound.a": "one\ntwo", "bound.b": "one",
				"placements": "= 5\none 2\ntwo 2", "placements.a": "* 1\n= 2\nthree 1\ntwo 1", "placements.b": "* 1\n= 1",
				"placements.c": "= 2\none 1",
			},
		},
		{
			reason: "names of sets that do not exist take no room",
			uses:   []clusterv1beta1.Placement{use("hostile", many(9000, 30)...), use("a")},
			want: map[string]string{
				"labels": "", "claims": "", "taints": "", "bound": "0", "placements": "= 2", "placements.a": "* 1\n= 1",
				"placements.hostile": "= 1",
			},
		},
		{
			reason: "a namespace that names very many sets has no numbers, and the others have theirs",
			sets:   many(500, 30),
			uses:   []clusterv1beta1.Placement{use("hostile", many(500, 30)...), use("a", many(500, 30)[7]), use("a")},
			want: map[string]string{
				"labels": "", "claims": "", "taints": "", "bound": "0", "placements": "= 3",
				"placements.a": "* 1\n000000000000000000000000000007 1\n= 2",
			},
		},
		{
			reason: "each word once, sorted, whatever the order of clusters and bindings",
			clusters: []clusterv1.ManagedCluster{
				talker([]string{"region", "example.com/gpu"}, []string{"version.open-cluster-management.io", "arn: of any kind"}),
				talker([]string{"region", "a"}, []string{"arn: of any kind"}),
			},
			bindings: binds("b/two", "a/one", "b/one"),
			want: map[string]string{
				"labels": "a\nexample.com/gpu\nregion", "claims": "arn: of any kind\nversion.open-cluster-management.io",
				"bound": "2", "bound.a": "one", "bound.b": "one\ntwo", "taints": "", "placements": "= 0",
			},
		},
		{
			reason:   "a part that is too large is left out, and the others stay",
			clusters: []clusterv1.ManagedCluster{talker(many(9000, 30), []string{"c"})},
			bindings: binds("a/one"),
			want:     map[string]string{"claims": "c", "taints": "", "bound": "1", "bound.a": "one", "placements": "= 0"},
		},
		{
			reason:   "so are all the bindings, for some of them would deny the others",
			bindings: binds(append(prefixed("a/", many(20000, 30)), "b/one")...),
			want:     map[string]string{"labels": "", "claims": "", "taints": "", "placements": "= 0"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got := vocabulary(&hubObjects{clusters: tc.clusters, sets: named(tc.sets), bindings: tc.bindings, placements: tc.uses})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("vocabulary() (-want +got):\n%s", diff)
			}
		})
	}
}

// named returns sets with these names.
func named(names []string) []clusterv1beta2.ManagedClusterSet {
	sets := make([]clusterv1beta2.ManagedClusterSet, 0, len(names))
	for _, name := range names {
		sets = append(sets, clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return sets
}

// docs/spec/trust.md T25: a tenant with many namespaces takes the room of those that have as many lines, and no other's.
func TestNamespacesWithTheLeastLinesKeepTheirNumbers(t *testing.T) {
	sets := many(100, 30)
	objects := &hubObjects{sets: named(sets), placements: []clusterv1beta1.Placement{use("small", sets[0])}}
	for i := range 200 {
		objects.placements = append(objects.placements, use(fmt.Sprintf("hostile-%d", i), sets...))
	}
	data := vocabulary(objects)
	if data["placements"] != "= 201" || data["placements.small"] != sets[0]+" 1\n= 1" {
		t.Errorf("all: %q, small: %q", data["placements"], data["placements.small"])
	}
	has := 0
	for key := range data {
		if strings.HasPrefix(key, "placements.hostile-") {
			has++
		}
	}
	if has == 0 || has == 200 {
		t.Errorf("of 200 namespaces with many lines %d have their numbers", has)
	}
}

func prefixed(prefix string, words []string) []string {
	for i := range words {
		words[i] = prefix + words[i]
	}
	return words
}

func TestVocabularyFitsIntoAConfigMap(t *testing.T) {
	const limit = 1 << 20
	for size := 1000; size <= 64000; size *= 2 {
		words := many(size, 20)
		bindings := binds(append(prefixed("one/", many(size/2, 20)), prefixed("two/", many(size/2, 20))...)...)
		total := 0
		cluster, uses := talker(words, words), make([]clusterv1beta1.Placement, 0, size)
		for _, word := range words {
			cluster.Spec.Taints = append(cluster.Spec.Taints, clusterv1.Taint{Key: word})
			uses = append(uses, use(word, word))
		}
		for key, value := range vocabulary(&hubObjects{
			clusters: []clusterv1.ManagedCluster{cluster}, sets: named(words), bindings: bindings, placements: uses,
		}) {
			total += len(key) + len(value)
		}
		if total > limit {
			t.Errorf("%d words of each kind: %d bytes, more than the %d of a ConfigMap", size, total, limit)
		}
	}
}

func TestOnlyOtherWordsAreLookedAt(t *testing.T) {
	base := talker([]string{"a", "b"}, []string{"x", "y"})
	otherValues := talker([]string{"a", "b"}, []string{"x", "y"})
	otherValues.Labels["a"], otherValues.Status.ClusterClaims[0].Value = "w", "w"
	otherValues.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable}}
	for _, tc := range []struct {
		reason string
		after  clusterv1.ManagedCluster
		want   bool
	}{
		{reason: "values and conditions are no words", after: otherValues},
		{reason: "a label more", after: talker([]string{"a", "b", "c"}, []string{"x", "y"}), want: true},
		{reason: "a label less", after: talker([]string{"a"}, []string{"x", "y"}), want: true},
		{reason: "another label", after: talker([]string{"a", "c"}, []string{"x", "y"}), want: true},
		{reason: "a claim more", after: talker([]string{"a", "b"}, []string{"x", "y", "z"}), want: true},
		{reason: "a taint more", after: withTaint(base, "gpu"), want: true},
		{reason: "a taint that passes", after: withTaint(base, clusterv1.ManagedClusterTaintUnreachable)},
		{reason: "another claim", after: talker([]string{"a", "b"}, []string{"x", "z"}), want: true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if got := vocabularyChanged(event.UpdateEvent{ObjectOld: &base, ObjectNew: &tc.after}); got != tc.want {
				t.Errorf("saysOther() = %t, want %t", got, tc.want)
			}
		})
	}
}
