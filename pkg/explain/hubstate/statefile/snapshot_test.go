// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"strings"
	"testing"
)

const snapshotHeader = `
apiVersion: placement-hub.open-cluster-management.io/v1alpha1
kind: PlacementSnapshot
formatVersion: 1
time: "2026-11-28T10:00:00Z"
controllers: [placement, managedcluster-taints]
kinds: []
unread:
- {apiVersion: v1, kind: Node, reason: nodes is forbidden}
- {apiVersion: kupid.gardener.cloud/v1alpha1, kind: PodSchedulingPolicy, reason: not served, absent: true}
`

const snapshotPlacement = `
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {namespace: team-a, name: web}
spec: {}
`

// docs/spec/snapshot.md SN4: the header of a snapshot is read, and what the snapshot lacks is an error only where a result needs it.
func TestSN4SnapshotHeader(t *testing.T) {
	reader := newReader(t)
	reader.Read("state.yaml", []byte(snapshotHeader+snapshotPlacement))
	state, err := reader.State()
	if err != nil {
		t.Fatal(err)
	}
	header := reader.Snapshot()
	if header == nil || len(header.Controllers) != 2 || header.Time.UTC().Hour() != 10 || len(header.Unread) != 2 {
		t.Errorf("the header is %+v", header)
	}
	if len(state.Placements) != 1 {
		t.Errorf("%d Placements, want 1", len(state.Placements))
	}

	reader = newReader(t)
	reader.Read("state.yaml", []byte(snapshotHeader+snapshotPlacement+`
---
apiVersion: v1
kind: Pod
metadata: {namespace: team-a, name: web}
spec: {containers: [{name: web, image: web}]}
`))
	if state, err = reader.State(); err != nil {
		t.Fatal(err)
	}
	if missing := strings.Join(state.Pods.Missing, "\n"); missing != "Nodes are not in the snapshot; the report does not say which nodes fit\n"+
		"PodSchedulingPolicies are not installed on the hub of the snapshot; no policy of this kind is in the report" {
		t.Errorf("of Pods is missing: %q", missing)
	}
}

// SN4, SN5.
func TestSN5SnapshotProblems(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"the clusters are not in it": {
			strings.Replace(snapshotHeader, "unread:",
				"unread:\n- {apiVersion: cluster.open-cluster-management.io/v1, kind: ManagedCluster, reason: forbidden}", 1) +
				snapshotPlacement,
			"ManagedClusters decide about Placements, and the user who took the snapshot might not read them all",
		},
		"another version": {strings.Replace(snapshotHeader, "formatVersion: 1", "formatVersion: 7", 1), "formatVersion: 7 is not read"},
		"no version":      {strings.Replace(snapshotHeader, "formatVersion: 1", "", 1), "formatVersion: 0 is not read"},
		"a wrong type":    {strings.Replace(snapshotHeader, "formatVersion: 1", "formatVersion: one", 1), "take another snapshot"},
		"two of them":     {snapshotHeader + "\n---" + snapshotHeader, "a second snapshot: name one"},
	} {
		t.Run(name, func(t *testing.T) {
			reader := newReader(t)
			reader.Read("state.yaml", []byte(tc.text))
			if _, err := reader.State(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got the error %v, want one with %q", err, tc.want)
			}
		})
	}
}
