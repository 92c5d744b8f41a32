// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"fmt"
	"slices"
	"strings"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

const (
	// NoLimit is the percentage that means no limit.
	NoLimit = 100
	// FreeRemovals is the number of clusters that may leave within the Window with every percentage but 0 (docs/spec/differences.md G5).
	FreeRemovals = 1
	// Window is how long a cluster that has left counts as removed, and as one of those that there were.
	Window = 10 * time.Minute
)

// maxListedClusters is the number of clusters that a text lists.
const maxListedClusters = 3

// Count is what a percentage limits: the clusters that leave the decisions of a Placement, or lose the work of a federated object.
type Count struct {
	// Past is the number of clusters that have left within the Window, and Now the number of clusters that would leave now.
	Past, Now int
	// Total is the number that the percentage refers to. It includes Past and Now.
	Total int
}

// Removed returns the number of clusters that have left within the Window or would leave now.
func (c Count) Removed() int { return c.Past + c.Now }

// Exceeds reports whether more than a percentage of the clusters is removed, and more than FreeRemovals unless none may leave.
func (c Count) Exceeds(percent int) bool {
	if percent >= NoLimit || percent > 0 && c.Removed() <= FreeRemovals {
		return false
	}
	return c.Total > 0 && c.Removed()*NoLimit > percent*c.Total
}

// String returns "40 of 50 clusters".
func (c Count) String() string { return fmt.Sprintf("%d of %d clusters", c.Removed(), c.Total) }

// counts reports whether a removal at a time still counts.
func counts(removed, now time.Time) bool { return now.Before(removed.Add(Window)) }

// Drains reports whether a cluster has the taint of a cluster that is about to be deleted, and whose removal nothing can hold; false for nil.
func Drains(info *clusterinfo.ClusterInfo) bool {
	return info != nil && slices.ContainsFunc(info.Taints, func(taint clusterv1.Taint) bool { return taint.Key == openmcpv1alpha1.TerminatingTaint })
}

// Name returns the first clusters of a list: "c1, c2, c3 and 37 more".
func Name(clusters []string) string {
	text := strings.Join(clusters[:min(len(clusters), maxListedClusters)], ", ")
	if more := len(clusters) - maxListedClusters; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
