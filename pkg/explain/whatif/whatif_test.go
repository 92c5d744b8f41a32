// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

const (
	c1Before = "- cluster [c1,{cluster.open-cluster-management.io/clusterset:prod,region:us}," +
		"[{key:gpu,value:a100,effect:NoSelect,timeAdded:2026-01-01T00:00:00Z},{key:gpu,effect:PreferNoSelect,timeAdded:null}]," +
		"[{name:zone,value:a},{name:version,value:1.30}]]"
	c1Prod   = "{cluster.open-cluster-management.io/clusterset:prod,region:us}"
	c1Taints = "[{key:gpu,value:a100,effect:NoSelect,timeAdded:2026-01-01T00:00:00Z},{key:gpu,effect:PreferNoSelect,timeAdded:null}]"
	c1Claims = "[{name:zone,value:a},{name:version,value:1.30}]"
)

var (
	newer = inventory.NewPlacementKey(inventory.V1beta1, "team-a", "p")
	older = inventory.NewPlacementKey(inventory.V1alpha1, "team-a", "p")
)

// c1 is the line of cluster c1 after a change.
func c1(labels, taints, claims string) string {
	return fmt.Sprintf("+ cluster [c1,%s,%s,%s]", labels, taints, claims)
}

func taint(cluster, key, value string, effect clusterv1.TaintEffect) Taint {
	return Taint{Cluster: cluster, Taint: clusterv1.Taint{Key: key, Value: value, Effect: effect}}
}

func cluster(name string, labels map[string]string, taints ...clusterv1.Taint) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: clusterv1.ManagedClusterSpec{Taints: taints},
	}
}

func scores(cluster, name string, value int32) *clusterv1alpha1.AddOnPlacementScore {
	return &clusterv1alpha1.AddOnPlacementScore{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name},
		Status:     clusterv1alpha1.AddOnPlacementScoreStatus{Scores: []clusterv1alpha1.AddOnPlacementScoreItem{{Name: "free", Value: value}}},
	}
}

func TestChanges(t *testing.T) {
	const set = "cluster.open-cluster-management.io/clusterset"
	for _, tc := range []struct {
		reason   string
		change   Change
		wantText string
		want     []string
	}{
		{
			reason: "a label", change: Label{"c1", "region", "eu"}, wantText: "label c1 region=eu",
			want: []string{c1Before, c1("{"+set+":prod,region:eu}", c1Taints, c1Claims)},
		},
		{
			reason: "the first label; it is nobody else's business that the cluster is in no set", change: Label{"c2", "region", "eu"},
			wantText: "label c2 region=eu", want: []string{"- cluster [c2,null,null,null]", "+ cluster [c2,{region:eu},null,null]"},
		},
		{reason: "a label that is there", change: Label{"c1", "region", "us"}, wantText: "label c1 region=us", want: []string{}},
		{
			reason: "without a label", change: Unlabel{"c1", "region"}, wantText: "label c1 region-",
			want: []string{c1Before, c1("{"+set+":prod}", c1Taints, c1Claims)},
		},
		{
			reason: "without its set a cluster is in the set default", change: Unlabel{"c1", set},
			wantText: "label c1 " + set + "- (so that it is in the set default)",
			want:     []string{c1Before, c1("{"+set+":default,region:us}", c1Taints, c1Claims)},
		},
		{
			reason: "with an empty one too", change: Label{"c1", set, ""}, wantText: "label c1 " + set + "=",
			want: []string{c1Before, c1("{"+set+":default,region:us}", c1Taints, c1Claims)},
		},
		{
			reason: "another claim", change: Claim{"c1", "arn:x/y=", "$"}, wantText: "claim c1 arn:x/y==$",
			want: []string{c1Before, c1(c1Prod, c1Taints, "[{name:zone,value:a},{name:version,value:1.30},{name:arn:x/y=,value:$}]")},
		},
		{
			reason: "another value of a claim", change: Claim{"c1", "version", "1.31"}, wantText: "claim c1 version=1.31",
			want: []string{c1Before, c1(c1Prod, c1Taints, "[{name:zone,value:a},{name:version,value:1.31}]")},
		},
		{
			reason: "without a claim", change: Unclaim{"c1", "zone"}, wantText: "claim c1 zone-",
			want: []string{c1Before, c1(c1Prod, c1Taints, "[{name:version,value:1.30}]")},
		},
		{
			reason: "a taint bears the time of the change", change: taint("c2", "gpu", "", clusterv1.TaintEffectNoSelectIfNew),
			wantText: "taint c2 gpu:NoSelectIfNew",
			want: []string{
				"- cluster [c2,null,null,null]",
				"+ cluster [c2,null,[{key:gpu,effect:NoSelectIfNew,timeAdded:2026-01-31T12:00:00Z}],null]",
			},
		},
		{
			reason: "another value of a taint", change: taint("c1", "gpu", "h100", clusterv1.TaintEffectNoSelect),
			wantText: "taint c1 gpu=h100:NoSelect",
			want: []string{c1Before, c1(c1Prod, "[{key:gpu,value:h100,effect:NoSelect,timeAdded:2026-01-31T12:00:00Z},"+
				"{key:gpu,effect:PreferNoSelect,timeAdded:null}]", c1Claims)},
		},
		{
			reason: "a taint that is there keeps its time", change: taint("c1", "gpu", "a100", clusterv1.TaintEffectNoSelect),
			wantText: "taint c1 gpu=a100:NoSelect", want: []string{},
		},
		{
			reason: "without the taints of a key", change: Untaint{Cluster: "c1", Key: "gpu"}, wantText: "taint c1 gpu-",
			want: []string{c1Before, c1(c1Prod, "[]", c1Claims)},
		},
		{
			reason:   "without the taint of a key and an effect",
			change:   Untaint{Cluster: "c1", Key: "gpu", Effect: clusterv1.TaintEffectNoSelect},
			wantText: "taint c1 gpu:NoSelect-",
			want:     []string{c1Before, c1(c1Prod, "[{key:gpu,effect:PreferNoSelect,timeAdded:null}]", c1Claims)},
		},
		{
			reason: "drained", change: Drain{"c2"}, wantText: "drain c2",
			want: []string{"- cluster [c2,null,null,null]", "+ cluster [c2,null,[{key:drain,effect:NoSelect,timeAdded:2026-01-31T12:00:00Z}],null]"},
		},
		{
			reason: "a cluster goes with its scores", change: Remove{"c1"}, wantText: "remove c1",
			want: []string{c1Before, "- scores [c1,cpu,[{name:free,value:40}]]"},
		},
		{
			reason: "a new cluster is admitted as on a hub",
			change: Add{
				Clusters: []*clusterv1.ManagedCluster{
					cluster("c3", nil, clusterv1.Taint{Key: "gpu", Effect: clusterv1.TaintEffectNoSelect}),
					cluster("c4", map[string]string{set: "prod"}),
				},
				Scores: []*clusterv1alpha1.AddOnPlacementScore{scores("c3", "cpu", 7), scores("c1", "cpu", 8)},
			},
			wantText: "add c3 (so that it is in the set default), c4, scores c3/cpu, scores c1/cpu",
			want: []string{
				"- scores [c1,cpu,[{name:free,value:40}]]",
				"+ cluster [c3,{" + set + ":default},[{key:gpu,effect:NoSelect,timeAdded:2026-01-31T12:00:00Z}],null]",
				"+ cluster [c4,{" + set + ":prod},null,null]",
				"+ scores [c1,cpu,[{name:free,value:8}]]", "+ scores [c3,cpu,[{name:free,value:7}]]",
			},
		},
		{
			reason: "a binding", change: WithBinding{"team-a", "default"}, wantText: "bind default to team-a",
			want: []string{"+ binding [team-a,default]"},
		},
		{reason: "a binding that is there", change: WithBinding{"team-a", "prod"}, wantText: "bind prod to team-a", want: []string{}},
		{
			reason: "without a binding", change: WithoutBinding{"team-b", "prod"}, wantText: "unbind prod from team-b",
			want: []string{"- binding [team-b,prod]"},
		},
		{
			reason: "without a binding that follows from RBAC", change: WithoutBinding{"team-c", "prod"}, wantText: "unbind prod from team-c",
			want: []string{"- binding [team-c,prod]"},
		},
		{
			reason: "without any binding of a set", change: WithoutBinding{"", "prod"}, wantText: "unbind prod from all namespaces",
			want: []string{"- binding [team-a,prod]", "- binding [team-b,prod]", "- binding [team-c,prod]"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if text := tc.change.String(); text != tc.wantText {
				t.Errorf("text is %q, want %q", text, tc.wantText)
			}
			if diff := cmp.Diff(tc.want, changesOf(t, tc.change)); diff != "" {
				t.Errorf("what changed (-want +got):\n%s", diff)
			}
		})
	}
}

// changesOf applies changes to the test State, and checks that it is not modified.
func changesOf(t *testing.T, changes ...Change) []string {
	t.Helper()
	state, untouched := readTestState(t), readTestState(t)

	after, err := Apply(state, noon, changes...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(untouched, state); diff != "" {
		t.Errorf("the given world changed (-before +after):\n%s", diff)
	}
	if after == state {
		t.Error("the given world came back")
	}
	return changed(lines(t, untouched), lines(t, after))
}

func TestChangesOfPlacements(t *testing.T) {
	gpu := clusterv1beta1.Toleration{Key: "gpu", Value: "a100", Effect: clusterv1.TaintEffectNoSelect}
	for _, tc := range []struct {
		reason             string
		change             Change
		wantText, wantPart string
	}{
		{
			reason: "a toleration", change: Toleration{newer, gpu}, wantText: "toleration gpu=a100:NoSelect on team-a/p",
			wantPart: "tolerations:[{key:gpu,value:a100,effect:NoSelect}]",
		},
		{
			reason: "another number", change: NumberOfClusters{newer, ptr.To[int32](5)}, wantText: "numberOfClusters 5 on team-a/p",
			wantPart: "numberOfClusters:5",
		},
		{
			reason: "a number, in the older API", change: NumberOfClusters{older, ptr.To[int32](2)}, wantText: "numberOfClusters 2 on team-a/p",
			wantPart: "spec:{numberOfClusters:2",
		},
		{reason: "all", change: NumberOfClusters{newer, nil}, wantText: "numberOfClusters all on team-a/p", wantPart: "spec:{prioritizerPolicy"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if text := tc.change.String(); text != tc.wantText {
				t.Errorf("text is %q, want %q", text, tc.wantText)
			}
			got := changesOf(t, tc.change)
			if len(got) != 2 || !strings.HasPrefix(got[1], "+ placement") || !strings.Contains(got[1], tc.wantPart) {
				t.Errorf("what changed is %q, want a placement with %q", got, tc.wantPart)
			}
		})
	}
}

func TestChangesAreCarriedOutInTheirOrder(t *testing.T) {
	got := changesOf(t, Remove{"c2"}, Add{Clusters: []*clusterv1.ManagedCluster{cluster("c2", nil)}}, Label{"c2", "region", "eu"}, Drain{"c2"})
	want := []string{
		"- cluster [c2,null,null,null]",
		"+ cluster [c2,{cluster.open-cluster-management.io/clusterset:default,region:eu}," +
			"[{key:drain,effect:NoSelect,timeAdded:2026-01-31T12:00:00Z}],null]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what changed (-want +got):\n%s", diff)
	}
}

func TestWhatDoesNotDifferIsShared(t *testing.T) {
	state := readTestState(t)
	after, err := Apply(state, noon, Drain{"c1"})
	if err != nil {
		t.Fatal(err)
	}
	if after.Clusters[0] == state.Clusters[0] || after.Clusters[1] != state.Clusters[1] || &after.Placements[0] != &state.Placements[0] {
		t.Error("exactly the cluster that changes has to be another object")
	}
}

// Two states of one version would count as one.
func TestAChangedClusterHasNoVersion(t *testing.T) {
	state := readTestState(t)
	state.Clusters[0].ResourceVersion = "7"
	again := state.Clusters[0].DeepCopy()
	for _, changes := range [][]Change{{Drain{"c1"}}, {Remove{"c1"}, Add{Clusters: []*clusterv1.ManagedCluster{again}}}} {
		after, err := Apply(state, noon, changes...)
		if err != nil {
			t.Fatal(err)
		}
		for _, cluster := range after.Clusters {
			if cluster.Name == "c1" && cluster.ResourceVersion != "" {
				t.Errorf("after %v the version is still %s", changes, cluster.ResourceVersion)
			}
		}
	}
}

func TestMistakesSayWhatToDo(t *testing.T) {
	long := strings.Repeat("x", 1025)
	for _, tc := range []struct {
		reason string
		change Change
		want   string
	}{
		{"a cluster that is not there", Drain{"c11"}, "drain c11: there is no ManagedCluster c11: correct the name; there is c1"},
		{"the same of other changes", Label{"x", "a", "b"}, "there is no ManagedCluster x: correct the name; there is c1, c2"},
		{"removing", Remove{"x"}, "there is no ManagedCluster x"},
		{
			"a label that is not there", Unlabel{"c1", "regoin"},
			"ManagedCluster c1 has no such label: there is no label regoin: correct the name; there is region",
		},
		{"a label of a cluster without", Unlabel{"c2", "a"}, "there is no label a, and no other one"},
		{"a claim that is not there", Unclaim{"c1", "zones"}, "has no such claim: there is no claim zones: correct the name; there is zone"},
		{
			"a taint that is not there", Untaint{Cluster: "c1", Key: "cpu"},
			"has no such taint: there is no taint cpu: correct the name; there is gpu:NoSelect, gpu:PreferNoSelect",
		},
		{"a taint of another effect", Untaint{Cluster: "c1", Key: "gpu", Effect: "NoSelectIfNew"}, "has no such taint"},
		{"a key that no label has", Label{"c1", "a b", ""}, `"a b" is no key of a label: name part must consist of`},
		{"a value that no label has", Label{"c1", "a", "b/c"}, `"b/c" is no value of a label: a valid label must be`},
		{
			"a set that does not exist", Label{"c1", "cluster.open-cluster-management.io/clusterset", "prdo"},
			"there is no ManagedClusterSet prdo: correct the name; there is prod",
		},
		{"a claim without a name", Claim{"c1", "", "a"}, "the name of a claim has 1 to 253 letters, and this one has 0"},
		{"a claim without a value", Claim{"c1", "a", ""}, "the value of a claim has 1 to 1024 letters, and this one has 0"},
		{"a key that no taint has", taint("c1", "a b", "", "NoSelect"), `"a b" is no key of a taint`},
		{"a long value of a taint", taint("c1", "a", long, "NoSelect"), "the value of a taint has at most 1024 letters"},
		{
			"an effect of nodes", taint("c1", "a", "", "NoSchedule"),
			`a taint has no effect "NoSchedule": use one of [NoSelect PreferNoSelect NoSelectIfNew]`,
		},
		{
			"a cluster that is there", Add{Clusters: []*clusterv1.ManagedCluster{cluster("c1", nil)}},
			"ManagedCluster c1 exists already: leave it out",
		},
		{
			"scores of nobody", Add{Scores: []*clusterv1alpha1.AddOnPlacementScore{scores("c9", "cpu", 1)}},
			"AddOnPlacementScore c9/cpu: there is no ManagedCluster c9",
		},
		{"a binding to nowhere", WithBinding{"", "prod"}, "has to be bound to a namespace: name one"},
		{"a binding of a set that does not exist", WithBinding{"team-a", "nosuch"}, "there is no ManagedClusterSet nosuch"},
		{"a set that is bound nowhere", WithoutBinding{"", "prd"}, "there is no ManagedClusterSetBinding prd: correct the name; there is prod"},
		{
			"a set that is not bound here", WithoutBinding{"team-a", "global"},
			"there is no ManagedClusterSetBinding team-a/global: correct the name; there is team-b/global",
		},
		{"a negative number", NumberOfClusters{newer, ptr.To[int32](-1)}, "spec.numberOfClusters is 0 or more, and not -1"},
		{
			"a placement that is not there", NumberOfClusters{inventory.NewPlacementKey(inventory.V1beta1, "team-a", "q"), nil},
			"there is no Placement team-a/q: correct the name; there is team-a/p",
		},
		{
			"a toleration in the older API", Toleration{older, clusterv1beta1.Toleration{Operator: clusterv1beta1.TolerationOpExists}},
			"Placement team-a/p (placement.open-cluster-management.io): placements of placement.open-cluster-management.io have no tolerations",
		},
		{"a toleration of an effect of nodes", Toleration{newer, clusterv1beta1.Toleration{Key: "a", Effect: "NoExecute"}}, `no effect "NoExecute"`},
		{"a toleration of no key", Toleration{newer, clusterv1beta1.Toleration{Key: "a b"}}, `"a b" is no key`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			state, untouched := readTestState(t), readTestState(t)
			_, err := Apply(state, noon, tc.change)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want one with %q", err, tc.want)
			}
			if diff := cmp.Diff(untouched, state); diff != "" {
				t.Errorf("the given world changed (-before +after):\n%s", diff)
			}
		})
	}
}

// What is refused here is what the definitions refuse.
func TestBoundsAreThoseOfTheDefinitions(t *testing.T) {
	schema := schemaOf(t, "ManagedCluster").Properties
	taints := schema["spec"].Properties["taints"].Items.Schema.Properties
	claims := schema["status"].Properties["clusterClaims"].Items.Schema.Properties
	if pattern := taints["key"].Pattern; pattern != taintKey.String() {
		t.Errorf("keys of taints are %s", pattern)
	}

	for name, length := range map[string][2]int64{
		"taint key": {taintKeyLength, *taints["key"].MaxLength}, "taint value": {taintValueLength, *taints["value"].MaxLength},
		"claim name": {claimNameLength, *claims["name"].MaxLength}, "claim value": {claimValueLength, *claims["value"].MaxLength},
	} {
		if length[0] != length[1] {
			t.Errorf("%s has at most %d letters here, and %d in the definition", name, length[0], length[1])
		}
	}

	allowed := make([]string, 0, len(effects))
	for _, effect := range effects {
		allowed = append(allowed, fmt.Sprintf("%q", effect))
	}
	defined := make([]string, 0, len(effects))
	for _, effect := range taints["effect"].Enum {
		defined = append(defined, string(effect.Raw))
	}
	slices.Sort(allowed)
	slices.Sort(defined)

	if !slices.Equal(allowed, defined) {
		t.Errorf("effects are %v, and %v in the definition", allowed, defined)
	}
}

func schemaOf(t *testing.T, kind string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	for _, crd := range definitions(t) {
		if crd.Spec.Names.Kind == kind {
			return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		}
	}
	t.Fatalf("no definition of %s", kind)
	return nil
}

func TestNamesOfWhatIsAddedAreNotEndless(t *testing.T) {
	var add Add
	for i := range 7 {
		add.Clusters = append(add.Clusters, cluster(fmt.Sprint("n", i), map[string]string{clusterv1beta2.ClusterSetLabel: "prod"}))
	}
	if text := add.String(); text != "add n0, n1, n2, n3, n4 and 2 more" {
		t.Errorf("text is %q", text)
	}

	_, err := Apply(readTestState(t), noon, add, Drain{corev1.NamespaceDefault})
	if err == nil || !strings.Contains(err.Error(), "there are 9 others, of which none is like it") {
		t.Errorf("error is %v", err)
	}
}

func TestSeveralNamesAtOnceAreNone(t *testing.T) {
	_, err := Apply(readTestState(t), noon, Drain{"eu1,eu2"})
	if err == nil || !strings.Contains(err.Error(), "repeat the flag for others") {
		t.Errorf("error is %v", err)
	}
}
