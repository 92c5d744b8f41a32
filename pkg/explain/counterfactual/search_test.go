// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// withSpec returns a Placement of v1beta1 in a namespace of the test State, with the given spec.
func withSpec(namespace, spec string) string {
	return "\n---\napiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n" +
		"metadata: {name: asked, namespace: " + namespace + "}\nspec: " + spec + "\n"
}

func predicate(selector string) string { return "{requiredClusterSelector: " + selector + "}" }

func expression(cel string) string {
	return withSpec("team-a", `{predicates: [`+predicate(`{celSelector: {celExpressions: ["`+cel+`"]}}`)+`]}`)
}

// Every kind of counterfactual is found, the nearest first.
func TestSearchFindsTheNearest(t *testing.T) {
	labels := func(selector string) string {
		return withSpec("team-a", "{predicates: ["+predicate("{labelSelector: "+selector+"}")+"]}")
	}
	older := func(spec string) string {
		return strings.Replace(withSpec("team-a", spec), clusterv1beta1.GroupVersion.String(), placementv1alpha1.GroupVersion.String(), 1)
	}
	for _, tc := range []struct {
		reason, placement, cluster string
		want                       []string
	}{
		{"a selected cluster needs nothing", withSpec("team-a", "{}"), "eu1", nil},
		{"a label", labels("{matchLabels: {region: eu}}"), "us2", []string{"would be selected if label region were eu"}},
		{
			"of several values one is enough to be told", labels("{matchExpressions: [{key: region, operator: In, values: [ap, eu]}]}"), "us2",
			[]string{"would be selected if label region were ap"},
		},
		{
			"a label that must not be there", labels("{matchExpressions: [{key: hold, operator: DoesNotExist}]}"), "us2",
			[]string{"would be selected if label hold were not set"},
		},
		{
			"a value that it must not have", labels("{matchExpressions: [{key: region, operator: NotIn, values: [us]}]}"), "us2",
			[]string{"would be selected if label region were not set"},
		},
		{
			"any value: one that others have", labels("{matchExpressions: [{key: hold, operator: Exists}]}"), "eu1",
			[]string{"would be selected if label hold were yes"},
		},
		{
			"any value: nobody has one", labels("{matchExpressions: [{key: rack, operator: Exists}]}"), "eu1",
			[]string{"would be selected if label rack were true"},
		},
		{
			"a claim",
			withSpec("team-a", "{predicates: ["+
				predicate(`{claimSelector: {matchExpressions: [{key: version, operator: In, values: ["1.31"]}]}}`)+"]}"),
			"eu2", []string{"would be selected if claim version were 1.31"},
		},
		{
			"a claim that must not be there",
			withSpec("team-a", "{predicates: ["+predicate(`{claimSelector: {matchExpressions: [{key: version, operator: DoesNotExist}]}}`)+"]}"),
			"eu2", []string{"would be selected if claim version were not set"},
		},
		{
			"two clauses of one predicate", labels("{matchLabels: {region: eu, env: prod}}"), "us2",
			[]string{"would be selected if label env were prod and label region were eu"},
		},
		{
			"one clause of one predicate is nearer than two of another",
			withSpec("team-a", "{predicates: ["+predicate("{labelSelector: {matchLabels: {region: eu, env: prod}}}")+", "+
				predicate("{labelSelector: {matchLabels: {zone: a}}}")+"]}"),
			"us2", []string{"would be selected if label zone were a"},
		},
		{"three are too many", labels("{matchLabels: {region: eu, env: prod, zone: a}}"), "us2", nil},
		{"a taint", withSpec("team-a", "{}"), "us1", []string{"needs toleration gpu=a100:NoSelect"}},
		{"a taint in the older API", older("{}"), "us1", []string{"would be selected if taint gpu=a100:NoSelect were taken away"}},
		{
			"a label and a taint", labels("{matchLabels: {region: eu}}"), "us1",
			[]string{"would be selected if label region were eu, and needs toleration gpu=a100:NoSelect too"},
		},
		{
			"a set that is not bound", withSpec("team-a", "{}"), "e1", []string{
				"needs set edge bound to namespace team-a", "needs set global bound to namespace team-a",
				"would be selected if label cluster.open-cluster-management.io/clusterset were prod",
			},
		},
		{
			"a set that is not asked for", withSpec("team-b", "{clusterSets: [prod]}"), "e1", []string{
				"needs set edge in spec.clusterSets", "would be selected if label cluster.open-cluster-management.io/clusterset were prod",
			},
		},
		{
			"points or places", withSpec("team-a", "{numberOfClusters: 1, clusterSets: [prod]}"), "us2",
			[]string{"needs numberOfClusters 2", "needs 1 more point; then eu1 would leave"},
		},
		{
			"issue 26, P9: a label alone would take the place of another", withSpec("team-a", "{numberOfClusters: 1, predicates: ["+
				predicate("{labelSelector: {matchLabels: {region: us}}}")+"], prioritizerPolicy: {mode: Exact}}"), "eu1",
			[]string{
				"would be selected if label region were us, and needs numberOfClusters 2 too",
				"would be selected if label region were us; then us2 would leave",
			},
		},
		{
			"points do not outweigh taints to avoid",
			withSpec("team-a", `{numberOfClusters: 1, tolerations: [{key: gpu, operator: Exists}], predicates: [`+
				predicate("{labelSelector: {matchLabels: {env: prod}}}")+"]}"),
			"us1", []string{"needs numberOfClusters 3"},
		},
		{"no clusters wanted", withSpec("team-a", "{numberOfClusters: 0}"), "us2", []string{"needs numberOfClusters 2"}},
		{"what is being deleted", withSpec("team-a", "{}"), "gone", nil},
		{
			"CEL: a text in the expression", expression(`managedCluster.metadata.labels['region'] == 'ap'`), "eu1",
			[]string{
				"would be selected if label region were ap",
				"would be selected if CEL managedCluster.metadata.labels['region'] == 'ap' of predicate 1 were true",
			},
		},
		{
			"CEL: a value that others have", expression(`managedCluster.metadata.labels['region'].startsWith('e')`), "us2",
			[]string{
				"would be selected if label region were eu",
				"would be selected if CEL managedCluster.metadata.labels['region'].startsWith('e') of predicate 1 were true",
			},
		},
		{
			"CEL that reads something else", expression(`managedCluster.status.version.kubernetes == 'v1.31'`), "eu1",
			[]string{"would be selected if CEL managedCluster.status.version.kubernetes == 'v1.31' of predicate 1 were true"},
		},
		{
			"the place of another in its domain", older("{antiAffinity: {topologyKey: zone, topologyKeyType: Label}}"), "eu2",
			[]string{"would be selected if label zone were one that no other cluster has", "needs 201 more points; then eu1 would leave"},
		},
		{
			"no domain",
			withSpec("team-b", "{spreadPolicy: {spreadConstraints: [{topologyKey: zone, topologyKeyType: Label, maxSkew: 1, "+
				"whenUnsatisfiable: DoNotSchedule}]}}"),
			"e1", []string{"would be selected if label zone were b"},
		},
		{"a mistake has no answer", withSpec("team-a", "{prioritizerPolicy: {mode: Sometimes}}"), "us2", nil},
		{"nothing gets another name", older("{predicates: [{clusterName: us2}]}"), "eu1", nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			state := testState(t, tc.placement)
			key := newer("team-a", "asked")
			for _, placement := range state.Placements {
				if placement.GetName() == key.Name {
					key.Namespace = placement.GetNamespace()
				}
				if _, isOlder := placement.(*placementv1alpha1.Placement); isOlder && placement.GetName() == key.Name {
					key = inventory.NewPlacementKey(inventory.V1alpha1, key.Namespace, key.Name)
				}
			}

			var texts []string
			for _, counterfactual := range Search(state, key, tc.cluster, noon) {
				texts = append(texts, counterfactual.Text)
			}
			if diff := cmp.Diff(tc.want, texts); diff != "" {
				t.Errorf("counterfactuals (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSearchOfNoPlacementFindsNothing(t *testing.T) {
	if found := Search(testState(t), newer("team-a", "nosuch"), "eu1", noon); found != nil {
		t.Errorf("found %v", found)
	}
}

// A candidate that does not help is tried and not returned.
func TestWrongCandidatesAreNotReturned(t *testing.T) {
	state := testState(t)
	key := newer("team-b", "fussy")
	s := newSearch(state, key, "us1", noon)

	present, answered := s.Start(step{state: state})
	if !answered {
		t.Fatal("no answer")
	}
	candidates := s.candidates(present)
	if len(candidates) < 3 {
		t.Fatalf("only %d proposals", len(candidates))
	}

	helps, fails := s.One(present)
	if len(helps) != 0 || len(fails) == 0 {
		t.Errorf("%d of the proposals help alone, although the taint is not tolerated; %d were tried", len(helps), len(helps)+len(fails))
	}
	for _, counterfactual := range Search(state, key, "us1", noon) {
		if len(counterfactual.Changes) != 2 || !strings.Contains(counterfactual.Text, "toleration gpu=a100:NoSelect") {
			t.Errorf("%q leaves the taint out", counterfactual.Text)
		}
	}
}

func TestTheSearchIsBounded(t *testing.T) {
	state := testState(t)
	key := newer("team-b", "fussy")
	s := newSearch(state, key, "us1", noon)
	s.Left = 3
	if found := s.steps(); len(found) > 0 || s.Left != 0 {
		t.Errorf("found %d, and %d questions are left", len(found), s.Left)
	}
}
