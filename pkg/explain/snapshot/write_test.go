// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"testing"
)

const written = `---
apiVersion: placement-hub.open-cluster-management.io/v1alpha1
controllers:
- placement
formatVersion: 1
kind: PlacementSnapshot
kinds:
- apiVersion: cluster.open-cluster-management.io/v1
  kind: ManagedCluster
  objects: 1
time: "2026-11-28T10:00:00Z"
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata:
  name: c1
`

// What is written is read again.
func TestDecodeOfWrite(t *testing.T) {
	decoded, err := Decode([]byte(written))
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := decoded.Write(&again); err != nil {
		t.Fatal(err)
	}
	if again.String() != written || len(decoded.Objects) != 1 {
		t.Errorf("%d objects are written as\n%s", len(decoded.Objects), again.String())
	}
}
