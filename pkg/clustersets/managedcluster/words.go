// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// The keys of the ConfigMap. Their values are sorted lists with one entry per line. A missing key means unknown.
const (
	labelsKey = "labels" // label keys of the clusters
	claimsKey = "claims" // claim names of the clusters
	// boundKey has the number of namespaces with bindings, and is a prefix: "bound.<namespace>" lists the sets that the namespace binds.
	// These lists are complete only if boundKey exists.
	boundKey  = "bound"
	taintsKey = "taints" // key and key=value of the taints of the clusters, but for those of domains that taint clusters for a time
	// placementsKey has how many Placements there are, "= 20", and how many use each bound set, "blue 3". It is a prefix, too:
	// "placements.<namespace>" has how many the namespace has, how many name no set, "* 2", and how many name each set that exists or is bound. A
	// namespace with too many lines has no key, and those with the most have none if all together are too many.
	placementsKey = "placements"
)

// Limits of the parts in bytes; their sum is well below the 1 MiB of a ConfigMap.
const (
	keysLimit       = 160 << 10
	taintsLimit     = 64 << 10
	boundLimit      = 384 << 10
	placementsLimit = 192 << 10
	// namespacePlacementsLimit is that of one namespace in placementsLimit: 60 sets with long names.
	namespacePlacementsLimit = 4 << 10
)

// passingTaints are the domains of taints that controllers add for a time, so that tolerations of absent ones are no mistake.
var passingTaints = []string{clusterv1.GroupName + "/", "cluster.openmcp.cloud/", "placement-hub.open-cluster-management.io/"}

// hubObjects are the objects that a vocabulary is made of.
type hubObjects struct {
	clusters   []clusterv1.ManagedCluster
	sets       []clusterv1beta2.ManagedClusterSet
	bindings   []clusterv1beta2.ManagedClusterSetBinding
	placements []clusterv1beta1.Placement
}

// VocabularyOf returns the data of VocabularyConfigMap on a hub with some clusters and bindings, without the numbers of Placements.
func VocabularyOf(clusters []*clusterv1.ManagedCluster, bindings []*clusterv1beta2.ManagedClusterSetBinding) map[string]string {
	return vocabulary(&hubObjects{clusters: values(clusters), bindings: values(bindings)})
}

func values[T any](pointers []*T) []T {
	all := make([]T, 0, len(pointers))
	for _, pointer := range pointers {
		all = append(all, *pointer)
	}
	return all
}

// vocabulary returns the data of the ConfigMap: the label keys, claim names and taints of the fleet, the sets that each namespace binds, and how
// many Placements use them. Parts beyond their limit are omitted.
func vocabulary(of *hubObjects) map[string]string {
	labels, claims, taints, bound := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string][]string{}
	for i := range of.clusters {
		cluster := &of.clusters[i]
		for key := range cluster.Labels {
			labels[key] = true
		}
		for word := range taintWords(cluster) {
			taints[word] = true
		}
		for _, claim := range cluster.Status.ClusterClaims {
			claims[claim.Name] = true
		}
	}

	for i := range of.bindings {
		bound[of.bindings[i].Namespace] = append(bound[of.bindings[i].Namespace], of.bindings[i].Name)
	}
	data := map[string]string{}
	addLines(data, labelsKey, labels, keysLimit)
	addLines(data, claimsKey, claims, keysLimit)
	addLines(data, taintsKey, taints, taintsLimit)
	for namespace := range bound {
		slices.Sort(bound[namespace])
	}
	addByNamespace(data, boundKey, strconv.Itoa(len(bound)), bound, boundLimit)
	all, named := placementCounts(bound, of)
	least := leastLines(named, placementsLimit-len(placementsKey)-linesSize(all))
	addByNamespace(data, placementsKey, strings.Join(all, "\n"), least, placementsLimit)
	return data
}

// taintWords returns the key and key=value of each taint of a cluster that stays.
func taintWords(cluster *clusterv1.ManagedCluster) map[string]bool {
	words := map[string]bool{}
	for _, taint := range cluster.Spec.Taints {
		if !slices.ContainsFunc(passingTaints, func(domain string) bool { return strings.HasPrefix(taint.Key, domain) }) {
			words[taint.Key], words[taint.Key+"="+taint.Value] = true, true
		}
	}
	return words
}

// placementCounts returns the lines of placementsKey, and those of each namespace with Placements. A Placement may name any set: those that neither
// exist nor are bound are not counted, so that their number does not depend on who writes Placements.
func placementCounts(bound map[string][]string, of *hubObjects) (all []string, named map[string][]string) {
	const total, anySet = "=", "*"
	exist := make(map[string]bool, len(of.sets))
	for i := range of.sets {
		exist[of.sets[i].Name] = true
	}
	uses, counts := map[string]int{total: len(of.placements)}, map[string]map[string]int{}
	for i := range of.placements {
		namespace, sets := of.placements[i].Namespace, slices.Clone(of.placements[i].Spec.ClusterSets)
		slices.Sort(sets)
		sets = slices.Compact(sets)
		for _, set := range bound[namespace] {
			if _, names := slices.BinarySearch(sets, set); names || len(sets) == 0 {
				uses[set]++
			}
		}
		words := slices.DeleteFunc(slices.Clone(sets), func(set string) bool {
			_, isBound := slices.BinarySearch(bound[namespace], set)
			return !isBound && !exist[set]
		})
		if len(sets) == 0 {
			words = []string{anySet}
		}
		if counts[namespace] == nil {
			counts[namespace] = map[string]int{}
		}
		for _, word := range append(words, total) {
			counts[namespace][word]++
		}
	}
	named = make(map[string][]string, len(counts))
	for namespace, words := range counts {
		named[namespace] = countLines(words)
	}
	return countLines(uses), named
}

// linesSize returns the size of lines in a value.
func linesSize(lines []string) int { return len(strings.Join(lines, "\n")) }

// leastLines returns the lines of the namespaces that have the least, as many as fit into the limit, each within namespacePlacementsLimit.
func leastLines(named map[string][]string, limit int) map[string][]string {
	size := func(namespace string) int {
		return len(placementsKey) + 1 + len(namespace) + linesSize(named[namespace])
	}
	namespaces := slices.SortedFunc(maps.Keys(named), func(a, b string) int {
		return cmp.Or(cmp.Compare(size(a), size(b)), cmp.Compare(a, b))
	})
	least := make(map[string][]string, len(named))
	for _, namespace := range namespaces {
		if limit -= size(namespace); limit < 0 || linesSize(named[namespace]) > namespacePlacementsLimit {
			break
		}
		least[namespace] = named[namespace]
	}
	return least
}

// countLines returns a line "word 3" for each word, sorted.
func countLines(counts map[string]int) []string {
	lines := make([]string, 0, len(counts))
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, word+" "+strconv.Itoa(counts[word]))
	}
	return lines
}

func addLines(data map[string]string, key string, words map[string]bool, limit int) {
	if lines := strings.Join(slices.Sorted(maps.Keys(words)), "\n"); len(lines) <= limit {
		data[key] = lines
	}
}

// addByNamespace adds a value, and the lines of each namespace under the key with the namespace, unless all together exceed the limit.
func addByNamespace(data map[string]string, key, value string, linesOf map[string][]string, limit int) {
	values, size := map[string]string{key: value}, len(value)
	for namespace, lines := range linesOf {
		of := key + "." + namespace
		values[of] = strings.Join(lines, "\n")
		size += len(of) + len(values[of])
	}
	if size <= limit {
		maps.Copy(data, values)
	}
}

// sameVocabulary reports whether two states of a ManagedCluster have the same label keys, claim names and taints.
func sameVocabulary(before, after *clusterv1.ManagedCluster) bool {
	if len(before.Labels) != len(after.Labels) || !maps.Equal(taintWords(before), taintWords(after)) {
		return false
	}
	for key := range after.Labels {
		if _, found := before.Labels[key]; !found {
			return false
		}
	}
	return slices.EqualFunc(before.Status.ClusterClaims, after.Status.ClusterClaims, func(a, b clusterv1.ManagedClusterClaim) bool {
		return a.Name == b.Name
	})
}
