package inventory

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// An event asks again only where that is cheap; where it is dear, it leaves the asking to an evaluation, which it wakes.
func TestEventsDoNotWaitForDearAnswers(t *testing.T) {
	asking, errs := selector.NewCompiler().Compile(selector.Paths{CEL: field.NewPath("cel")}, selector.Spec{
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
		{"cheap: asked, and the answer is the same", maxInlineCost - 1, false, true},
		{"dear: not asked, so it may be another one", maxInlineCost, true, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			m := newCELCache(asking)
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
