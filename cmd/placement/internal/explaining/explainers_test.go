// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"slices"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/explain/tools"
)

// What a System explains to the hub's users, explain prints.
func TestEverySystemHasAnExplainer(t *testing.T) {
	explained := []tools.System{placementExplainer.of}
	for _, each := range explainers {
		explained = append(explained, each.of)
		if each.isType == nil || each.explain == nil {
			t.Errorf("the explainer of %T has no function for a command", each.of)
		}
	}
	for _, each := range tools.All() {
		if !slices.Contains(explained, each) {
			t.Errorf("explain has no explainer of %T", each)
		}
	}
}
