// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"strings"
	"testing"
)

const (
	addedCluster = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: c1}\n"
	addedScores  = "apiVersion: cluster.open-cluster-management.io/v1alpha1\nkind: AddOnPlacementScore\nmetadata: {name: cpu, namespace: c1}\n"
)

func TestAdditions(t *testing.T) {
	for _, tc := range []struct {
		reason, content string
		want            string // error; empty for none
	}{
		{"clusters and scores", addedCluster + "---\n" + addedScores, ""},
		{"scores of a cluster that is elsewhere", addedScores, ""},
		{"what says nothing about placements is left out", addedCluster + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: c1}\n", ""},
		{"nothing", "", "there is no ManagedCluster and no AddOnPlacementScore in the files"},
		{
			"a set", addedCluster + "---\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: a}\n",
			"clusters.yaml:5: ManagedClusterSet a cannot be added: leave it out, only ManagedClusters, AddOnPlacementScores, Nodes, workloads, ",
		},
		{
			"a placement", "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {name: a, namespace: b}\nspec: {}\n",
			"Placement b/a cannot be added: leave it out, only ManagedClusters, AddOnPlacementScores, Nodes, workloads, " +
				"scheduling policies, AffinityClasses, Tenants, applications, HelmReleases, and ClusterRequests with what decides about them, " +
				"can; placement diff says what Placements would change",
		},
		{"a mistake", addedCluster + "spec: {taint: []}\n", "clusters.yaml:4: ManagedCluster c1: spec.taint: unknown field"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			reader := newReader(t)
			reader.Read("clusters.yaml", []byte(tc.content))
			additions, err := reader.Additions()
			switch {
			case tc.want != "":
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("error is %v, want one with %q", err, tc.want)
				}
			case err != nil:
				t.Error(err)
			case len(additions.Clusters) != strings.Count(tc.content, "ManagedCluster") ||
				len(additions.Scores) != strings.Count(tc.content, "AddOnPlacementScore") || len(additions.ClusterSets) != 0:
				t.Errorf("%d clusters, %d scores, %d sets", len(additions.Clusters), len(additions.Scores), len(additions.ClusterSets))
			}
		})
	}
}
