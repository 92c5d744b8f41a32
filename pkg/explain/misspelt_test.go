// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
`, cluster.name, cluster.set, cluster.region)
	}
	text.WriteString("---\n" + placementHead + "metadata: {name: p, namespace: ns}\nspec: " + spec + "\n")
	return text.String()
}

func TestMisspeltValues(t *testing.T) {
	selecting := func(selector string) string { return "{predicates: [{requiredClusterSelector: " + selector + "}]}" }
	for _, tc := range []struct {
		reason, spec string
		want         []string
	}{
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
