// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// sendChanges sends one event and writes one log line about the clusters that the pages really gained and lost
// (docs/spec/differences.md E1a), and returns the reasons that they name. Edited are the names of the pages that others had edited.
func (r *cycleRecorder) sendChanges(ctx context.Context, edited map[string]bool) []history.Reason {
	text, reasons := r.changes.describe(r.result, edited)
	if text == "" {
		return nil
	}
	klog.FromContext(ctx).Info("The clusters of a Placement changed", "placement", klog.KRef(r.placement.Namespace, r.placement.Name),
		"changes", text)
	r.recorder.Eventf(r.placement, nil, corev1.EventTypeNormal, "ClustersChanged", "DecisionsWritten", "%s", text)
	return reasons
}

// describe returns "lost eu2 (ManagedCluster is deleted), gained eu3 (rank 2, score 87)", and the reasons in it; empty if no cluster was gained or
// lost.
func (c *pageChanges) describe(result *scheduling.Result, edited map[string]bool) (text string, reasons []history.Reason) {
	if len(c.list) == 0 {
		return "", nil
	}
	known := func(cluster, reason string) string {
		reasons = append(reasons, history.Reason{Cluster: cluster, Text: reason})
		return reason
	}
	was, is := members(c.before), members(c.after())
	own := members(slices.DeleteFunc(slices.Clone(c.before), func(page *api.Page) bool { return edited[page.Name] }))
	var texts []string

	if lost := without(was, is); len(lost) > 0 {
		texts = append(texts, "lost "+scheduling.NameReasons(lost, func(cluster string) string {
			if !own[cluster] {
				return known(cluster, "another client had written it")
			}
			return known(cluster, result.ReasonOf(cluster))
		}))
	}

	if gained := without(is, was); len(gained) > 0 {
		texts = append(texts, "gained "+scheduling.NameReasons(gained, func(cluster string) string {
			verdict, _ := result.VerdictOf(cluster)
			return known(cluster, fmt.Sprintf("rank %d, score %d", verdict.Rank, verdict.Score))
		}))
	}
	return strings.Join(texts, ", "), reasons
}

// without returns the clusters of a set that another one lacks, sorted.
func without(clusters, others map[string]bool) []string {
	left := maps.Clone(clusters)
	maps.DeleteFunc(left, func(cluster string, _ bool) bool { return others[cluster] })
	return slices.Sorted(maps.Keys(left))
}
