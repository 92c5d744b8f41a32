// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

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
	files, err := filepath.Glob("../../manifests/crds/*_*.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, len(files))

	for i, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		if err := yaml.Unmarshal(content, &crds[i]); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
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
