package inventory

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// TestUpdateInvalidatesExpensiveVerdicts checks that an event re-evaluates a selector only if its verdict is cheap. An expensive verdict is
// invalidated, and the placement evaluates it.
func TestUpdateInvalidatesExpensiveVerdicts(t *testing.T) {
	withCEL, errs := selector.NewCompiler().Compile(selector.Paths{CEL: field.NewPath("cel")}, selector.Spec{
		CEL: []string{`managedCluster.metadata.labels["region"] == "eu"`},
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}

	cluster := clusterinfo.New(managed("c1", "a", "region", "eu"), nil)

	for _, tc := range []struct {
		reason         string
		cost           uint32
		flipped, known bool
	}{
		{"cheap: evaluated, and the verdict is the same", maxInlineCost - 1, false, true},
		{"expensive: invalidated, so the verdict may differ", maxInlineCost, true, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			m := newCELCache(withCEL)
			m.set(0, 1, cachedVerdict{cost: tc.cost, valid: true, matched: true}, verdictDetails{})

			if flipped := m.update(0, cluster, 2); flipped != tc.flipped {
				t.Errorf("change() = %v, want %v", flipped, tc.flipped)
			}

			if is := m.get(0); is.valid != tc.known || is.from != 2 {
				t.Errorf("known: %v from %d on, want %v from 2 on", is.valid, is.from, tc.known)
			}
		})
	}
}
