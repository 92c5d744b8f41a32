// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
)

const (
	placementHead = "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"
	rbacGroup     = "rbac.authorization.k8s.io/v1"
	clusterHead   = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n"
)

// definitionsOfHub are the definitions that the hub installs.
func definitionsOfHub(tb testing.TB) []*apiextensionsv1.CustomResourceDefinition {
	tb.Helper()
	crds, err := manifests.Definitions()
	if err != nil {
		tb.Fatal(err)
	}
	return crds
}

func newReader(tb testing.TB) *Reader {
	tb.Helper()
	reader, err := NewReader(definitionsOfHub(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return reader
}

// read returns the State of one file.
func read(tb testing.TB, content string) *explain.State {
	tb.Helper()
	reader := newReader(tb)
	reader.Read("world.yaml", []byte(content))
	state, err := reader.State()
	if err != nil {
		tb.Fatal(err)
	}
	return state
}

func TestMistakes(t *testing.T) {
	for _, tc := range []struct {
		reason, content string
		want            []string
	}{
		{
			reason:  "an unknown field is named with its own line, and so is what could be meant",
			content: "# a comment\n---\n" + placementHead + "metadata: {name: a, namespace: ns}\nspec:\n  clusterSets: [x]\n  numberOfCluster: 3\n",
			want: []string{
				"world.yaml:8: Placement ns/a: spec.numberOfCluster: unknown field: remove it, or use one of " +
					"clusterSets, decisionStrategy, numberOfClusters, predicates, prioritizerPolicy, scoreRateLimit, " +
					"sortBy, spreadPolicy, tolerations",
			},
		},
		{
			reason: "an unknown field deep in a list",
			content: placementHead + "metadata: {name: a, namespace: ns}\nspec:\n  tolerations:\n  - key: a\n    operator: Exists\n" +
				"  - key: b\n    operater: Exists\n",
			want: []string{
				"world.yaml:9: Placement ns/a: spec.tolerations[1].operater: unknown field: remove it, or use one of " +
					"effect, key, operator, tolerationSeconds, value",
			},
		},
		{
			reason:  "a ClusterRoleBinding that would grant nothing",
			content: "apiVersion: " + rbacGroup + "\nkind: ClusterRoleBinding\nmetadata: {name: 'team:a'}\nroleRef: {kind: Role, name: bind}\n",
			want: []string{"world.yaml:4: ClusterRoleBinding.rbac.authorization.k8s.io team:a: roleRef.kind: must be ClusterRole: " +
				"a ClusterRoleBinding can refer to nothing else"},
		},
		{
			reason:  "a ClusterRole with a rule that is misspelt",
			content: "apiVersion: " + rbacGroup + "\nkind: ClusterRole\nmetadata: {name: bind}\nrules: [{verb: [create]}]\n",
			want: []string{"world.yaml:4: ClusterRole.rbac.authorization.k8s.io bind: rules[0].verbs: is required: " +
				"a rule without verbs grants nothing"},
		},
		{
			reason:  "a ClusterRole with an unknown field",
			content: "apiVersion: " + rbacGroup + "\nkind: ClusterRole\nmetadata: {name: bind}\nrules: [{verbs: [create], resource: [a]}]\n",
			want: []string{"world.yaml:4: ClusterRole.rbac.authorization.k8s.io bind: rules[0].resource: unknown field: " +
				"remove it or correct its spelling"},
		},
		{
			reason: "subjects that an API server refuses",
			content: "apiVersion: " + rbacGroup + "\nkind: ClusterRoleBinding\nmetadata: {name: grant}\nroleRef: {kind: ClusterRole, name: bind}\n" +
				"subjects:\n- {kind: ServiceAccount, namespace: a, name: placement, apiGroup: " + "rbac.authorization.k8s.io}\n" +
				"- {kind: ServiceAccount, name: placement}\n- {kind: serviceaccount, namespace: a, name: placement}\n- {kind: Group}\n" +
				"- {kind: User, name: jane, apiGroup: v1}\n",
			want: []string{
				"world.yaml:6: ClusterRoleBinding.rbac.authorization.k8s.io grant: subjects[0].apiGroup: must be left out: " +
					"a ServiceAccount is in the core group",
				"world.yaml:7: ClusterRoleBinding.rbac.authorization.k8s.io grant: subjects[1].namespace: is required: say which namespace " +
					"the ServiceAccount lives in",
				"world.yaml:8: ClusterRoleBinding.rbac.authorization.k8s.io grant: subjects[2].kind: must be ServiceAccount, User or Group",
				"world.yaml:9: ClusterRoleBinding.rbac.authorization.k8s.io grant: subjects[3].name: is required: name the Group",
				"world.yaml:10: ClusterRoleBinding.rbac.authorization.k8s.io grant: subjects[4].apiGroup: must be rbac.authorization.k8s.io",
			},
		},
		{
			reason:  "an unknown field at the root and one in the metadata",
			content: placementHead + "metadata:\n  name: a\n  namespace: ns\n  label: {a: b}\nspecs: {}\nspec: {}\n",
			want: []string{
				"world.yaml:6: Placement ns/a: metadata.label: unknown field: remove it or correct its spelling",
				"world.yaml:7: Placement ns/a: specs: unknown field: remove it, or use one of apiVersion, kind, metadata, spec, status",
			},
		},
		{
			reason:  "a wrong type",
			content: placementHead + "metadata: {name: a, namespace: ns}\nspec:\n  numberOfClusters: \"3\"\n",
			want:    []string{`world.yaml:5: Placement ns/a: spec.numberOfClusters: must be of type integer: "string"`},
		},
		{
			reason: "a value that is not in the list, and one out of range",
			content: placementHead + "metadata: {name: a, namespace: ns}\nspec:\n  prioritizerPolicy:\n    mode: Exact\n    configurations:\n" +
				"    - weight: 11\n      scoreCoordinate: {builtIn: Steady}\n  tolerations: [{key: a, effect: Never}]\n",
			want: []string{
				"world.yaml:8: Placement ns/a: spec.prioritizerPolicy.configurations[0].weight: Invalid value: 11: " +
					"should be less than or equal to 10",
				`world.yaml:10: Placement ns/a: spec.tolerations[0].effect: Unsupported value: "Never": ` +
					`supported values: "NoSelect", "PreferNoSelect", "NoSelectIfNew"`,
			},
		},
		{
			reason:  "a value that does not have the form",
			content: clusterHead + "metadata: {name: a}\nspec:\n  taints:\n  - key: \"a b\"\n    effect: NoSelect\n",
			want: []string{
				`world.yaml:6: ManagedCluster a: spec.taints[0].key: Invalid value: "a b": should match ` +
					`'^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$'`,
			},
		},
		{
			reason:  "a required field that is missing is reported where it should stand",
			content: clusterHead + "metadata: {name: a}\nspec:\n  taints:\n  - key: a\n",
			want:    []string{"world.yaml:6: ManagedCluster a: spec.taints[0].effect: is required: add it"},
		},
		{
			reason: "two entries of one key in a list that is a map",
			content: clusterHead + "metadata: {name: a}\nstatus:\n  conditions:\n" +
				strings.Repeat(`  - {type: A, status: "True", reason: R, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}`+"\n", 2),
			want: []string{`world.yaml:7: ManagedCluster a: status.conditions[1]: Duplicate value: {"type":"A"}`},
		},
		{
			reason:  "an amount that is none",
			content: clusterHead + "metadata: {name: a}\nstatus:\n  allocatable:\n    cpu: lots\n",
			want: []string{
				`world.yaml:6: ManagedCluster a: status.allocatable.cpu: Invalid value: "lots": should match ` +
					`'^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'`,
			},
		},
		{
			reason:  "a time that is none",
			content: clusterHead + "metadata: {name: a}\nspec:\n  taints:\n  - {key: a, effect: NoSelect, timeAdded: yesterday}\n",
			want: []string{
				`world.yaml:6: ManagedCluster a: spec.taints[0].timeAdded: ` +
					`must be of type date-time: "yesterday"`,
			},
		},
		{
			reason:  "labels that YAML takes for something else, with keys that have dots",
			content: clusterHead + "metadata:\n  name: a\n  labels:\n    example.com/on: on\n    zone: 1\n",
			want: []string{
				"world.yaml:6: ManagedCluster a: metadata.labels[example.com/on]: must be a string, and is a boolean: put it in quotes",
				"world.yaml:7: ManagedCluster a: metadata.labels[zone]: must be a string, and is a number: put it in quotes",
			},
		},
		{
			reason:  "a label that no API server takes",
			content: clusterHead + "metadata:\n  name: a\n  labels:\n    zone: \"a b\"\n",
			want: []string{
				`world.yaml:5: ManagedCluster a: metadata.labels: Invalid value: "a b": a valid label must be an empty string or consist of ` +
					`alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or ` +
					`'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
			},
		},
		{
			reason: "metadata of wrong types",
			content: clusterHead + "metadata:\n  name: 7\n  namespace: n\n---\n" + clusterHead + "metadata: a\n---\n" +
				placementHead + "spec: {}\n---\n" +
				clusterHead + "metadata:\n  name: b\n  finalizers: a/b\n",
			want: []string{
				"world.yaml:4: ManagedCluster: metadata.name: must be a string, and is a number: put it in quotes",
				"world.yaml:5: ManagedCluster: metadata.namespace: must be a string, and is a boolean: put it in quotes",
				"world.yaml:9: ManagedCluster: metadata: must be an object: add metadata.name",
				"world.yaml:11: Placement: metadata: must be an object: add metadata.name and metadata.namespace",
				"world.yaml:19: ManagedCluster b: metadata.finalizers: must be of type []string, and is a JSON string",
			},
		},
		{
			reason:  "a name and a namespace that are missing",
			content: placementHead + "metadata:\n  generateName: a-\nspec: {}\n",
			want: []string{
				"world.yaml:3: Placement: metadata.name: is required: give the object a name (a generateName is not enough)",
				"world.yaml:3: Placement: metadata.namespace: is required: say which namespace this Placement lives in",
			},
		},
		{
			reason:  "a name that is none",
			content: clusterHead + "metadata:\n  namespace: ns\n  name: A\n",
			want: []string{
				`world.yaml:5: ManagedCluster A: metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case ` +
					`alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used ` +
					`for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
			},
		},
		{
			reason:  "an object that is there twice",
			content: clusterHead + "metadata: {name: a}\n---\n" + clusterHead + "metadata: {name: a}\n",
			want:    []string{"world.yaml:5: ManagedCluster a: was given at world.yaml:1 already: remove one of the two, or rename it"},
		},
		{
			reason:  "documents that are no objects",
			content: "- a\n---\nfoo: bar\n---\nkind: Placement\n--- hello\n",
			want: []string{
				"world.yaml:1: must be an object with apiVersion, kind and metadata, and is a list",
				"world.yaml:3: apiVersion: is required: every object says its apiVersion and kind",
				"world.yaml:3: kind: is required: every object says its apiVersion and kind",
				"world.yaml:5: apiVersion: is required: every object says its apiVersion and kind",
				"world.yaml:6: must be an object with apiVersion, kind and metadata, and is a string",
			},
		},
		{
			reason: "a list: fields beside its items, and mistakes in them",
			content: "apiVersion: v1\nkind: List\nitem: []\nitems:\n- apiVersion: cluster.open-cluster-management.io/v1\n  kind: ManagedCluster\n" +
				"  metadata:\n    name: a\n    nam: a\n- 7\n---\napiVersion: v1\nkind: List\nitems: {}\n",
			want: []string{
				"world.yaml:3: List: item: unknown field: a list has items, and nothing beside them",
				"world.yaml:9: ManagedCluster a: metadata.nam: unknown field: remove it or correct its spelling",
				"world.yaml:10: must be an object with apiVersion, kind and metadata, and is a number",
				"world.yaml:14: List: items: must be a list, and is an object",
			},
		},
		{
			reason:  "a key that one object has twice",
			content: clusterHead + "metadata:\n  name: a\n  labels: {}\n  name: b\n",
			want:    []string{`world.yaml:6: key "name" was given on line 4 already: keep one of the two`},
		},
		{
			reason:  "text that is no YAML does not hide what follows",
			content: "\n---\na: b: c\n---\n" + clusterHead + "metadata: {nam: a}\n",
			want: []string{
				"world.yaml:3: not valid YAML: mapping values are not allowed in this context; " +
					"check the indentation, quotes and brackets of this line and those around it",
				"world.yaml:7: ManagedCluster: metadata.nam: unknown field: remove it or correct its spelling",
				"world.yaml:7: ManagedCluster: metadata.name: is required: give the object a name (a generateName is not enough)",
			},
		},
		{
			reason: "JSON has lines too",
			content: "{\n\t" + `"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",` + "\n\t" +
				`"metadata": {"name": "a"},` + "\n\t" + `"spec": {` + "\n\t\t" + `"taint": []` + "\n\t}\n}\n",
			want: []string{
				"world.yaml:5: ManagedCluster a: spec.taint: unknown field: remove it, or use one of " +
					"hubAcceptsClient, leaseDurationSeconds, managedClusterClientConfigs, taints",
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			reader := newReader(t)
			reader.Read("world.yaml", []byte(tc.content))
			state, err := reader.State()
			if state != nil {
				t.Error("a world was made of files with mistakes")
			}
			var input *InputError
			if !errors.As(err, &input) {
				t.Fatalf("World() gave the error %v, want an InputError", err)
			}

			var got []string
			for _, problem := range input.Problems {
				got = append(got, problem.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInputErrorListsTwenty(t *testing.T) {
	reader := newReader(t)
	reader.Read("a.yaml", []byte("a: b: c\n"))
	_, err := reader.State()
	if err == nil || !strings.HasPrefix(err.Error(), "a.yaml:1: not valid YAML") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a single mistake reads\n%v\nwant one line that begins with its place", err)
	}
	for i := range 24 {
		reader.Read(fmt.Sprintf("b%d.yaml", i), []byte("7\n"))
	}

	_, err = reader.State()
	if err == nil {
		t.Fatal("World() gave no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 22 || lines[0] != "the input has 25 mistakes:" || lines[21] != "  and 5 more; correct these first" ||
		!strings.HasPrefix(lines[20], "  b18.yaml:1: ") {
		t.Errorf("error is\n%v\nwant a count, twenty mistakes and a count of the rest", err)
	}
}

func TestDefaultsAreThoseOfTheDefinitions(t *testing.T) {
	state := read(t, placementHead+`metadata: {name: a, namespace: ns}
spec:
  clusterSets: null
  tolerations:
  - key: gpu
  prioritizerPolicy:
    configurations:
    - scoreCoordinate: {builtIn: Steady}
  spreadPolicy:
    spreadConstraints:
    - {topologyKey: zone, topologyKeyType: Label}
  decisionStrategy:
    groupStrategy: {}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: bare}
`)
	want := clusterv1beta1.PlacementSpec{
		Tolerations: []clusterv1beta1.Toleration{{Key: "gpu", Operator: clusterv1beta1.TolerationOpEqual}},
		PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
			Mode: clusterv1beta1.PrioritizerPolicyModeAdditive,
			Configurations: []clusterv1beta1.PrioritizerConfig{{
				ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: "Steady"},
				Weight:          1,
			}},
		},
		SpreadPolicy: clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{{
			TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1,
			WhenUnsatisfiable: clusterv1beta1.ScheduleAnyway,
		}}},
		DecisionStrategy: clusterv1beta1.DecisionStrategy{
			GroupStrategy: clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: intstr.FromString("100%")},
		},
	}
	placement, ok := state.Placements[0].(*clusterv1beta1.Placement)
	if !ok {
		t.Fatalf("got a %T", state.Placements[0])
	}

	got := placement.Spec
	want.SortBy, want.ScoreRateLimit = got.SortBy, got.ScoreRateLimit
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if got.SortBy != "ClusterName" {
		t.Errorf("sortBy is %q, want the default ClusterName", got.SortBy)
	}

	if got := state.ClusterSets[0].Spec.ClusterSelector.SelectorType; got != clusterv1beta2.ExclusiveClusterSetLabel {
		t.Errorf("selectorType of a set without a spec is %q, want the default", got)
	}
}

func TestListsStreamsAndJSONAreTheSame(t *testing.T) {
	const (
		a    = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: a, labels: {zone: \"1\"}}\n"
		b    = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: b}\n"
		item = `{"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster", "metadata": `
	)

	want := read(t, a+"---\n"+b)
	for _, tc := range []struct{ reason, content string }{
		{"comments, empty documents, ends of documents, CRLF", "# x\n---\n\n--- # y\r\n" + a + "...\n---\n" + b + "---\n"},
		{"namespaces are nobody's concern", "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n---\n" + a + "---\n" + b},
		{"a List, as kubectl get prints it", "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: \"\"}\nitems:\n- " +
			strings.ReplaceAll(strings.TrimSpace(a), "\n", "\n  ") + "\n- " + strings.ReplaceAll(strings.TrimSpace(b), "\n", "\n  ") + "\n"},
		{"a list of its kind, in JSON", `{"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedClusterList", "items": [` +
			item + `{"name": "a", "labels": {"zone": "1"}}}, ` + item + `{"name": "b"}}]}`},
		{"merge keys", "apiVersion: v1\nkind: List\nitems:\n- &a\n  " + strings.ReplaceAll(strings.TrimSpace(a), "\n", "\n  ") +
			"\n- <<: *a\n  metadata: {name: b}\n"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if diff := cmp.Diff(want.Clusters, read(t, tc.content).Clusters); diff != "" {
				t.Errorf("clusters (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetsOfEveryHub(t *testing.T) {
	state := read(t, "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: global}\n"+
		"spec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {matchLabels: {a: b}}}}\n")

	sets := map[string]*clusterv1beta2.ManagedClusterSet{}
	for _, set := range state.ClusterSets {
		sets[set.Name] = set
	}
	if len(state.ClusterSets) != 2 || sets["default"] == nil {
		t.Errorf("there are %d sets, want the given one and default", len(state.ClusterSets))
	}
	if got := sets["global"].Spec.ClusterSelector.LabelSelector.MatchLabels["a"]; got != "b" {
		t.Error("the given set global was replaced")
	}
}

func TestNewReaderNeedsEveryKind(t *testing.T) {
	crds := slices.DeleteFunc(definitionsOfHub(t), func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return crd.Spec.Names.Kind == "ManagedCluster"
	})
	if _, err := NewReader(crds); err == nil || !strings.Contains(err.Error(), "no CustomResourceDefinition serves") {
		t.Errorf("error is %v, want one that names the kind that nothing serves", err)
	}
}
