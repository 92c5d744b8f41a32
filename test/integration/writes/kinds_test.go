// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// subject is a kind whose fields are written.
type subject struct {
	kind string
	// base has all fields of the kind, and changed another value of each. defaults are those of its definition and of its readers.
	base, changed, defaults string
}

// subjects are the kinds of which each field is tried.
var subjects = []subject{
	{
		kind: "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement",
		base: `
spec:
  numberOfClusters: 2
  clusterSets: [a]
  predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {env: prod}}}}]
  prioritizerPolicy:
    mode: Exact
    configurations: [{scoreCoordinate: {type: BuiltIn, builtIn: Steady}, weight: 0}, {scoreCoordinate: {type: BuiltIn, builtIn: Balance}, weight: 2}]
  spreadPolicy: {spreadConstraints: [{topologyKey: region, topologyKeyType: Label, maxSkew: 2}]}
  tolerations: [{key: gpu, operator: Exists}]
  decisionStrategy:
    groupStrategy:
      clustersPerDecisionGroup: 10%
      decisionGroups: [{groupName: canary, groupClusterSelector: {labelSelector: {matchLabels: {env: prod}}}}]
  scoreRateLimit: 5m
  sortBy: Score
`,
		changed: `
spec:
  numberOfClusters: 1
  clusterSets: [b, a]
  predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {env: dev}}}}]
  prioritizerPolicy: {mode: Additive, configurations: [{scoreCoordinate: {type: BuiltIn, builtIn: Balance}}]}
  spreadPolicy: {spreadConstraints: [{topologyKey: zone, topologyKeyType: Claim}]}
  tolerations: [{key: gpu, operator: Exists}, {key: ssd}]
  decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: canary, groupClusterSelector: {labelSelector: {matchLabels: {env: dev}}}}]}}
  scoreRateLimit: 2m
  sortBy: ClusterName
`,
		defaults: `
spec:
  prioritizerPolicy: {mode: Additive}
  decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 100%}}
  scoreRateLimit: 1m
  sortBy: ClusterName
`,
	},
	{
		kind: "apiVersion: placement.open-cluster-management.io/v1alpha1\nkind: Placement",
		base: `
spec:
  numberOfClusters: 2
  clusterSets: [a]
  predicates: [{clusterName: c1}, {clusterName: c2}]
  antiAffinity: {topologyKey: region, topologyKeyType: Label}
`,
		changed: `
spec:
  numberOfClusters: 1
  clusterSets: [b]
  predicates: [{clusterName: c1}]
  antiAffinity: {topologyKey: zone, topologyKeyType: Claim}
`,
	},
	{
		kind: "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding",
		base: "spec: {clusterSet: NAME}", changed: "spec: {clusterSet: other}",
	},
	{
		kind:     "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet",
		base:     "spec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {matchLabels: {set: one}}}}",
		changed:  "spec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {matchLabels: {set: two}}}}",
		defaults: "spec: {clusterSelector: {selectorType: ExclusiveClusterSetLabel}}",
	},
	{
		kind: "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: PodSchedulingPolicy",
		base: `
spec:
  podSelector: {matchLabels: {app: etcd}}
  nodeSelector: {pool: etcd}
  tolerations: [{key: etcd, operator: Exists}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]
  schedulerName: mine
  nodeName: n1
`,
		changed: `
spec:
  podSelector: {matchLabels: {app: etcd, tier: main}}
  nodeSelector: {pool: etcd, zone: a}
  tolerations: [{key: etcd, operator: Exists}, {key: ssd, operator: Exists}]
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}
  schedulerName: other
  nodeName: n2
`,
	},
	{
		kind: "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: Purpose",
		base: `
spec:
  dedicated: true
  tenancyLimit: 3
  traits: [{name: a, optional: true}, {name: b}]
  clusterTemplate: {namespace: shared, generateName: x-, labels: {team: a}}
`,
		changed: `
spec:
  dedicated: false
  tenancyLimit: 4
  traits: [{name: b}]
  clusterTemplate: {namespace: other, labels: {team: b}}
`,
	},
	{
		kind: "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: ClusterPodSchedulingPolicy",
		base: `
spec:
  namespaceSelector: {matchLabels: {team: a}}
  podSelector: {matchLabels: {app: etcd}}
  nodeSelector: {pool: etcd}
  tolerations: [{key: etcd, operator: Exists}]
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}
  schedulerName: mine
`,
		changed: `
spec:
  namespaceSelector: {matchLabels: {team: b}}
  podSelector: {matchLabels: {app: etcd, tier: main}}
  nodeSelector: {pool: etcd, zone: a}
  tolerations: [{key: etcd, operator: Exists}, {key: ssd, operator: Exists}]
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: region}]}}
  schedulerName: other
`,
	},
	{
		kind: "apiVersion: cozystack.io/v1alpha1\nkind: AffinityClass",
		base: "spec: {nodeSelector: {zone: a}, enforcement: Warn}", changed: "spec: {nodeSelector: {zone: b}, enforcement: Deny}",
		defaults: "spec: {enforcement: Deny}",
	},
	// The classes of a Tenant are such that its webhook, which nothing serves here, refuses none of them.
	{
		kind:    "apiVersion: apps.cozystack.io/v1alpha1\nkind: Tenant",
		base:    "spec: {allowedAffinityClasses: [dc1, dc2], host: a.example.com, monitoring: true}",
		changed: "spec: {allowedAffinityClasses: [dc1], host: b.example.com, monitoring: false}",
	},
	{
		kind: "apiVersion: apps.cozystack.io/v1alpha1\nkind: Tenant",
		base: "spec: {defaultAffinityClass: dc1}", changed: "spec: {defaultAffinityClass: dc2}",
	},
	{
		kind: "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: ClusterRequest",
		base: `
spec:
  purposes: [workload, mcp]
  dedicated: true
  prefix: web
  kubernetes: {version: "1.31"}
  traits: [{name: a}, {anyOf: [{name: b}, {trait: c, negated: true}], optional: true}]
  waitForClusterDeletion: true
`,
		changed: `
spec:
  purposes: [mcp]
  dedicated: false
  prefix: db
  kubernetes: {version: "1.32"}
  traits: [{name: a}]
  waitForClusterDeletion: false
`,
	},
	{
		kind: "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: Cluster",
		base: `
spec:
  clusterProviderRef: {name: loopback, profile: small}
  clusterConfigRef: {apiGroup: example.com, kind: Config, name: a}
  kubernetes: {version: "1.31"}
  purposes: [workload]
  tenancy: Shared
`,
		changed: `
spec:
  clusterProviderRef: {name: loopback, profile: large}
  clusterConfigRef: {apiGroup: example.com, kind: Config, name: b}
  kubernetes: {version: "1.32"}
  purposes: [workload, mcp]
  tenancy: Exclusive
`,
		defaults: "spec: {tenancy: Exclusive}",
	},
	{
		kind:    "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: ClusterProvider",
		base:    "spec: {access: true, leaseNamespace: leases, package: image, packagePullSecret: [{name: a}]}",
		changed: "spec: {access: false, leaseNamespace: other, package: other, packagePullSecret: [{name: b}, {name: c}]}",
	},
	{
		kind: "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: TraitEquivalence",
		base: "spec: {traits: [a, b]}", changed: "spec: {traits: [a, c, b]}",
	},
	{
		kind: "apiVersion: v1\nkind: ConfigMap",
		base: `
metadata:
  labels: {app: web, tier: front}
  annotations: {federation.alpha.kubernetes.io/cluster-selector: '{"matchLabels":{"env":"prod"}}', note: a}
data: {mode: fast, level: "3"}
binaryData: {blob: AAEC}
`,
		changed: `
metadata:
  labels: {app: web, tier: back}
  annotations: {federation.alpha.kubernetes.io/cluster-selector: '{"matchLabels":{"env":"dev"}}'}
data: {mode: slow}
binaryData: {blob: AAED}
`,
	},
	{
		kind: "apiVersion: apps/v1\nkind: Deployment",
		base: `
metadata:
  labels: {app: web}
  annotations: {federation.alpha.kubernetes.io/cluster-selector: '{"matchLabels":{"env":"prod"}}'}
spec:
  replicas: 6
  paused: true
  minReadySeconds: 5
  selector: {matchLabels: {app: web}}
  strategy: {type: Recreate}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, env: [{name: A, value: a}, {name: B, value: b}]}, {name: sidecar, image: proxy}]}
`,
		changed: `
metadata:
  labels: {app: web, tier: front}
  annotations: {federation.alpha.kubernetes.io/cluster-selector: '{"matchLabels":{"env":"dev"}}'}
spec:
  replicas: 3
  paused: false
  minReadySeconds: 1
  selector: {matchLabels: {app: other}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:2, env: [{name: B, value: c}]}]}
`,
		defaults: "spec: {replicas: 1, paused: false, minReadySeconds: 0}",
	},
}

// clusterScoped are the kinds of subjects that are in no namespace.
var clusterScoped = map[string]bool{
	"ManagedClusterSet": true, "Purpose": true, "ClusterPodSchedulingPolicy": true, "AffinityClass": true, "ClusterProvider": true,
	"TraitEquivalence": true,
}

// change is an object before and after one change of a field.
type change struct{ before, after *unstructured.Unstructured }

// changes returns the changes of all fields of a kind, in objects of their own.
func (s *subject) changes(namespace string) []change {
	base, changed, defaults := fieldsOf(s.base), fieldsOf(s.changed), fieldsOf(s.defaults)
	var all []change
	for _, path := range pathsOf(base) {
		value, _, _ := unstructured.NestedFieldNoCopy(base, path...)
		other, _, _ := unstructured.NestedFieldNoCopy(changed, path...)
		values := map[string]any{"absent": absent{}, "null": nil, "empty": emptyOf(value), "same": value, "changed": other}
		if known, has, _ := unstructured.NestedFieldNoCopy(defaults, path...); has {
			values["default"] = known
		}
		for variant, to := range values {
			name := strings.ToLower(fmt.Sprintf("%s-%s-%s-%s", namespace, fieldsOf(s.kind)["kind"], path[len(path)-1], variant))
			before := s.object(namespace, name, base)
			after := before.DeepCopy()
			if variant != "same" {
				set(after.Object, path, to)
			}
			all = append(all, change{before: before, after: after})
		}
	}
	return all
}

// absent is the value of a field that is left out.
type absent struct{}

func set(object map[string]any, path []string, value any) {
	for _, key := range path[:len(path)-1] {
		object, _ = object[key].(map[string]any)
	}
	if _, leave := value.(absent); leave {
		delete(object, path[len(path)-1])
	} else {
		object[path[len(path)-1]] = runtime.DeepCopyJSONValue(value)
	}
}

func emptyOf(value any) any {
	switch value.(type) {
	case []any:
		return []any{}
	case map[string]any:
		return map[string]any{}
	case string:
		return ""
	case bool:
		return false
	default:
		return int64(0)
	}
}

// pathsOf returns the paths of the fields of metadata and spec, and of the other parts, sorted.
func pathsOf(object map[string]any) [][]string {
	var paths [][]string
	for key, value := range object {
		if key != "metadata" && key != "spec" {
			paths = append(paths, []string{key})
			continue
		}
		fields, _ := value.(map[string]any)
		for field := range fields {
			paths = append(paths, []string{key, field})
		}
	}
	slices.SortFunc(paths, slices.Compare)
	return paths
}

func (s *subject) object(namespace, name string, base map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(base)}
	maps.Copy(object.Object, fieldsOf(s.kind))
	object.SetName(name)
	if !clusterScoped[object.GetKind()] {
		object.SetNamespace(namespace)
	}
	if object.GetKind() == "ManagedClusterSetBinding" {
		set(object.Object, []string{"spec", "clusterSet"}, name)
	}
	return object
}

func fieldsOf(text string) map[string]any {
	fields := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		panic(err)
	}
	return normal(fields).(map[string]any)
}

// normal returns a value with the numbers of unstructured objects.
func normal(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			value[key] = normal(inner)
		}
	case []any:
		for i, inner := range value {
			value[i] = normal(inner)
		}
	case float64:
		return int64(value)
	}
	return value
}
