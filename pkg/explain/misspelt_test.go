// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// misspeltFleet has two clusters in scope in eu-west, one in us-east, and one out of scope in eu-wst.
func misspeltFleet(spec string) string {
	var text strings.Builder
	text.WriteString(`apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: prod}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: prod, namespace: ns}
spec: {clusterSet: prod}
`)
	for _, cluster := range []struct{ name, set, region string }{
		{"a", "prod", "eu-west"}, {"b", "prod", "eu-west"}, {"c", "prod", "us-east"}, {"d", "secret", "eu-wst"},
	} {
		fmt.Fprintf(&text, `---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: %[1]s, labels: {cluster.open-cluster-management.io/clusterset: %[2]s, region: %[3]s}}
spec: {taints: [{key: %[2]s-upgrade, value: weekly, effect: NoSelect, timeAdded: "2026-01-01T00:00:00Z"}]}
status: {clusterClaims: [{name: place, value: %[3]s-1}], conditions: [], version: {}}
---
apiVersion: cluster.open-cluster-management.io/v1alpha1
kind: AddOnPlacementScore
metadata: {name: %[2]s-usage, namespace: %[1]s}
status: {scores: [{name: memory, value: 1}]}
`, cluster.name, cluster.set, cluster.region)
	}
	text.WriteString("---\n" + placementHead + "metadata: {name: p, namespace: ns}\nspec: " + spec + "\n")
	return text.String()
}

func TestMisspeltValues(t *testing.T) {
	selecting := func(selector string) string { return "{predicates: [{requiredClusterSelector: " + selector + "}]}" }
	scoring := func(object, score string) string {
		return fmt.Sprintf("{prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: "+
			"{type: AddOn, addOn: {resourceName: %s, scoreName: %s}}, weight: 1}]}, tolerations: [{operator: Exists}]}", object, score)
	}
	for _, tc := range []struct {
		reason, spec string
		want         []string
	}{
		{
			"the key of a label", selecting("{labelSelector: {matchLabels: {regoin: eu-west}}}"),
			[]string{"no cluster in scope has label regoin; did you mean region (3 clusters)?"},
		},
		{
			"the key of a label that CEL reads", selecting(`{celSelector: {celExpressions: ['"regoin" in managedCluster.metadata.labels && ` +
				`managedCluster.metadata.labels["regoin"] == "eu-west"']}}`),
			[]string{"no cluster in scope has label regoin; did you mean region (3 clusters)?"},
		},
		{
			"the name of a claim", selecting("{claimSelector: {matchExpressions: [{key: plaec, operator: In, values: [eu-west-1]}]}}"),
			[]string{"no cluster in scope has claim plaec; did you mean place (3 clusters)?"},
		},
		{
			"a decision group", "{tolerations: [{operator: Exists}], decisionStrategy: {groupStrategy: {decisionGroups: " +
				"[{groupName: first, groupClusterSelector: {labelSelector: {matchLabels: {region: eu-wst}}}}]}}}",
			[]string{"no cluster in scope has label region=eu-wst; did you mean eu-west (2 clusters)?"},
		},
		{
			"a label", selecting("{labelSelector: {matchExpressions: [{key: region, operator: In, values: [eu-wst]}]}}"),
			[]string{"no cluster in scope has label region=eu-wst; did you mean eu-west (2 clusters)?"},
		},
		{
			"matchLabels", selecting("{labelSelector: {matchLabels: {region: us-eats}}}"),
			[]string{"no cluster in scope has label region=us-eats; did you mean us-east (1 cluster)?"},
		},
		{
			"a claim", selecting("{claimSelector: {matchExpressions: [{key: place, operator: In, values: [eu-wst-1]}]}}"),
			[]string{"no cluster in scope has claim place=eu-wst-1; did you mean eu-west-1 (2 clusters)?"},
		},
		{"another value fits", selecting("{labelSelector: {matchExpressions: [{key: region, operator: In, values: [eu-wst, us-east]}]}}"), nil},
		{"another number is none", selecting("{claimSelector: {matchExpressions: [{key: place, operator: In, values: [eu-west-2]}]}}"), nil},
		{"nothing is similar", selecting("{labelSelector: {matchLabels: {region: antarctica}}}"), nil},
		{"a cluster out of scope is not named", selecting("{labelSelector: {matchLabels: {region: eu-wsst-2}}}"), nil},
		{
			"the key of a toleration", "{tolerations: [{key: prod-upgrad, operator: Exists}]}",
			[]string{"no cluster in scope has taint prod-upgrad; did you mean prod-upgrade (3 clusters)?"},
		},
		{
			"the value of a toleration", "{tolerations: [{key: prod-upgrade, value: weakly}]}",
			[]string{"no cluster in scope has taint prod-upgrade=weakly; did you mean weekly (3 clusters)?"},
		},
		{"a toleration that fits", "{tolerations: [{key: prod-upgrade, operator: Exists}, {key: prod-upgrad, operator: Exists}]}", nil},
		{
			"a label in CEL", selecting(`{celSelector: {celExpressions: ['managedCluster.metadata.labels["region"] in ["eu-wst", "eu-wset"]']}}`),
			[]string{"no cluster in scope has label region=eu-wset; did you mean eu-west (2 clusters)?"},
		},
		{
			"a claim in CEL",
			selecting("{celSelector: {celExpressions: ['managedCluster.status.clusterClaims.exists(c, " +
				`c.name == "place" && c.value == "eu-wst-1")']}}`),
			[]string{"no cluster in scope has claim place=eu-wst-1; did you mean eu-west-1 (2 clusters)?"},
		},
		{
			"a label in CEL that some have",
			selecting(`{celSelector: {celExpressions: ['managedCluster.metadata.labels["region"] == "us-east"']}}`), nil,
		},
		{
			"scores in CEL", selecting(`{celSelector: {celExpressions: ['managedCluster.scores("prd-usage").size() > 0']}}`),
			[]string{"no cluster in scope has AddOnPlacementScore prd-usage; did you mean prod-usage (3 clusters)?"},
		},
		{
			"the object of a score", scoring("prd-usage", "memory"),
			[]string{"no cluster in scope has AddOnPlacementScore prd-usage; did you mean prod-usage (3 clusters)?"},
		},
		{
			"a score", scoring("prod-usage", "memroy"),
			[]string{"no cluster in scope has score prod-usage/memroy; did you mean memory (3 clusters)?"},
		},
		{"a score that fits", scoring("prod-usage", "memory"), nil},
		{"an object out of scope is not named", scoring("secre-usage", "memory"), nil},
		{
			"a set", "{clusterSets: [prd]}",
			[]string{"ManagedClusterSet prd does not exist: correct spec.clusterSets, or create it; did you mean prod?"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			state := read(t, misspeltFleet(tc.spec))
			if diff := cmp.Diff(tc.want, state.Explain(state.Evaluate(noon, nil)[0], false).Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// A comparison has the same notes.
func TestMisspeltValuesOfComparisons(t *testing.T) {
	const want = "no cluster in scope has label region=eu-wst; did you mean eu-west (2 clusters)?"
	before := read(t, misspeltFleet("{tolerations: [{operator: Exists}]}"))
	after := *before
	after.Placements = read(t, misspeltFleet("{tolerations: [{operator: Exists}], "+
		"predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {region: eu-wst}}}}]}")).Placements
	for _, of := range [][]explain.Difference{
		explain.Diff(before, &after, nil, noon).Placements, explain.NewWhatIf(before, &after, nil, noon).Placements,
	} {
		if len(of) != 1 || !slices.Contains(of[0].Notes, want) {
			t.Errorf("%+v has no note %q", of, want)
		}
	}
}
