// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// The keys of the ConfigMap. Their values are sorted lists with one entry per line. A missing key means unknown.
const (
	labelsKey = "labels" // label keys of the clusters
	claimsKey = "claims" // claim names of the clusters
	// boundKey has the number of namespaces with bindings, and is a prefix: "bound.<namespace>" lists the sets that the namespace binds.
	// These lists are complete only if boundKey exists.
	boundKey = "bound"
)

// Limits of the parts in bytes; their sum is well below the 1 MiB of a ConfigMap.
const (
	keysLimit  = 256 << 10
	boundLimit = 384 << 10
)

// vocabulary returns the data of the ConfigMap: the label keys and claim names of the fleet, and the sets that each namespace binds. Parts
// beyond their limit are omitted.
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

// sameVocabulary reports whether two states of a ManagedCluster have the same label keys and claim names.
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
