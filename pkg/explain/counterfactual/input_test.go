// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"os"
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

var noon = time.Date(2026, time.January, 31, 12, 0, 0, 0, time.UTC)

// readWorld reads the objects by the definitions that the hub installs.
func readTestState(tb testing.TB, contents ...[]byte) *explain.State {
	tb.Helper()
	crds, err := manifests.Definitions()
	if err != nil {
		tb.Fatal(err)
	}
	reader, err := statefile.NewReader(crds)
	if err != nil {
		tb.Fatal(err)
	}
	for _, content := range contents {
		reader.Read("world.yaml", content)
	}

	state, err := reader.State()
	if err != nil {
		tb.Fatal(err)
	}
	return state
}

func testState(tb testing.TB, more ...string) *explain.State {
	tb.Helper()
	content, err := os.ReadFile("testdata/world.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	contents := [][]byte{content}
	for _, text := range more {
		contents = append(contents, []byte(text))
	}
	return readTestState(tb, contents...)
}

func newer(namespace, name string) inventory.Key {
	return inventory.NewPlacementKey(inventory.V1beta1, namespace, name)
}

// explainPlacement explains one Placement for some clusters.
func explainPlacement(tb testing.TB, state *explain.State, key inventory.Key, clusters ...string) Explanation {
	tb.Helper()
	evaluations := state.Evaluate(noon, func(other inventory.Key) bool { return other == key })
	if len(evaluations) != 1 {
		tb.Fatalf("%d placements %s", len(evaluations), key)
	}
	explanations := make([]ClusterExplanation, 0, len(clusters))

	for _, cluster := range clusters {
		explained, known := Explain(evaluations[0], cluster)
		if !known {
			tb.Fatalf("no cluster %s", cluster)
		}
		explained.Counterfactuals = append(explained.Counterfactuals, Search(state, key, cluster, noon)...)
		explanations = append(explanations, explained)
	}
	return NewExplanation(state.Explain(evaluations[0], true), explanations)
}
