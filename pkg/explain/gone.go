// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// goneShown bounds the clusters that a note names: a definition takes all of its Clusters at once.
const goneShown = 5

// GoneNote returns a note on a cluster whose Cluster was lost with its CustomResourceDefinition, with how to release it; empty for any other.
func GoneNote(cluster *clusterinfo.ClusterInfo) string {
	if condition := cluster.Condition(clusterrequest.ConditionClusterGone); isTrue(condition) {
		return requests.GoneNote(*condition)
	}
	return ""
}

func isTrue(condition *metav1.Condition) bool {
	return condition != nil && condition.Status == metav1.ConditionTrue
}

// goneNotes returns a note on the clusters in decisions whose Clusters were lost with their CustomResourceDefinition; none if there are none.
func goneNotes(result *scheduling.Result, selected []string) []string {
	var gone []string
	for _, name := range selected {
		if cluster := result.Cluster(name); cluster != nil && isTrue(cluster.Condition(clusterrequest.ConditionClusterGone)) {
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return nil
	}

	slices.Sort(gone)
	names := strings.Join(gone[:min(len(gone), goneShown)], ", ")
	if len(gone) > goneShown {
		names += fmt.Sprintf(" and %d more", len(gone)-goneShown)
	}
	return []string{fmt.Sprintf("%s: the Clusters of these ManagedClusters are gone with the former CustomResourceDefinition of Clusters, and the "+
		"ManagedClusters stay: %s; %s", clusterrequest.ConditionClusterGone, names, requests.ReleaseGone)}
}
