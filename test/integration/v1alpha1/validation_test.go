// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const labelKeyPattern = `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$`

// aLabelKey is what a message says the key of a label is.
const aLabelKey = `is not the key of a label: an optional DNS subdomain and "/", ` +
	`then at most 63 letters, digits, "-", "_" or ".", beginning and ending with a letter or digit`

// aClusterName is what a message says the name of a cluster is.
const aClusterName = `must be empty or the name of a ManagedCluster: lower case letters, digits, "-" and ".", ` +
	`each part between dots beginning and ending with a letter or digit`

var _ = DescribeTable("P12: the API server takes a Placement",
	func(ctx SpecContext, spec string) {
		Expect(complaint(ctx, "Placement", "p", "spec: "+spec)).To(BeEmpty())
	},
	Entry("that asks for everything", `{}`),
	Entry("that asks for nothing", `{numberOfClusters: 0}`),
	Entry("of sets", `{clusterSets: [prod, staging]}`),
	Entry("with empty parts", `{predicates: [{}, {labelSelector: {}, clusterName: "", claimSelector: {}}], antiAffinity: {}}`),
	Entry("with 32 predicates", `{predicates: [`+strings.Repeat("{clusterName: eu1.example.com},", 32)+`]}`),
	Entry("with the longest cluster name", `{predicates: [{clusterName: `+strings.Repeat("a", 253)+`}]}`),
	Entry("with every operator", `{predicates: [{
		labelSelector: {matchLabels: {region: eu, empty: ""}, matchExpressions: [
			{key: a, operator: In, values: [x, ""]}, {key: example.com/A_b.c, operator: NotIn, values: [z]},
			{key: c, operator: Exists}, {key: d, operator: DoesNotExist, values: []}]},
		claimSelector: {matchClaims: {region: eu}, matchExpressions: [
			{key: a, operator: In, values: [x]}, {key: b, operator: NotIn, values: [z]},
			{key: c, operator: Exists}, {key: d, operator: DoesNotExist}]}}]}`),
	Entry("with claims that no label may be (docs/spec/differences.md C1)", `{predicates: [{claimSelector: {
		matchClaims: {"role of/the node": "arn:aws:iam::123456789012:role/`+strings.Repeat("x", 100)+`"},
		matchExpressions: [{key: "-x-", operator: In, values: ["https://api.example.com:6443/?a=b&c"]}]}}]}`),
	Entry("that spreads over a label", `{antiAffinity: {topologyKey: topology.kubernetes.io/zone, topologyKeyType: Label}}`),
	Entry("that spreads over a claim of any name", `{antiAffinity: {topologyKey: "the zone: `+strings.Repeat("x", 306)+`", topologyKeyType: Claim}}`),
	Entry("with the longest label key that topologyKey holds",
		`{antiAffinity: {topologyKey: `+strings.Repeat("a", 252)+`/`+strings.Repeat("b", 63)+`, topologyKeyType: Label}}`),
)

var _ = DescribeTable("P12: the API server rejects a Placement",
	func(ctx SpecContext, spec string, want ...string) {
		Expect(complaint(ctx, "Placement", "p", "spec: "+spec)).To(Equal(want))
	},
	Entry("with a negative count", `{numberOfClusters: -1}`,
		`spec.numberOfClusters: Invalid value: -1: spec.numberOfClusters in body should be greater than or equal to 0`),
	Entry("with 33 predicates", `{predicates: [`+strings.Repeat("{},", 33)+`]}`,
		`spec.predicates: Too many: 33: must have at most 32 items`),
	Entry("with a cluster name that is none", `{predicates: [{}, {clusterName: EU_1}]}`,
		`spec.predicates[1].clusterName: Invalid value: "EU_1": `+aClusterName),
	Entry("with too long a cluster name", `{predicates: [{clusterName: `+strings.Repeat("a", 254)+`}]}`,
		`spec.predicates[0].clusterName: Too long: may not be more than 253 bytes`),
	Entry("with a topologyKey alone", `{antiAffinity: {topologyKey: zone}}`,
		`spec.antiAffinity.topologyKeyType: Required value: must be Label or Claim when topologyKey is given, which is "zone"`),
	Entry("with a topologyKeyType alone", `{antiAffinity: {topologyKeyType: Claim}}`,
		`spec.antiAffinity.topologyKey: Required value: must name a label or claim when topologyKeyType is given, which is Claim`),
	Entry("with an unknown topologyKeyType", `{antiAffinity: {topologyKey: zone, topologyKeyType: Taint}}`,
		`spec.antiAffinity.topologyKeyType: Unsupported value: "Taint": supported values: "Label", "Claim"`),
	Entry("with an empty topologyKey", `{antiAffinity: {topologyKey: "", topologyKeyType: Claim}}`,
		`spec.antiAffinity.topologyKey: Invalid value: "": spec.antiAffinity.topologyKey in body should be at least 1 chars long`),
	Entry("with too long a topologyKey", `{antiAffinity: {topologyKey: `+strings.Repeat("a", 317)+`, topologyKeyType: Claim}}`,
		`spec.antiAffinity.topologyKey: Too long: may not be more than 316 bytes`),
	Entry("with a topologyKey that no label has", `{antiAffinity: {topologyKey: "my zone", topologyKeyType: Label}}`,
		`spec.antiAffinity.topologyKey: Invalid value: "my zone" `+aLabelKey),
	Entry("with a topologyKey of too long a name", `{antiAffinity: {topologyKey: `+strings.Repeat("a", 64)+`, topologyKeyType: Label}}`,
		`spec.antiAffinity.topologyKey: Invalid value: "`+strings.Repeat("a", 64)+`" `+aLabelKey),
	Entry("with a topologyKey of too long a prefix",
		`{antiAffinity: {topologyKey: `+strings.Repeat("a", 254)+`/b, topologyKeyType: Label}}`,
		`spec.antiAffinity.topologyKey: Invalid value: "`+strings.Repeat("a", 254)+`/b" `+aLabelKey),
	Entry("with a label value that no label has", `{predicates: [{labelSelector: {matchLabels: {region: "e u"}}}]}`,
		`spec.predicates[0].labelSelector.matchLabels.region: Invalid value: "e u": `+
			`spec.predicates[0].labelSelector.matchLabels.region in body should match '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$'`),
	Entry("with too long a label value", `{predicates: [{labelSelector: {matchLabels: {region: `+strings.Repeat("a", 64)+`}}}]}`,
		`spec.predicates[0].labelSelector.matchLabels.region: Too long: may not be more than 63 bytes`),
	Entry("with an empty label key", `{predicates: [{labelSelector: {matchLabels: {"": eu}}}]}`,
		`spec.predicates[0].labelSelector.matchLabels: Invalid value: has a key that is not the key of a label: `+
			`empty, or longer than 317 characters`),
	Entry("with an unknown operator of a label", `{predicates: [{labelSelector: {matchExpressions: [{key: a, operator: Gt, values: ["1"]}]}}]}`,
		`spec.predicates[0].labelSelector.matchExpressions[0].operator: Unsupported value: "Gt": `+
			`supported values: "In", "NotIn", "Exists", "DoesNotExist"`),
	Entry("with an unknown operator of a claim", `{predicates: [{claimSelector: {matchExpressions: [{key: a, operator: in, values: [x]}]}}]}`,
		`spec.predicates[0].claimSelector.matchExpressions[0].operator: Unsupported value: "in": `+
			`supported values: "In", "NotIn", "Exists", "DoesNotExist"`),
	Entry("with In or NotIn without values", `{predicates: [{
		labelSelector: {matchExpressions: [{key: a, operator: In}]},
		claimSelector: {matchExpressions: [{key: b, operator: NotIn, values: []}]}}]}`,
		`spec.predicates[0].claimSelector.matchExpressions[0].values: Required value: operator NotIn needs values to compare "b" with`,
		`spec.predicates[0].labelSelector.matchExpressions[0].values: Required value: operator In needs values to compare "a" with`),
	Entry("with values of Exists or DoesNotExist", `{predicates: [{
		labelSelector: {matchExpressions: [{key: a, operator: DoesNotExist, values: [x]}]},
		claimSelector: {matchExpressions: [{key: b, operator: Exists, values: [z]}]}}]}`,
		`spec.predicates[0].claimSelector.matchExpressions[0].values: Forbidden: operator Exists of "b" takes no values: `+
			`remove them, or use In or NotIn`,
		`spec.predicates[0].labelSelector.matchExpressions[0].values: Forbidden: operator DoesNotExist of "a" takes no values: `+
			`remove them, or use In or NotIn`),
	Entry("with a label key that is none", `{predicates: [{labelSelector: {matchExpressions: [{key: "a b", operator: Exists}]}}]}`,
		`spec.predicates[0].labelSelector.matchExpressions[0].key: Invalid value: "a b": `+
			`spec.predicates[0].labelSelector.matchExpressions[0].key in body should match '`+labelKeyPattern+`'`),
	Entry("with a label key of too long a prefix",
		`{predicates: [{labelSelector: {matchExpressions: [{key: `+strings.Repeat("a", 254)+`/b, operator: Exists}]}}]}`,
		`spec.predicates[0].labelSelector.matchExpressions[0].key: Invalid value: "`+strings.Repeat("a", 254)+`/b" is not the key of a label: `+
			`at most 253 characters may stand before its "/"`),
	Entry("with a listed value that no label has",
		`{predicates: [{labelSelector: {matchExpressions: [{key: a, operator: In, values: [x, "y/z"]}]}}]}`,
		`spec.predicates[0].labelSelector.matchExpressions[0].values[1]: Invalid value: "y/z": `+
			`spec.predicates[0].labelSelector.matchExpressions[0].values[1] in body should match '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$'`),
	Entry("with an empty name in matchClaims", `{predicates: [{claimSelector: {matchClaims: {"": x}}}]}`,
		`spec.predicates[0].claimSelector.matchClaims: Invalid value: has the empty claim name, which no claim has: `+
			`name the claim or remove the entry`),
	Entry("with an empty claim key", `{predicates: [{claimSelector: {matchExpressions: [{key: "", operator: Exists}]}}]}`,
		`spec.predicates[0].claimSelector.matchExpressions[0].key: Invalid value: "": `+
			`spec.predicates[0].claimSelector.matchExpressions[0].key in body should be at least 1 chars long`),
)

var _ = Describe("P13: the name of a Placement", func() {
	It("labels the decisions", func(ctx SpecContext) {
		Expect(complaint(ctx, "Placement", strings.Repeat("p", 63), "spec: {}")).To(BeEmpty())
		Expect(complaint(ctx, "Placement", strings.Repeat("p", 64), "spec: {}")).To(Equal([]string{
			`<nil>: Invalid value: metadata.name has more than 63 characters, which do not fit into the label of its PlacementDecisions`,
		}))
	})
})

var _ = DescribeTable("P13: the API server looks at a PlacementDecision",
	func(ctx SpecContext, content string, want ...string) {
		Expect(complaint(ctx, "PlacementDecision", "p-decision-1", content)).To(HaveExactElements(want))
	},
	Entry("that is empty", `decisions: []`),
	Entry("that is full", `decisions: [`+strings.Repeat("{clusterName: eu1, available: true},", 100)+`]`),
	Entry("that is too long", `decisions: [`+strings.Repeat("{clusterName: eu1, available: true},", 101)+`]`,
		`decisions: Too many: 101: must have at most 100 items`),
	Entry("without decisions", `{}`, `decisions: Required value`),
	Entry("with decisions below spec, as the early example has them", `spec: {decisions: []}`, `decisions: Required value`),
	Entry("with half a decision", `decisions: [{clusterName: eu1}, {available: false}]`,
		`decisions[0].available: Required value`, `decisions[1].clusterName: Required value`),
)

// complaint asks the API server, without storing anything, what is wrong with an object of ours: sorted, one entry for each mistake.
func complaint(ctx context.Context, kind, name, content string) []string {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(strings.ReplaceAll(content, "\t", " ")), &object.Object)).To(Succeed())

	object.SetGroupVersionKind(placementv1alpha1.GroupVersion.WithKind(kind))
	object.SetNamespace("default")
	object.SetName(name)
	found := complaints(suite.Client.Create(ctx, object, client.DryRunAll))
	for i := range found {
		found[i] = ofOlderVersions.Replace(found[i])
	}
	return found
}

// ofOlderVersions replaces what an older API server says of a value that a rule refuses, its type, with what a newer one says: the string, and
// nothing of an object.
var ofOlderVersions = strings.NewReplacer(`Invalid value: "object": `, `Invalid value: `,
	`Invalid value: "string": `+aClusterName, `Invalid value: "EU_1": `+aClusterName)
