// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// LimitReport removes the Clusters of other namespaces, but for the Cluster that the request has, and counts them by what they lack. Changes
// that would grant the Cluster of another namespace do not name it.
func LimitReport(report *Report) {
	shown := func(namespace, name string) bool {
		return namespace == report.Namespace ||
			report.Cluster != nil && report.Cluster.Namespace == namespace && report.Cluster.Name == name
	}

	lacks := map[string]int{}
	hidden := 0

	report.Clusters = slices.DeleteFunc(report.Clusters, func(cluster Cluster) bool {
		if shown(cluster.Namespace, cluster.Name) {
			return false
		}
		hidden++
		if cluster.LackKind == "" {
			lacks["nothing"]++
		} else {
			lacks[cluster.LackKind]++
		}
		return true
	})

	for i := range report.Changes {
		change := &report.Changes[i]
		if namespace, name, _ := strings.Cut(change.Cluster, "/"); !change.New && !shown(namespace, name) {
			change.Cluster = "a Cluster of another namespace"
		}
	}
	if hidden == 0 {
		return
	}

	counts := make([]string, 0, len(lacks))
	for _, lack := range slices.Sorted(maps.Keys(lacks)) {
		counts = append(counts, fmt.Sprintf("%d lack %s", lacks[lack], lack))
	}
	report.Notes = append(report.Notes, fmt.Sprintf("Clusters of other namespaces are only counted: %s", strings.Join(counts, ", ")))
}

// LimitDifference removes the requests that may not be shown, the counts of all requests, and the names of Clusters of other namespaces but
// for those that are to be created for a request.
func LimitDifference(difference *Difference, shown func(types.NamespacedName) bool) {
	difference.Requests = slices.DeleteFunc(difference.Requests, func(d RequestDifference) bool {
		return !shown(types.NamespacedName{Namespace: d.Namespace, Name: d.Name})
	})
	for i := range difference.Requests {
		d := &difference.Requests[i]
		d.Before, d.After = limitResult(d.Before, d.Namespace), limitResult(d.After, d.Namespace)
	}
	difference.Granted, difference.Before, difference.After = 0, Totals{}, Totals{}
	difference.Limited = true
}

// limitResult returns the result of a request of a namespace without the name of a Cluster of another one.
func limitResult(result, namespace string) string {
	cluster, granted := strings.CutPrefix(result, GrantedPrefix)
	if !granted || strings.HasPrefix(cluster, namespace+"/") {
		return result
	}
	return GrantedPrefix + "of another namespace"
}
