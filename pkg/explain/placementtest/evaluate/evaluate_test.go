// SPDX-License-Identifier: Apache-2.0

package evaluate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// world has clusters eu1 to eu3, us1 and us2, and Placements of team a.
func world() *explain.State {
	state := &explain.State{
		ClusterSets: []*clusterv1beta2.ManagedClusterSet{{ObjectMeta: metav1.ObjectMeta{Name: "all"}}},
		Bindings: []*clusterv1beta2.ManagedClusterSetBinding{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "all"}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "all"},
		}},
	}
	for _, name := range []string{"eu1", "eu2", "eu3", "us1", "us2"} {
		state.Clusters = append(state.Clusters, &clusterv1.ManagedCluster{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "all", "region": name[:2]}},
			Status:     clusterv1.ManagedClusterStatus{ClusterClaims: []clusterv1.ManagedClusterClaim{{Name: "zone", Value: name}}},
		})
	}
	add := func(name string, number int32, region string, change func(*clusterv1beta1.Placement)) {
		p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
			Namespace: "a", Name: name, UID: "u", Generation: 1, Labels: map[string]string{"tier": region},
		}}
		if number > 0 {
			p.Spec.NumberOfClusters = ptr.To(number)
		}
		if region != "" {
			p.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": region}},
			}}}
		}
		change(p)
		state.Placements = append(state.Placements, p)
	}
	same := func(*clusterv1beta1.Placement) {}
	add("eu", 2, "eu", same)
	add("us", 0, "us", same)
	add("all", 0, "", same)
	add("groups", 0, "", func(p *clusterv1beta1.Placement) {
		p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = []clusterv1beta1.DecisionGroup{{
			GroupName: "canary",
			ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "us"}},
			},
		}}
	})
	add("patient", 1, "eu", func(p *clusterv1beta1.Placement) {
		p.Spec.Tolerations = []clusterv1beta1.Toleration{{
			Key: clusterv1.ManagedClusterTaintUnreachable, Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To[int64](600),
		}}
	})
	add("forever", 1, "eu", func(p *clusterv1beta1.Placement) {
		p.Spec.Tolerations = []clusterv1beta1.Toleration{{Operator: clusterv1beta1.TolerationOpExists}}
	})
	add("off", 1, "", func(p *clusterv1beta1.Placement) {
		p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	})
	add("broken", 1, "", func(p *clusterv1beta1.Placement) {
		p.Spec.PrioritizerPolicy.Mode = "Sometimes"
	})
	return state
}

// readCases reads a case for each spec.
func readCases(specs ...string) ([]*cases.Case, error) {
	reader := cases.NewReader()
	for i, spec := range specs {
		reader.Read("cases.yaml", fmt.Appendf(nil, "apiVersion: %s\nkind: %s\nmetadata: {name: c%d}\nspec: {%s}\n", cases.APIVersion, cases.Kind, i,
			spec))
	}
	return reader.Cases, reader.Err()
}

func run(t *testing.T, state *explain.State, specs ...string) evaluate.Results {
	t.Helper()
	return runIn(t, evaluate.World{State: state, Now: noon}, specs...)
}

func runIn(t *testing.T, world evaluate.World, specs ...string) evaluate.Results {
	t.Helper()
	given, err := readCases(specs...)
	if err != nil {
		t.Fatalf("%q: %v", specs, err)
	}
	return evaluate.Run(world, given)
}

// caseTest is a case with its result in a world, that of world if it has none. The message is a part of why it does not hold.
type caseTest struct {
	rule, spec string
	want       evaluate.Status
	message    string
	state      *explain.State
}

func checkCases(t *testing.T, tests []caseTest) {
	t.Helper()
	for _, test := range tests {
		if test.state == nil {
			test.state = world()
		}
		test.check(t, run(t, test.state, test.spec).Cases[0])
	}
}

func (test *caseTest) check(t *testing.T, got evaluate.Result) {
	t.Helper()
	message := got.Error
	if f := got.Failure; f != nil {
		message = f.Field + ": " + f.Message + "\n" + strings.Join(f.Counterfactuals, "\n")
		if f.When != "" {
			message = "when " + f.When + ": " + message
		}
	}
	if got.Status != test.want || !strings.Contains(message, test.message) {
		t.Errorf("%s: %s: got %s, %s; want %s, %s", test.rule, test.spec, got.Status, message, test.want, test.message)
	}
	if got.Status != evaluate.Errored && got.Objects == 0 {
		t.Errorf("%s: %s: no object was evaluated", test.rule, test.spec)
	}
}

func TestCases(t *testing.T) {
	const eu, us, all, groups = "objects: {placement: a/eu}, ", "objects: {placement: a/us}, ", "objects: {placement: a/all}, ",
		"objects: {placement: a/groups}, "
	checkCases(t, []caseTest{
		{"PT3", eu + "expect: {selected: {exactly: [eu2, eu1]}, satisfied: true}", evaluate.Passed, "", nil},
		{"PT3", eu + "expect: {selected: {exactly: [eu1]}}", evaluate.Failed,
			"spec.expect.selected.exactly: eu2 is selected: score 200, rank 2 of 3", nil},
		{"PT3", eu + "expect: {selected: {allOf: [us1]}}", evaluate.Failed,
			"allOf: us1 is not selected: predicate 1 label region In [eu]: is us\nwould be selected if label region were eu", nil},
		{"PT3", eu + "expect: {selected: {anyOf: [us1, us2]}}", evaluate.Failed, "anyOf: none of us1, us2 is selected; us1 is not selected", nil},
		{"PT3", eu + "expect: {selected: {noneOf: [us1, eu1]}}", evaluate.Failed, "noneOf: eu1 is selected", nil},
		{"PT3", eu + "expect: {selected: {atLeast: 3}}", evaluate.Failed, "atLeast: there are 2 instead of at least 3: it has eu1, eu2", nil},
		{"PT3", eu + "expect: {selected: {atMost: 1}}", evaluate.Failed, "atMost: there are 2 instead of at most 1", nil},
		{"PT3", eu + "expect: {selected: {every: {matchLabels: {region: eu}}, none: {matchLabels: {region: us}}}}", evaluate.Passed, "", nil},
		{"PT3", all + "expect: {selected: {every: {matchLabels: {region: eu}}}}", evaluate.Failed,
			"every: us1, which does not have the labels region=eu, is selected", nil},
		{"PT3", all + "expect: {selected: {none: {matchLabels: {region: us}}}}", evaluate.Failed,
			"none: us1, which has the labels region=us, is selected", nil},
		{"PT3", eu + "expect: {notSelected: {exactly: [eu3, us1, us2]}}", evaluate.Passed, "", nil},
		{"PT3", eu + "expect: {notSelected: {allOf: [eu1]}}", evaluate.Failed, "notSelected.allOf: eu1 is selected", nil},
		{"PT3", eu + "expect: {because: [{cluster: us1, stage: Predicate, clause: label region}, {cluster: eu3, stage: Rank}]}", evaluate.Passed,
			"", nil},
		{"PT3", eu + "expect: {because: [{cluster: us1, stage: Taint}]}", evaluate.Failed,
			"because[0].stage: us1 has the verdict Predicate instead of Taint", nil},
		{"PT3", eu + "expect: {because: [{cluster: us1, clause: zone}]}", evaluate.Failed,
			`because[0].clause: the reason for us1 does not contain "zone"`, nil},
		{"PT3",
			all + "expect: {counts: [{topology: region, values: {eu: {exactly: 3}, us: {atMost: 2}}, each: {atLeast: 2}, distinct: {exactly: 2}}]}",
			evaluate.Passed, "", nil},
		{"PT3", all + "expect: {counts: [{topology: zone, topologyType: Claim, each: {exactly: 1}}]}", evaluate.Passed, "", nil},
		{"PT3", all + "expect: {counts: [{topology: region, each: {atMost: 2}}]}", evaluate.Failed,
			"counts[0].each.atMost: there are 3 instead of at most 2: label region eu selects eu1, eu2, eu3", nil},
		{"PT3", groups + "expect: {groups: [{name: canary, clusters: {exactly: [us1, us2]}}, {name: ''}]}", evaluate.Passed, "", nil},
		{"PT3", groups + "expect: {groups: [{name: ''}, {name: canary}]}", evaluate.Failed,
			`groups: the decision groups are ["canary" ""] instead of ["" "canary"]`, nil},
		{"PT3", groups + "expect: {groups: [{name: canary, clusters: {allOf: [eu1]}}, {name: ''}]}", evaluate.Failed,
			"groups[0].clusters.allOf: eu1 is not in the group", nil},
		{"PT3", eu + "expect: {order: [eu1, eu3]}", evaluate.Passed, "", nil},
		{"PT3", eu + "expect: {order: [eu3, eu1]}", evaluate.Failed, "order[1]: eu1 comes before eu3: rank 1", nil},
		{"PT3", eu + "expect: {order: [us1]}", evaluate.Failed, "order[0]: us1 has no rank: predicate 1", nil},
		{"PT3", eu + "expect: {satisfied: false}", evaluate.Failed, "satisfied: it is true: 2 clusters are selected", nil},

		{"PT4", "objects: {placement: a/eux}, expect: {satisfied: true}", evaluate.Errored,
			"spec.objects.placement: there is no Placement a/eux; did you mean a/eu", nil},
		{"PT4", "objects: {placement: a/off}, expect: {satisfied: true}", evaluate.Errored,
			"the hub schedules no such Placement: the annotation", nil},
		{"PT4", "objects: {placements: {selector: {matchLabels: {tier: gold}}}}, expect: {satisfied: true}", evaluate.Errored,
			"there is no such Placement", nil},
		{"PT4", eu + "expect: {selected: {noneOf: [eu11]}}", evaluate.Errored, "noneOf: there is no ManagedCluster eu11; did you mean", nil},
		{"PT4", eu + "expect: {selected: {none: {matchLabels: {regoin: us}}}}", evaluate.Errored,
			"none: there is no ManagedCluster with the label regoin; did you mean region?", nil},
		{"PT4", eu + "expect: {selected: {none: {matchLabels: {region: usa}}}}", evaluate.Errored,
			"none: there is no ManagedCluster with the label region usa; did you mean us?", nil},
		{"PT4", eu + "expect: {selected: {every: {matchExpressions: [{key: region, operator: NotIn, values: [us, ap]}]}}}", evaluate.Errored,
			"every: there is no ManagedCluster with the label region ap", nil},
		{"PT4", eu + "expect: {counts: [{topology: region, values: {eux: {exactly: 0}}}]}", evaluate.Errored,
			"counts[0].values.eux: there is no", nil},
		{"PT4", eu + "expect: {counts: [{topology: region, topologyType: Claim, each: {exactly: 0}}]}", evaluate.Errored,
			"there is no ManagedCluster with the claim region", nil},
		{"PT4", eu + "when: {lost: {clusters: [eu9]}}, expect: {satisfied: true}", evaluate.Errored,
			"spec.when.lost.clusters[0]: there is no ManagedCluster eu9", nil},
		{"PT4", eu + "when: {lost: {topology: city}}, expect: {satisfied: true}", evaluate.Errored,
			"spec.when.lost: no cluster has the label city", nil},
		{"PT4", eu + "when: {deleted: {any: 6}}, expect: {satisfied: true}", evaluate.Errored,
			"asks for combinations of 6 clusters, and there are 5", nil},
		{"PT4", eu + "when: {changed: [{remove: eu9}]}, expect: {satisfied: true}", evaluate.Errored,
			"spec.when.changed[0]: remove eu9: there is no ManagedCluster eu9", nil},
		{"PT4", "objects: {placement: a/broken}, expect: {selected: {atMost: 0}}", evaluate.Failed, "spec.objects: it is misconfigured", nil},
		{"PT4", "objects: {federated: Deployment.apps/a/web}, expect: {selected: {atLeast: 0}}", evaluate.Errored,
			"there is no object that is delivered", nil},
		{"PT4", "objects: {workload: Pod/a/web}, expect: {class: ''}", evaluate.Errored, "there is no workload Pod/a/web", nil},
		{"PT4", "objects: {clusterRequest: a/web}, expect: {grant: {cluster: ''}}", evaluate.Errored, "there is no ClusterRequest a/web", nil},

		{"PT6", eu + "when: {lost: {clusters: [eu1]}}, expect: {selected: {exactly: [eu2, eu3]}, moves: {exactly: 1}, heldByBudget: false}",
			evaluate.Passed, "", nil},
		{"PT6", eu + "when: {lost: {clusters: [eu1]}}, expect: {because: [{cluster: eu1, stage: Taint, clause: unreachable}]}", evaluate.Passed,
			"", nil},
		{"PT6", eu + "when: {deleted: {clusters: [eu1]}}, expect: {selected: {exactly: [eu2, eu3]}}", evaluate.Passed, "", nil},
		{"PT6", "objects: {placement: a/patient}, when: {lost: {clusters: [eu1]}}, expect: {selected: {exactly: [eu2]}}", evaluate.Passed, "", nil},
		{"PT6", "objects: {placement: a/forever}, when: {lost: {clusters: [eu1]}}, expect: {selected: {exactly: [eu1]}, moves: {exactly: 0}}",
			evaluate.Passed, "", nil},
		{"PT7", eu + "when: {lost: {any: 1}}, expect: {selected: {exactly: [eu1, eu2]}}", evaluate.Failed,
			"when lose eu1: spec.expect.selected.exactly: eu1 is not selected: taint", nil},
		{"PT7", eu + "when: {lost: {any: 1}}, expect: {satisfied: true, moves: {atMost: 1}}", evaluate.Passed, "", nil},
		{"PT7", eu + "when: {lost: {any: 2}}, expect: {satisfied: true}", evaluate.Failed, "when lose eu1 and lose eu2: spec.expect.satisfied", nil},
		{"PT7", us + "when: {lost: {topology: region}}, expect: {selected: {atLeast: 2}}", evaluate.Passed, "", nil},
		{"PT8", us + "when: {lost: {topology: region}}, expect: {heldByBudget: false}", evaluate.Failed,
			"when lose us1 and lose us2: spec.expect.heldByBudget: the removal budget holds clusters: us1, us2", nil},
		{"PT8", us + "when: {lost: {clusters: [us1]}}, expect: {heldByBudget: true}", evaluate.Failed,
			"heldByBudget: the removal budget holds no cluster", nil},
		{"PT9", us + "when: {lost: {clusters: [us1]}}, expect: {moves: {atMost: 0}}", evaluate.Failed,
			"moves.atMost: there are 1 instead of at most 0: none joined, us1 left", nil},
		{"PT5", us + `when: {changed: [{label: "us1:region=eu"}]}, expect: {selected: {exactly: [us2]}, moves: {exactly: 1}}`, evaluate.Passed,
			"", nil},
		{"PT5", all + "when: {changed: [{drain: us1}, {remove: us2}]}, expect: {selected: {exactly: [eu1, eu2, eu3]}}", evaluate.Passed, "", nil},
		{"PT5",
			eu + `when: {changed: [{taint: "eu1:gpu=a100:NoSelect"}]}, ` +
				"expect: {because: [{cluster: eu1, stage: Taint}], notSelected: {allOf: [eu1]}}", evaluate.Passed, "", nil},
	})
}

func TestPT7Combinations(t *testing.T) {
	for _, test := range []struct {
		when      string
		tried, of uint64
		seeded    bool
	}{
		{"any: 1", 5, 5, false},
		{"any: 2", 10, 10, false},
		{"any: 2, limit: 4, seed: 7", 4, 10, true},
		{"random: 3, seed: 1", 1, 10, true},
		{"random: 3, limit: 10, seed: 1", 10, 10, true},
		{"topology: region", 2, 2, false},
		{"clusters: [eu1, us1]", 1, 1, false},
	} {
		spec := "objects: {placements: {}}, when: {deleted: {" + test.when + "}}, expect: {selected: {atLeast: 0}}"
		got := run(t, world(), spec).Cases[0].Situations
		if got == nil || got.Tried != test.tried || got.Of != test.of || (got.Seed != nil) != test.seeded {
			t.Errorf("PT7: %s: got %+v", test.when, got)
		}
	}
}

func TestPT11Interrupted(t *testing.T) {
	state, done := world(), make(chan struct{})
	close(done)
	state.Done = done
	results := run(t, state, "objects: {placement: a/eu}, expect: {satisfied: true}",
		"objects: {placement: a/eu}, when: {lost: {any: 1}}, expect: {satisfied: true}")
	if results.Summary.Interrupted != 2 {
		t.Errorf("PT11: got %+v", results)
	}
}

func TestPT12Coverage(t *testing.T) {
	state := world()
	p := state.Placements[0].(*clusterv1beta1.Placement)
	p.Spec.Tolerations = []clusterv1beta1.Toleration{{Key: "gpu", Operator: clusterv1beta1.TolerationOpExists}, {Key: "edge",
		Operator: clusterv1beta1.TolerationOpExists}}
	p.Spec.Predicates[0].RequiredClusterSelector.LabelSelector.MatchLabels[clusterv1beta2.ClusterSetLabel] = "all"
	p.Spec.PrioritizerPolicy.Configurations = []clusterv1beta1.PrioritizerConfig{{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: "AddOn", AddOn: &clusterv1beta1.AddOnScore{ResourceName: "cost", ScoreName: "euro"}},
		Weight:          2,
	}}
	state.Clusters[0].Spec.Taints = []clusterv1.Taint{{Key: "gpu", Effect: clusterv1.TaintEffectNoSelect}}
	results := runIn(t, evaluate.World{State: state, Now: noon, Coverage: true}, "objects: {placement: a/eu}, expect: {satisfied: true}")
	if results.Coverage == nil || len(results.Coverage.Placements) != 1 {
		t.Fatalf("PT12: got %+v", results)
	}
	got := strings.Join(results.Coverage.Placements[0].Findings, "\n")
	for _, want := range []string{
		"clusterset In [all]: all 5 clusters in scope meet it", "toleration 2, edge: it tolerates no taint",
		"prioritizer AddOn/cost/euro with weight 2: all 3 feasible",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("PT12: %q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "region") || strings.Contains(got, "gpu") {
		t.Errorf("PT12: what decides is in\n%s", got)
	}
}
