// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// docs/spec/differences.md B12: what a held removal keeps, and which clusters join meanwhile. The clusters c and d are in the zone z, and gone does
// not exist.
func TestHold(t *testing.T) {
	hub := newRandomHub(named("a", "zone", "x"), named("b", "zone", "y"), named("c", "zone", "z"), named("d", "zone", "z"))
	apartInZones := clusterv1beta1.SpreadConstraintsTerm{
		TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1, WhenUnsatisfiable: clusterv1beta1.DoNotSchedule,
	}
	for _, tc := range []struct {
		reason   string
		request  *Request
		existing string
		leaving  string
		want     string
		kept     string
	}{
		{"nothing joins: the decisions stay as they are", apart(nil, nil), "a b c d gone", "gone", "", ""},
		{"clusters join beside one that is kept", apart(nil, nil), "a gone", "gone", "a b c d gone", "gone"},
		{"kept clusters are sorted, and so are all", apart(nil, nil), "a aa gone", "gone aa", "a aa b c d gone", "aa gone"},
		{"a cluster that is not kept leaves", apart(nil, nil), "a b c d gone lost", "gone", "a b c d gone", "gone"},
		{"the wanted number leaves no room", apart(ptr.To[int32](2), nil), "a gone", "gone", "", ""},
		{"the wanted number leaves room for the best", apart(ptr.To[int32](3), nil), "a gone", "gone", "a b gone", "gone"},
		{"a replacement joins", apart(ptr.To[int32](2), nil), "gone lost", "gone", "a gone", "gone"},
		{"a constraint: clusters join beside one that is not feasible", apart(nil, nil, apartInZones), "a gone", "gone", "a b c d gone", "gone"},
		{"a constraint: none joins beside a feasible one", apart(nil, nil, apartInZones), "a d", "d", "", ""},
		{"a constraint: none joins without room for all", apart(ptr.To[int32](3), nil, apartInZones), "a gone", "gone", "", ""},
		{"a soft constraint: the best joins beside a feasible one", apart(ptr.To[int32](3), nil, softly(clusterv1beta1.TopologyKeyTypeLabel, "zone")),
			"a d", "d", "a b d", "d"},
		{"anti-affinity: none joins beside a feasible one", apart(nil, byZone), "a d", "d", "", ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			existing := map[string]bool{}
			for name := range strings.FieldsSeq(tc.existing) {
				existing[name] = true
			}
			hub.incumbents = existing
			held := hub.scheduleRequest(t, tc.request).Hold(existing, strings.Fields(tc.leaving), now)
			expect(t, "selected", tc.want, names(held))
			expect(t, "kept", tc.kept, strings.Join(held.Kept, " "))
			expect(t, "applies", tc.want != "", held.Applies())
			expect(t, "outcome", Held, held.Outcome())
		})
	}
}

// names returns the names of the selected clusters.
func names(r *Result) string {
	all := make([]string, 0, len(r.Selected))
	for _, f := range r.Selected {
		all = append(all, f.Name)
	}
	return strings.Join(all, " ")
}

// docs/spec/differences.md B12: a postponed removal keeps every cluster, and lets others join. It adds no cluster that has left the decisions lately.
func TestPostponedResultsGain(t *testing.T) {
	hub := newRandomHub(named("a"), named("b"))
	hub.incumbents = map[string]bool{"a": true, "gone": true, "lost": true, "left": false}
	result := hub.scheduleRequest(t, apart(nil, nil))
	postponed := result.Postpone(Postponement{Reason: "Behind", Message: "The view is old."}, now)
	expect(t, "selected", "a b gone lost", names(postponed))
	expect(t, "kept", "gone lost", strings.Join(postponed.Kept, " "))
	expect(t, "outcome", Postponed, postponed.Outcome())
	expect(t, "keeps clusters that leave", true, postponed.KeepsLeaving())
	expect(t, "applies", true, postponed.Applies())
	expect(t, "the original result", "a b", names(result))
	expect(t, "the original result keeps clusters that leave", false, result.KeepsLeaving())
}

// TestChanges checks which decisions differ from a result that selects the clusters a and b.
func TestChanges(t *testing.T) {
	result := newRandomHub(named("a"), named("b")).scheduleRequest(t, apart(nil, nil))
	for _, tc := range []struct {
		reason   string
		existing map[string]bool
		want     bool
	}{
		{"the same clusters", map[string]bool{"a": true, "b": true}, false},
		{"a cluster leaves", map[string]bool{"a": true, "b": true, "gone": true}, true},
		{"a cluster joins", map[string]bool{"a": true}, true},
		{"a cluster replaces another one", map[string]bool{"a": true, "gone": true}, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			expect(t, "changes", tc.want, result.Changes(tc.existing))
		})
	}
}
