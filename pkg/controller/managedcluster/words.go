package managedcluster

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// The keys of the vocabulary. What stands under them are lists, sorted, one entry a line. A key that is missing says nothing.
const (
	labelsKey = "labels" // label keys of the clusters
	claimsKey = "claims" // claim names of the clusters
	// boundKey is the number of namespaces that have bindings, and a prefix: below "bound.<namespace>" are the sets that the namespace
	// binds. Only when boundWords is there are they complete.
	boundKey = "bound"
)

// Limits of the parts in bytes: together they stay well below the 1 MiB that a ConfigMap may have.
const (
	keysLimit  = 256 << 10
	boundLimit = 384 << 10
)

// vocabulary is the data of the ConfigMap: which label keys and claim names there are in the fleet, and which sets are bound where. A part
// that would be too large is left out.
func vocabulary(clusters []clusterv1.ManagedCluster, bindings []clusterv1beta2.ManagedClusterSetBinding) map[string]string {
	labels, claims, bound := map[string]bool{}, map[string]bool{}, map[string][]string{}

	for i := range clusters {
		cluster := &clusters[i]
		for key := range cluster.Labels {
			labels[key] = true
		}

		for _, claim := range cluster.Status.ClusterClaims {
			claims[claim.Name] = true
		}
	}

	for i := range bindings {
		bound[bindings[i].Namespace] = append(bound[bindings[i].Namespace], bindings[i].Name)
	}

	data := map[string]string{}
	addLines(data, labelsKey, labels)
	addLines(data, claimsKey, claims)
	addBound(data, bound)

	return data
}

func addLines(data map[string]string, key string, words map[string]bool) {
	if lines := strings.Join(slices.Sorted(maps.Keys(words)), "\n"); len(lines) <= keysLimit {
		data[key] = lines
	}
}

func addBound(data map[string]string, bound map[string][]string) {
	lines, size := map[string]string{}, 0

	for namespace, sets := range bound {
		slices.Sort(sets)

		key := boundKey + "." + namespace
		lines[key] = strings.Join(sets, "\n")
		size += len(key) + len(lines[key])
	}

	if size > boundLimit {
		return
	}

	maps.Copy(data, lines)
	data[boundKey] = strconv.Itoa(len(bound))
}

// sameVocabulary reports whether two states of a cluster have labels of the same keys and claims of the same names.
func sameVocabulary(before, after *clusterv1.ManagedCluster) bool {
	if len(before.Labels) != len(after.Labels) {
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
