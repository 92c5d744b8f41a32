// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

const olderHead = "apiVersion: placement.open-cluster-management.io/v1alpha1\nkind: Placement\n"

func readChanges(tb testing.TB, namespace Namespace, content string) *ChangeReader {
	tb.Helper()
	changes, err := NewChangeReader(definitionsOfHub(tb), namespace)
	if err != nil {
		tb.Fatal(err)
	}
	changes.Read("new.yaml", []byte(content))
	return changes
}

func TestChangesAreRefused(t *testing.T) {
	for _, tc := range []struct {
		reason, content string
		namespace       Namespace
		want            []string
	}{
		{
			reason: "another kind of the world", content: clusterHead + "metadata: {name: c1}\n",
			want: []string{"new.yaml:2: kind: ManagedCluster of cluster.open-cluster-management.io/v1 cannot be compared: leave it out; "},
		},
		{
			reason: "no namespace, and none to put it into", content: placementHead + "metadata: {name: a}\nspec: {}\n",
			want: []string{"new.yaml:3: Placement a: metadata.namespace: is required"},
		},
		{
			reason: "another namespace than the one asked for", content: placementHead + "metadata: {name: a, namespace: ns}\nspec: {}\n",
			namespace: Namespace{Name: "other", Enforced: true},
			want:      []string{"new.yaml:3: Placement ns/a: metadata.namespace: is ns, and --namespace says other: change one of the two"},
		},
		{
			reason:  "what an API server would refuse",
			content: placementHead + "metadata: {name: a, namespace: ns}\nspec: {numberOfClusters: many, clusters: 3}\n",
			want:    []string{"spec.numberOfClusters", "spec.clusters: unknown field"},
		},
		{
			reason:  "one placement twice",
			content: strings.Repeat(placementHead+"metadata: {name: a, namespace: ns}\nspec: {}\n---\n", 2),
			want:    []string{"Placement ns/a: was given at new.yaml:1 already"},
		},
		{
			reason:  "decisions",
			content: "apiVersion: placement.open-cluster-management.io/v1alpha1\nkind: PlacementDecision\nmetadata: {name: a, namespace: ns}\n",
			want:    []string{"kind: PlacementDecision of placement.open-cluster-management.io/v1alpha1 cannot be compared"},
		},
		{
			reason: "what the older API does not know", content: olderHead + "metadata: {name: a, namespace: ns}\nspec: {tolerations: []}\n",
			want: []string{"Placement.placement.open-cluster-management.io ns/a: spec.tolerations: unknown field"},
		},
		{
			reason:    "twice, once with the namespace and once without",
			content:   placementHead + "metadata: {name: a, namespace: ns}\nspec: {}\n---\n" + placementHead + "metadata: {name: a}\nspec: {}\n",
			namespace: Namespace{Name: "ns"},
			want:      []string{"Placement ns/a: was given at new.yaml:1 already"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			_, _, err := readChanges(t, tc.namespace, tc.content).Apply(&explain.State{}, nil)
			for _, part := range tc.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("error is %v, want one with %q", err, part)
				}
			}
		})
	}
}

func TestNamespacesThatAreNamedAndNot(t *testing.T) {
	content := placementHead + "metadata: {name: a}\nspec: {}\n---\n" + placementHead + "metadata: {name: b, namespace: other}\nspec: {}\n" +
		"---\n" + olderHead + "metadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n"
	_, applied, err := readChanges(t, Namespace{Name: "ns"}, content).Apply(&explain.State{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Placement ns/a", "Placement other/b", "Placement ns/a", "Namespace other"}
	if diff := cmp.Diff(want, namesIn(applied)); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
}

func namesIn(applied []explain.Applied) []string {
	names := make([]string, 0, len(applied))
	for _, one := range applied {
		names = append(names, one.Result.Object)
	}
	return names
}

// What comes out is what kubectl apply leaves on a hub.
func TestApplyMergesAsKubectlDoes(t *testing.T) {
	const last = `kubectl.kubernetes.io/last-applied-configuration: '{"metadata":{"annotations":{"old":"x"}},"spec":{"numberOfClusters":3,` +
		`"clusterSets":["a"],"decisionStrategy":{"groupStrategy":{"clustersPerDecisionGroup":2}}}}'`
	for _, tc := range []struct {
		reason, annotations, live, file string
		wantSpec                        string // as a file of its own would give it
		wantKept                        []string
	}{
		{
			reason: "what the last apply set and the file lacks is removed", annotations: last + ", old: x",
			live:     "{numberOfClusters: 3, clusterSets: [a], decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 2}}}",
			file:     "{clusterSets: [b]}",
			wantSpec: "{clusterSets: [b]}",
		},
		{
			reason: "what others set stays", annotations: last,
			live: "{numberOfClusters: 3, clusterSets: [a], tolerations: [{key: gpu, operator: Exists}], " +
				"decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 2, decisionGroups: [{groupName: gg, groupClusterSelector: {}}]}}}",
			file: "{clusterSets: [a], decisionStrategy: {groupStrategy: {}}}",
			wantSpec: "{clusterSets: [a], tolerations: [{key: gpu, operator: Exists}], " +
				"decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: gg, groupClusterSelector: {}}]}}}",
			wantKept: []string{"spec.decisionStrategy", "spec.tolerations"},
		},
		{
			reason: "without a record of the last apply nothing is removed", annotations: "a: b",
			live: "{numberOfClusters: 3, clusterSets: [a]}", file: "{clusterSets: [b]}", wantSpec: "{numberOfClusters: 3, clusterSets: [b]}",
			wantKept: []string{"spec.numberOfClusters"},
		},
		{
			reason: "a weight 0, which Go leaves out, is not the default", annotations: "a: b",
			live: "{prioritizerPolicy: {configurations: [{scoreCoordinate: {builtIn: Balance}, weight: 0}]}}", file: "{numberOfClusters: 1}",
			wantSpec: "{numberOfClusters: 1, prioritizerPolicy: {configurations: [{scoreCoordinate: {builtIn: Balance}, weight: 0}]}}",
			wantKept: []string{"spec.prioritizerPolicy"},
		},
		{
			reason: "null removes, and lists are replaced as a whole", annotations: "a: b",
			live: "{numberOfClusters: 3, clusterSets: [a, b]}", file: "{numberOfClusters: null, clusterSets: [c]}", wantSpec: "{clusterSets: [c]}",
		},
		{
			reason: "a default of the file is no value of the file", annotations: "a: b",
			live: "{prioritizerPolicy: {mode: Exact}}", file: "{prioritizerPolicy: {}}", wantSpec: "{prioritizerPolicy: {mode: Exact}}",
			wantKept: []string{"spec.prioritizerPolicy"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			hub := read(t, fmt.Sprintf("%smetadata: {name: a, namespace: ns, uid: u1, labels: {team: x}, annotations: {%s}}\nspec: %s\n"+
				"status: {numberOfSelectedClusters: 7, decisionGroups: [], conditions: []}\n", placementHead, tc.annotations, tc.live))
			untouched := hub.Placements[0].DeepCopyObject()
			changes := readChanges(t, Namespace{}, placementHead+
				"metadata: {name: a, namespace: ns, uid: other, annotations: {mine: given}}\nspec: "+tc.file+"\n")

			after, applied, err := changes.Apply(hub, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := placementIn[*clusterv1beta1.Placement](t, read(t, placementHead+"metadata: {name: a, namespace: ns}\nspec: "+tc.wantSpec+"\n"))
			got := placementIn[*clusterv1beta1.Placement](t, after)
			if diff := cmp.Diff(want.Spec, got.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}

			if diff := cmp.Diff(tc.wantKept, applied[0].Result.Kept); diff != "" {
				t.Errorf("fields that stay (-want +got):\n%s", diff)
			}
			if _, old := got.Annotations["old"]; got.UID != "u1" || got.Status.NumberOfSelectedClusters != 7 || got.Labels["team"] != "x" ||
				got.Annotations["mine"] != "given" || old {
				t.Errorf("metadata and status are %+v, %+v", got.ObjectMeta, got.Status)
			}
			if diff := cmp.Diff(untouched, hub.Placements[0]); diff != "" {
				t.Errorf("the hub was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// placementIn returns the first Placement of a State.
func placementIn[T api.Object](t *testing.T, state *explain.State) T {
	t.Helper()
	placement, isOne := state.Placements[0].(T)
	if !isOne {
		t.Fatalf("the placement is a %T", state.Placements[0])
	}
	return placement
}

// A placement of one API is not touched by one of the other that has its name.
func TestApplyMergesTheOlderAPI(t *testing.T) {
	const last = `kubectl.kubernetes.io/last-applied-configuration: '{"spec":{"numberOfClusters":3,"antiAffinity":` +
		`{"topologyKey":"region","topologyKeyType":"Label"}}}'`
	for _, tc := range []struct {
		reason, live, file, wantSpec string
		wantKept, wantGone           []string
	}{
		{
			reason: "what the last apply set and the file lacks is removed, what others set stays",
			live: "{numberOfClusters: 3, clusterSets: [a], predicates: [{clusterName: c1}], " +
				"antiAffinity: {topologyKey: region, topologyKeyType: Label}}",
			file: "{clusterSets: [b]}", wantSpec: "{clusterSets: [b], predicates: [{clusterName: c1}]}", wantKept: []string{"spec.predicates"},
			wantGone: []string{"spec.antiAffinity", "spec.numberOfClusters"},
		},
		{
			reason: "objects are merged by their keys",
			live:   "{antiAffinity: {topologyKey: region, topologyKeyType: Label}}", wantKept: nil,
			file:     "{antiAffinity: {topologyKey: zone, topologyKeyType: Label}}",
			wantSpec: "{antiAffinity: {topologyKey: zone, topologyKeyType: Label}}",
		},
		{
			reason: "nothing is drawn into what is empty", live: "{}", file: "{numberOfClusters: 1}", wantSpec: "{numberOfClusters: 1}",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			hub := read(t, fmt.Sprintf("%smetadata: {name: a, namespace: ns, uid: u1, annotations: {%s}}\nspec: %s\n"+
				"status: {conditions: [{type: A, status: \"True\", reason: R, message: m, lastTransitionTime: \"2026-01-31T12:00:00Z\"}]}\n"+
				"---\n%smetadata: {name: a, namespace: ns}\nspec: {numberOfClusters: 7}\n", olderHead, last, tc.live, placementHead))
			changes := readChanges(t, Namespace{Name: "ns"}, olderHead+"metadata: {name: a, labels: {mine: given}}\nspec: "+tc.file+"\n")

			after, applied, err := changes.Apply(hub, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := placementIn[*placementv1alpha1.Placement](t, read(t, olderHead+"metadata: {name: a, namespace: ns}\nspec: "+tc.wantSpec+"\n"))
			got := placementIn[*placementv1alpha1.Placement](t, after)
			if diff := cmp.Diff(want.Spec, got.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}

			wantApplied := pods.Applied{Object: "Placement ns/a", Kept: tc.wantKept, Gone: tc.wantGone, Unchanged: applied[0].Result.Unchanged}
			if diff := cmp.Diff(wantApplied, applied[0].Result); diff != "" || len(applied) != 1 {
				t.Errorf("applied (-want +got):\n%s", diff)
			}
			if got.UID != "u1" || got.Labels["mine"] != "given" || len(got.Status.Conditions) != 1 {
				t.Errorf("metadata and status are %+v, %+v", got.ObjectMeta, got.Status)
			}
			if diff := cmp.Diff(hub.Placements[1:], after.Placements[1:]); diff != "" {
				t.Errorf("the placement of the other API (-before +after):\n%s", diff)
			}
		})
	}
}

func TestApplyNamesWhatTheHubHasWrong(t *testing.T) {
	const head = "metadata: {name: a, namespace: ns, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{'}}\nspec: {}\n"
	_, _, err := readChanges(t, Namespace{}, placementHead+"metadata: {name: a, namespace: ns}\nspec: {}\n").
		Apply(read(t, placementHead+head), nil)
	if err == nil || !strings.Contains(err.Error(), "applying Placement ns/a") || !strings.Contains(err.Error(), "remove the annotation") {
		t.Errorf("error is %v", err)
	}
}

// As on an API server, a changed spec has another generation, and an annotation is no change of the spec.
func TestAChangedSpecHasAnotherGeneration(t *testing.T) {
	for file, want := range map[string]int64{
		"metadata: {name: a, namespace: ns}\nspec: {numberOfClusters: 2}\n":                        5,
		"metadata: {name: a, namespace: ns, annotations: {b: c}}\nspec: {numberOfClusters: 1}\n":   4,
		"metadata: {name: a, namespace: ns}\nspec: {numberOfClusters: 1, clusterSets: [global]}\n": 5,
	} {
		hub, _, err := readChanges(t, Namespace{Name: "ns"}, placementHead+"metadata: {name: a}\nspec: {numberOfClusters: 1}\n").
			Apply(&explain.State{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		hub.Placements[0].SetGeneration(4)
		after, _, err := readChanges(t, Namespace{Name: "ns"}, placementHead+file).Apply(hub, nil)
		if err != nil {
			t.Fatal(err)
		}

		if got := after.Placements[0].GetGeneration(); got != want || hub.Placements[0].GetGeneration() != 4 {
			t.Errorf("%s: generation %d, want %d", file, got, want)
		}
	}
}

// Kinds of Kubernetes are merged by the keys of their lists: an element keeps what others set, and one that the last apply had and the file lacks is
// removed. Objects of other kinds are merged too, with their bindings.
func TestApplyMergesByTheKeysOfLists(t *testing.T) {
	const head = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: ns\n"
	const binding = "---\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n" +
		"metadata: {name: a, namespace: ns, labels: {%s}}\nspec: {clusterSet: a}\n"
	hub := read(t, head+`  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"spec":{"template":{"spec":{"containers":[{"name":"web","image":"w:1"},{"name":"old","image":"o"}]}}}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: injected, image: i}
      - {name: web, image: "w:1", imagePullPolicy: Always}
      - {name: old, image: o}
`+fmt.Sprintf(binding, "theirs: x"))
	changes := readChanges(t, Namespace{}, head+
		"spec:\n  template:\n    spec:\n      containers: [{name: web, image: \"w:2\"}]\n"+fmt.Sprintf(binding, "mine: given"))

	after, _, err := changes.Apply(hub, nil)
	if err != nil {
		t.Fatal(err)
	}
	containers, _, err := unstructured.NestedSlice(after.Federated.Objects[0].Object, "spec", "template", "spec", "containers")
	if err != nil {
		t.Fatal(err)
	}

	want := []any{
		map[string]any{"name": "injected", "image": "i"}, map[string]any{"name": "web", "image": "w:2", "imagePullPolicy": "Always"},
	}
	if diff := cmp.Diff(want, containers); diff != "" {
		t.Errorf("containers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"theirs": "x", "mine": "given"}, after.Bindings[0].Labels); diff != "" {
		t.Errorf("labels of the binding (-want +got):\n%s", diff)
	}
}
