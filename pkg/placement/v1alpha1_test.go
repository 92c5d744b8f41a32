// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

func olderPlacementOf(wanted *int32) *placementv1alpha1.Placement {
	return &placementv1alpha1.Placement{
		ObjectMeta: placementOf(clusterv1beta1.PlacementSpec{}).ObjectMeta, Spec: placementv1alpha1.PlacementSpec{NumberOfClusters: wanted},
	}
}

// up and down are decisions.
func up(cluster string) api.Decision   { return api.Decision{Cluster: cluster, Available: true} }
func down(cluster string) api.Decision { return api.Decision{Cluster: cluster} }

// conditioned is a world in which each cluster has this status of the condition ManagedClusterConditionAvailable; "" for none.
func conditioned(clusters map[string]metav1.ConditionStatus) *inventory.Inventory {
	i := stateOf()
	for name, status := range clusters {
		cluster := clusterOf(name)
		if status != "" {
			cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
		}
		i.SetCluster(cluster)
	}
	return i
}

// breakSet makes the result held.
func breakSet(i *inventory.Inventory) *inventory.Inventory {
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	set.Spec.ClusterSelector.SelectorType = "None"
	i.SetClusterSet(set)
	return i
}

// flags tells a plan with the availability of every cluster.
func flags(plan Plan) []string {
	lines := steps(plan)
	for n, write := range plan.Writes {
		for _, d := range write.Desired.Decisions {
			lines[n] += fmt.Sprintf(" %s=%v", d.Cluster, d.Available)
		}
	}
	return lines
}

// docs/spec/placement-v1alpha1.md P14: available is true exactly when the condition is True, and follows it, whether or not there is an
// answer.
func TestAvailability(t *testing.T) {
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	type conditions = map[string]metav1.ConditionStatus
	for _, tc := range []struct {
		reason  string
		present pages
		world   *inventory.Inventory
		want    []string
	}{
		{"exactly when the condition is True", nil, conditioned(conditions{"a": yes, "b": no, "c": unknown, "d": ""}),
			[]string{`create and fill p-decision-1 group  "": a b c d a=true b=false c=false d=false`}},
		{"nothing changed", pages{older(1, up("a"), down("b"))}, conditioned(conditions{"a": yes, "b": no}), []string{}},
		{"nothing selected", nil, conditioned(nil), []string{`create and fill p-decision-1 group  "": `}},
		{"still nothing selected", pages{older(1, []api.Decision{}...)}, conditioned(nil), []string{}},
		{"it flips, and nothing else is written", pages{older(1, up("a"), down("b"))}, conditioned(conditions{"a": no, "b": no}),
			[]string{`fill p-decision-1 group  "": a b a=false b=false`}},
		{"only the page of the cluster is written", pages{older(1, up("a")), older(2, up("b"))}, conditioned(conditions{"a": yes, "b": yes}),
			[]string{`fill p-decision-1 group  "": a b a=true b=true`, "delete p-decision-2"}},
		{"held: it follows", pages{older(1, up("a"), down("b"))}, breakSet(conditioned(conditions{"a": no, "b": yes})),
			[]string{`fill p-decision-1 group  "": a b a=false b=true`}},
		{"held: nothing changed", pages{older(1, up("a"), down("b"))}, breakSet(conditioned(conditions{"a": yes, "b": unknown})), []string{}},
		{"held: a cluster that is gone is not available", pages{older(1, up("a"), up("b"))}, breakSet(conditioned(conditions{"b": yes})),
			[]string{`fill p-decision-1 group  "": a b a=false b=true`}},
		{"held: pages and their order stay", pages{older(1, up("b"), up("a")), older(2, up("c"))},
			breakSet(conditioned(conditions{"a": yes, "b": yes, "c": no})), []string{`fill p-decision-2 group  "": c c=false`}},
		{"a leaver goes, and who stays is told anew", pages{older(1, up("a"), up("b"))}, conditioned(conditions{"b": no}),
			[]string{`fill p-decision-1 group  "": b b=false`}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			for _, present := range []pages{tc.present, reversed(tc.present)} {
				s := newStore(olderPlacementOf(nil))
				for _, existing := range present {
					s.pages[existing.Name] = s.codec().Read(s.codec().Write(existing))
				}
				plan := s.plan(s.schedule(tc.world))
				expect(t, "steps", tc.want, flags(plan))
				expect(t, "wakes at", "never", wakesAt(plan))
			}
		})
	}
}

// Over several pages a flip writes one page, with one request.
func TestAvailabilityOfOneCluster(t *testing.T) {
	s := newStore(olderPlacementOf(nil))
	world := stateOf(fleet(250)...)
	s.settle(t, s.schedule(world))
	flipped := clusterOf("c-150")
	flipped.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	world.SetCluster(flipped)
	plan := s.plan(s.schedule(world))
	expect(t, "steps", []string{`fill p-decision-2 group  "": c-101..c-200 (100)`}, steps(plan))

	for _, d := range plan.Writes[0].Desired.Decisions {
		expect(t, d.Cluster+" is available", d.Cluster == "c-150", d.Available)
	}
	expect(t, "requests", 1, len(requests(plan.Codec, plan.Writes[0])))
}

// docs/spec/placement-v1alpha1.md P13: pages have one label of ours and one owner, no group, and one request creates them with their
// decisions.
func TestPagesOfTheOlderAPI(t *testing.T) {
	s := newStore(olderPlacementOf(nil))
	plan := s.plan(s.schedule(stateOf(fleet(101)...)))
	for n, write := range plan.Writes {
		want := older(n + 1)
		expect(t, "labels", want.Labels, write.Desired.Labels)
		expect(t, "owners", want.OwnerReferences, write.Desired.OwnerReferences)
		sent := requests(plan.Codec, write)
		expect(t, "requests", 1, len(sent))
		expect(t, "action", ActionCreate, sent[0].action)
	}

	expect(t, "writes", 2, len(plan.Writes))
}

// docs/spec/differences.md B4 for the older API: what is ours is put back, with the decisions in one request; pages of others are left
// alone, and those of v1beta1 among them.
func TestPagesOfTheOlderAPIAmongOthers(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		change   func(*api.Page)
		want     []string
		requests int
	}{
		{"a lost owner comes back", func(p *api.Page) { p.OwnerReferences = nil }, []string{`mend p-decision-1 group  "": a`}, 1},
		{"a lost label comes back", func(p *api.Page) { p.Labels = map[string]string{"team": "a"} },
			[]string{`mend p-decision-1 group  "": a`}, 1},
		{"labels of others stay", func(p *api.Page) { p.Labels["team"] = "a" }, []string{}, 0},
		{"a label of a group is one of others", func(p *api.Page) { p.Labels[clusterv1beta1.DecisionGroupIndexLabel] = "3" }, []string{}, 0},
		{"owner and decisions in one request", func(p *api.Page) { p.OwnerReferences, p.Decisions = nil, []api.Decision{up("z")} },
			[]string{`mend and fill p-decision-1 group  "": a`}, 1},
		{"owned by a placement of v1beta1 only", func(p *api.Page) {
			p.Labels, p.OwnerReferences = nil, page(1, 0, "").OwnerReferences
		}, []string{`create and fill p-decision-2 group  "": a`}, 1},
		{"labelled for a placement of v1beta1 only", func(p *api.Page) {
			p.Labels, p.OwnerReferences = page(1, 0, "").Labels, nil
		}, []string{`create and fill p-decision-2 group  "": a`}, 1},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s := newStore(olderPlacementOf(nil))
			s.put(edited(older(1, down("a")), tc.change))
			plan := s.plan(s.schedule(stateOf("a")))
			expect(t, "steps", tc.want, steps(plan))
			sent := 0
			for _, write := range plan.Writes {
				sent += len(requests(plan.Codec, write))
			}
			expect(t, "requests", tc.requests, sent)
		})
	}
}

// docs/spec/placement-v1alpha1.md P8: PlacementSatisfied is False only when too few were found of a number, or when nothing could be looked
// at.
func TestSatisfiedOfTheOlderAPI(t *testing.T) {
	for _, tc := range []struct {
		reason string
		wanted *int32
		change func(*inventory.Inventory)
		want   string
	}{
		{"all", nil, nil, "PlacementSatisfied=True AllDecisionsScheduled: All cluster decisions scheduled"},
		{"none fits, and no number was asked for", nil, taintAll, "PlacementSatisfied=True AllDecisionsScheduled: All cluster decisions scheduled"},
		{"none fits of a number", ptr.To[int32](2), taintAll,
			"PlacementSatisfied=False NotAllDecisionsScheduled: 2 cluster decisions unscheduled; " +
				"0 of 2 clusters in scope selected; not selected: taint gpu:NoSelect not tolerated (2)"},
		{"0 wanted, 0 found", ptr.To[int32](0), nil, "PlacementSatisfied=True AllDecisionsScheduled: All cluster decisions scheduled"},
		{"too few", ptr.To[int32](3), nil, "PlacementSatisfied=False NotAllDecisionsScheduled: 1 cluster decisions unscheduled; " +
			"2 of 2 clusters in scope selected"},
		{"no bound set", nil, func(i *inventory.Inventory) { i.DeleteBinding("ns", "all") },
			"PlacementSatisfied=False NoManagedClusterSetBindings: No valid ManagedClusterSetBindings found in placement namespace"},
		{"no cluster in it", nil, func(i *inventory.Inventory) {
			i.DeleteCluster("a")
			i.DeleteCluster("b")
		}, "PlacementSatisfied=False AllManagedClusterSetsEmpty: All ManagedClusterSets [all] have no member ManagedCluster"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s := newStore(olderPlacementOf(tc.wanted))

			world := stateOf("a", "b")
			if tc.change != nil {
				tc.change(world)
			}
			result := s.schedule(world)
			status := NewStatus(result, s.plan(result), s.placement, now)

			types := []string{}
			for _, condition := range status.Conditions {
				types = append(types, condition.Type)
			}
			expect(t, "conditions", []string{"PlacementMisconfigured", "PlacementSatisfied"}, types)
			expect(t, "satisfied", tc.want, brief(status.Conditions[1]))
			expect(t, "observed generation", s.placement.Generation, status.Conditions[1].ObservedGeneration)
		})
	}
}

func taintAll(i *inventory.Inventory) {
	for _, name := range []string{"a", "b"} {
		cluster := clusterOf(name)
		cluster.Spec.Taints = []clusterv1.Taint{{Key: "gpu", Effect: clusterv1.TaintEffectNoSelect}}
		i.SetCluster(cluster)
	}
}
