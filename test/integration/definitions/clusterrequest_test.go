// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"fmt"
	"strings"
)

// The objects of one test name each other as little as possible: the definitions do not look at other objects.
const (
	recordedPurpose = `
apiVersion: cluster.openmcp.cloud/v1alpha1
kind: Purpose
metadata: {name: mcp}
spec:
  dedicated: true
  traits:
  - name: cluster.openmcp.cloud/workerless
    optional: true
`
	recordedProvider = `
apiVersion: cluster.openmcp.cloud/v1alpha1
kind: ClusterProvider
metadata: {name: gardener}
spec:
  package: example.com/cluster-provider-gardener:v1
  packagePullSecret:
  - name: registry
status:
  ready: true
  reason: Running
  message: the provider runs
  conditions:
  - {type: ProviderReady, status: "True", reason: Running, message: the provider runs, lastTransitionTime: "2026-01-01T00:00:00Z"}
  profiles:
  - name: aws
    providerConfigRef: {name: gardener-aws}
    supportedVersions:
    - version: 1.19.1
      deprecated: true
    - version: 1.20.3
    supportedTraits:
    - trait: infrastructure/vendor/aws
    - name: kubernetes.io/apis/compute
`
	sharedCluster = `
apiVersion: cluster.openmcp.cloud/v1alpha1
kind: Cluster
metadata: {name: shared, namespace: default}
spec:
  clusterProviderRef: {name: gardener, profile: aws}
  clusterConfigRef: {apiGroup: gardener.clusters.openmcp.cloud, kind: ClusterConfig, name: small}
  kubernetes: {version: 1.20.3}
  purposes: [platform, workload]
  tenancy: Shared
status:
  phase: Succeeded
  endpoints: [{name: apiserver-external, url: "https://192.0.2.1:6443"}, {name: apiserver-internal, url: "https://10.0.0.1"}]
  managedCluster: default-shared-abcdef
  providerStatus: {shoot: {name: x, deep: [1]}}
`
	grant = `
apiVersion: cluster.openmcp.cloud/v1alpha1
kind: ClusterRequestGrant
metadata: {name: r, namespace: default}
spec:
  clusterRef: {name: shared, namespace: default}
  prefix: foo-
  cluster:
    clusterProviderRef: {name: gardener, profile: aws}
    clusterConfigRef: {apiGroup: g, kind: K, name: small}
    kubernetes: {version: 1.20.3}
    tenancy: Shared
    purposes: [platform]
    labels: {a: b}
    annotations: {c: d}
status:
  observedGeneration: 1
  lastReconcileTime: "2026-01-01T00:00:00Z"
  request:
    metadata: {name: r, namespace: default}
    spec: {purposes: [platform], traits: [{anyOf: [{trait: a}, {name: b, negated: true}], optional: true}], prefix: foo-}
`
	fullAccessRequest = `
apiVersion: cluster.openmcp.cloud/v1alpha1
kind: AccessRequest
metadata: {name: full, namespace: default}
spec:
  requestRef: {name: r, namespace: other}
  permissions:
  - {name: reader, namespace: ns, createNamespace: false, rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]}
  - {rules: [{nonResourceURLs: [/version], verbs: [get]}]}
  roleRefs: [{kind: ClusterRole, name: view}, {kind: ClusterRole, name: edit, namespace: ns}, {kind: Role, name: r, namespace: ns}]
  ttl: 1h30m
  requester: {username: jane, uid: "1", groups: [a], extra: {scopes: [x]}}
status:
  reason: Success
  status: Granted
  clusterRef: {name: shared, namespace: default}
  secretRef: {name: full.kubeconfig}
`
	providerConfig = `
apiVersion: loopback.cluster.openmcp.cloud/v1alpha1
kind: ProviderConfig
metadata: {name: local}
spec:
  providerRef: {name: loopback}
  profiles: [{name: small, versions: [{version: 1.36.3}], traits: [{trait: infrastructure/local}]}]
`
)

func openmcp(kind, name, spec string) string {
	return fmt.Sprintf("apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: %s\nmetadata: {name: %s, namespace: default}\nspec: %s", kind, name, spec)
}

func clusterScoped(kind, name, spec string) string {
	return fmt.Sprintf("apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: %s\nmetadata: {name: %s}\nspec: %s", kind, name, spec)
}

func clusterRequestChecks() []check {
	request := func(name, spec string) string { return openmcp("ClusterRequest", name, spec) }
	purpose := func(name, spec string) string { return clusterScoped("Purpose", name, spec) }
	cluster := func(name, spec string) string {
		return openmcp("Cluster", name, "{clusterProviderRef: {name: a, profile: b}"+spec+"}")
	}
	access := func(name, spec string) string { return openmcp("AccessRequest", name, spec) }
	traits := func(items string) string { return "{purposes: [a], traits: [" + items + "]}" }
	const oneName = "needs exactly one of trait, name and anyOf"
	checks := []check{
		{reason: "cluster-request C46: a Purpose as the design record prints it", object: recordedPurpose},
		{reason: "cluster-request C46: a ClusterProvider as the design record prints it", object: recordedProvider},
		{reason: "cluster-request 4.1.1: a Cluster with every field", object: sharedCluster},
		{reason: "cluster-request 4.1.1: a grant is created with its status", object: grant},
		{reason: "cluster-request 4.1.1: an AccessRequest with every field", object: fullAccessRequest},
		{reason: "cluster-request 4.4: the profiles of the loopback provider", object: providerConfig},
		{reason: "cluster-request 4.1.1: a request with every field",
			object: request("full", "{kubernetes: {version: '1.20'}, dedicated: false, "+
				"purposes: [a, b.c], traits: [{trait: x, optional: true, negated: true}, {anyOf: [{trait: b}, {name: c, negated: true}]}], "+
				"prefix: foo-, waitForClusterDeletion: false}")},
		{reason: "cluster-request C16: a request without purposes", object: request("a", "{purposes: []}"),
			refusals: []string{"spec.purposes", "at least 1"}},
		{reason: "cluster-request C16: a purpose twice", object: request("a", "{purposes: [a, b, a]}"),
			refusals: []string{"spec.purposes[2]: Duplicate value"}},
		{reason: "cluster-request C17: the spec of a request is immutable", object: request("b", "{purposes: [a]}"),
			update: `{"spec":{"dedicated":true}}`, refusals: []string{"is immutable: create another ClusterRequest"}},
		{reason: "cluster-request C17: a request with as much as is allowed, whose labels change", object: request("most", most()),
			update: `{"metadata":{"labels":{"a":"b"}}}`},
		{reason: "cluster-request C46: an item with trait", object: request("c1", traits("{trait: a}"))},
		{reason: "cluster-request C46: an item with name", object: request("c2", traits("{name: a}"))},
		{reason: "cluster-request C46: an item with both", object: request("a", traits("{trait: a, name: a}")),
			refusals: []string{"spec.traits[0]", oneName}},
		{reason: "cluster-request C46: an item with neither", object: request("a", traits("{optional: true}")),
			refusals: []string{"spec.traits[0]", oneName}},
		{reason: "cluster-request 4.1.1: an item with trait and alternatives",
			object:   purpose("a", "{traits: [{trait: a, anyOf: [{trait: b}]}]}"),
			refusals: []string{"spec.traits[0]", oneName}},
		{reason: "cluster-request 4.1.1: alternatives are negated one by one",
			object:   request("a", traits("{anyOf: [{trait: b}], negated: true}")),
			refusals: []string{"negated does not go with anyOf: set it on the alternatives"}},
		{reason: "cluster-request C47: nested alternatives", object: request("a", traits("{anyOf: [{anyOf: [{trait: a}]}]}")),
			refusals: []string{"spec.traits[0].anyOf[0]", "anyOf cannot be nested"}},
		{reason: "cluster-request 4.1.1: a trait without a name", object: request("a", traits("{trait: ''}")),
			refusals: []string{"spec.traits[0].trait", "at least 1"}},
		{reason: "cluster-request 4.1.1: a trait with a name of 201 characters",
			object:   request("a", traits("{trait: "+strings.Repeat("t", 201)+"}")),
			refusals: []string{"spec.traits[0].trait", "may not be more than 200"}},
		{reason: "cluster-request 4.1.1: a version that none matches", object: request("a", "{purposes: [a], kubernetes: {version: v1.20}}"),
			refusals: []string{"spec.kubernetes.version"}},
		{reason: "cluster-request 4.1.1: the provider of a Cluster is immutable", object: cluster("c1", ""),
			update:   `{"spec":{"clusterProviderRef":{"profile":"c"}}}`,
			refusals: []string{"spec.clusterProviderRef", "is immutable: create another Cluster"}},
		{reason: "cluster-request 4.1.1: a Cluster is Exclusive by default, and stays so", object: cluster("c2", ""),
			update: `{"spec":{"tenancy":"Shared"}}`, refusals: []string{"spec.tenancy", "is immutable: create another Cluster"}},
		{reason: "cluster-request 4.1.1: the purposes of a Cluster may change", object: cluster("c3", ""),
			update: `{"spec":{"purposes":["a"]}}`},
		{reason: "cluster-request 4.1.1: a purpose of a Cluster becomes a part of a label key", object: cluster("a", ", purposes: [a/b]"),
			refusals: []string{"spec.purposes[0]"}},
		{reason: "cluster-request 4.1.1: a grant is immutable",
			object: strings.Replace(grant, "name: r, namespace: default}\nspec", "name: g, namespace: default}\nspec", 1),
			update: `{"spec":{"prefix":"bar-"}}`, refusals: []string{"spec", "is immutable: delete the ClusterRequest and create another one"}},
		{reason: "cluster-request 4.1.1: a Grant with all labels of a template and that of the hub",
			object: strings.NewReplacer("{name: r, namespace: default}\nspec", "{name: l, namespace: default}\nspec",
				"labels: {a: b}", "labels: {"+numbered("l", 65)+"}").Replace(grant)},
		{reason: "cluster-request 4.1.1: a Grant with 65 annotations",
			object: strings.NewReplacer("{name: r, namespace: default}\nspec", "{name: many, namespace: default}\nspec",
				"annotations: {c: d}", "annotations: {"+numbered("a", 65)+"}").Replace(grant),
			refusals: []string{"spec.cluster.annotations", "64"}},
		{reason: "cluster-request 4.1.1: a Purpose with a name of 63 characters", object: purpose(strings.Repeat("a", 63), "{}")},
		{reason: "cluster-request 4.1.1: a Purpose with a name of 64 characters", object: purpose(strings.Repeat("a", 64), "{}"),
			refusals: []string{"metadata.name must have at most 63 characters"}},
		{reason: "cluster-request 4.1.1: a ClusterProvider with a name of 64 characters",
			object:   clusterScoped("ClusterProvider", strings.Repeat("a", 64), "{}"),
			refusals: []string{"metadata.name must have at most 63 characters"}},
		{reason: "cluster-request 4.1.1: a negative limit",
			object: purpose("a", "{tenancyLimit: -1}"), refusals: []string{"spec.tenancyLimit", "greater than or equal to 0"}},
		{reason: "cluster-request C53: a template",
			object: purpose("templated", "{clusterTemplate: {namespace: ns1, name: one, generateName: x-, labels: {a: b, example.com/c: ''}}}")},
		{reason: "cluster-request 4.1.1: annotations of a template",
			object: purpose("annotated", "{clusterTemplate: {annotations: {a: two words, example.com/c: '', x.openmcp.cloud/size: small}}}")},
		{reason: "cluster-request 4.1.1: an annotation of a template that no object has",
			object:   purpose("a", "{clusterTemplate: {annotations: {bad key!: a}}}"),
			refusals: []string{"spec.clusterTemplate.annotations", "has a key that no annotation has"}},
		{reason: "cluster-request 4.1.1: an annotation of a template with 1025 characters",
			object:   purpose("a", "{clusterTemplate: {annotations: {a: '"+strings.Repeat("x", 1025)+"'}}}"),
			refusals: []string{"spec.clusterTemplate.annotations.a", "1024"}},
		{reason: "trust 2: an annotation of a template that the hub obeys",
			object:   purpose("a", "{clusterTemplate: {annotations: {cluster.openmcp.cloud/clusterset: blue}}}"),
			refusals: []string{"spec.clusterTemplate.annotations", "use a domain of your own"}},
		{reason: "trust 2: an annotation of a template that kubectl obeys",
			object:   purpose("a", "{clusterTemplate: {annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}}}"),
			refusals: []string{"spec.clusterTemplate.annotations", "kubernetes.io"}},
		{reason: "cluster-request 4.1.1: a label of a template that no object has",
			object:   purpose("a", "{clusterTemplate: {labels: {bad key!: a}}}"),
			refusals: []string{"spec.clusterTemplate.labels", "has a key that no label has"}},
		{reason: "cluster-request 4.1.1: a TraitEquivalence", object: clusterScoped("TraitEquivalence", "ab", "{traits: [a, b]}")},
		{reason: "cluster-request 4.1.1: a TraitEquivalence of one name", object: clusterScoped("TraitEquivalence", "a", "{traits: [a]}"),
			refusals: []string{"spec.traits", "at least 2"}},
		{reason: "cluster-request 4.1.1: a name twice in a TraitEquivalence", object: clusterScoped("TraitEquivalence", "a", "{traits: [a, a]}"),
			refusals: []string{"spec.traits[1]: Duplicate value"}},
		{reason: "cluster-request C31: neither reference",
			object: access("a", "{}"), refusals: []string{"needs exactly one of clusterRef and requestRef"}},
		{reason: "cluster-request C31: both references", object: access("a", "{clusterRef: {name: a}, requestRef: {name: a}}"),
			refusals: []string{"needs exactly one of clusterRef and requestRef"}},
		{reason: "cluster-request 4.1.6: the reference is immutable", object: access("d1", "{clusterRef: {name: a}}"),
			update: `{"spec":{"clusterRef":{"name":"b"}}}`, refusals: []string{"clusterRef is immutable: create another AccessRequest"}},
		{reason: "cluster-request 4.1.6: the reference is not removable", object: access("d2", "{requestRef: {name: a}}"),
			update:   `{"spec":{"requestRef":null,"clusterRef":{"name":"a"}}}`,
			refusals: []string{"requestRef is immutable: create another AccessRequest"}},
		{reason: "cluster-request 4.1.6: the permissions may change", object: access("d3", "{clusterRef: {name: a}}"),
			update: `{"spec":{"permissions":[{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}],"ttl":"2s"}}`},
		{reason: "cluster-request 4.1.1: a Role without its namespace",
			object:   access("a", "{clusterRef: {name: a}, roleRefs: [{kind: Role, name: r}]}"),
			refusals: []string{"spec.roleRefs[0]", "a Role needs its namespace"}},
		{reason: "cluster-request 4.1.1: a ttl of nothing",
			object: access("a", "{clusterRef: {name: a}, ttl: 0s}"), refusals: []string{"spec.ttl", "must be longer than 0s"}},
		{reason: "cluster-request 4.1.1: a ttl that is no duration",
			object: access("a", "{clusterRef: {name: a}, ttl: 3 days}"), refusals: []string{"spec.ttl"}},
	}
	for i := range checks {
		checks[i].object = strings.TrimSpace(checks[i].object)
	}

	return checks
}

// most returns the spec of a request with as many purposes, traits and alternatives as the definition allows, and the longest names.
func most() string {
	const purposes, traits, alternatives = 32, 32, 16
	var names, groups, members []string
	for i := range purposes {
		names = append(names, fmt.Sprintf("%063d", i))
	}
	for i := range alternatives {
		members = append(members, fmt.Sprintf("{trait: '%0200d'}", i))
	}
	for range traits {
		groups = append(groups, "{anyOf: ["+strings.Join(members, ", ")+"]}")
	}

	return "{purposes: ['" + strings.Join(names, "', '") + "'], traits: [" + strings.Join(groups, ", ") + "]}"
}

// numbered returns "l0: x, l1: x" and so on.
func numbered(name string, n int) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf("%s%d: x", name, i)
	}
	return strings.Join(entries, ", ")
}
