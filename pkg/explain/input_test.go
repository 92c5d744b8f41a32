// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"testing"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
)

const (
	placementHead = "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"
	clusterHead   = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n"
)

// newReader checks by the definitions that the hub installs.
func newReader(tb testing.TB) *statefile.Reader {
	tb.Helper()
	crds, err := manifests.Definitions()
	if err != nil {
		tb.Fatal(err)
	}
	reader, err := statefile.NewReader(crds)
	if err != nil {
		tb.Fatal(err)
	}
	return reader
}

// read returns the State of one file.
func read(tb testing.TB, content string) *explain.State {
	tb.Helper()
	reader := newReader(tb)
	reader.Read("world.yaml", []byte(content))
	state, err := reader.State()
	if err != nil {
		tb.Fatal(err)
	}
	return state
}
