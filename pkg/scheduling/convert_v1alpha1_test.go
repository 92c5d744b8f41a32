// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

type (
	olderSpec = placementv1alpha1.PlacementSpec
	oneOf     = []placementv1alpha1.ClusterPredicate
)

func olderPlacementOf(spec olderSpec) *placementv1alpha1.Placement {
	return &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}, Spec: spec}
}

func (h *randomHub) scheduleOlder(t *testing.T, spec olderSpec) *Result {
	t.Helper()
	return h.scheduleRequest(t, ConvertV1alpha1(selector.NewCompiler(), olderPlacementOf(spec)))
}

func labelled(expressions ...metav1.LabelSelectorRequirement) placementv1alpha1.ClusterPredicate {
	return placementv1alpha1.ClusterPredicate{LabelSelector: metav1.LabelSelector{MatchExpressions: expressions}}
}

func claiming(values map[string]string, expressions ...metav1.LabelSelectorRequirement) placementv1alpha1.ClusterPredicate {
	return placementv1alpha1.ClusterPredicate{
		ClaimSelector: placementv1alpha1.ClusterClaimSelector{MatchClaims: values, MatchExpressions: expressions},
	}
}

// docs/spec/placement-v1alpha1.md P9: clusterSets, predicates, anti-affinity and count are ANDed.
func TestOlderPlacement(t *testing.T) {
	const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/a-name-that-is-longer-than-sixty-three-characters"
	c1, c2, c3, c4 := named("c1", "region", "eu"), named("c2", "region", "eu"), named("c3", "region", "us"), named("c4")
	c1.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "id", Value: arn}}
	c2.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "id", Value: "2"}}
	tainted := named("tainted", "region", "ap")
	tainted.Spec.Taints = []clusterv1.Taint{taint("full", "", noSelect)}
	w := newRandomHub(c1, c2, c3, c4, tainted)
	w.inventory.SetBinding(bindingOf("ns", "eu"))
	w.inventory.SetClusterSet(setOf("eu", "LabelSelector", &metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}))
	w.incumbents["c2"] = true

	regions := placementv1alpha1.AntiAffinity{TopologyKey: "region", TopologyKeyType: placementv1alpha1.TopologyKeyTypeLabel}
	ids := placementv1alpha1.AntiAffinity{TopologyKey: "id", TopologyKeyType: placementv1alpha1.TopologyKeyTypeClaim}
	for _, tc := range []struct {
		reason string
		spec   olderSpec
		want   []string
		others map[string]string
	}{
		{"an empty spec is every cluster; taints apply; the incumbent comes first", olderSpec{}, []string{"c2", "c1", "c3", "c4"},
			map[string]string{"tainted": "taint full:NoSelect not tolerated"}},
		{"a set", olderSpec{ClusterSets: []string{"eu"}}, []string{"c2", "c1"}, map[string]string{"c3": "not in eu"}},
		{"a number: the default prioritizers choose", olderSpec{NumberOfClusters: ptr.To[int32](1)}, []string{"c2"},
			map[string]string{"c1": "rank 2 of 4, 1 wanted, 100 points below c2"}},
		{"an empty predicate is every cluster", olderSpec{Predicates: oneOf{{}}}, []string{"c2", "c1", "c3", "c4"}, nil},
		{"by name", olderSpec{Predicates: oneOf{{ClusterName: "c4"}}}, []string{"c4"}, map[string]string{"c1": "predicate 1 name is c4: is c1"}},
		{"by names", olderSpec{Predicates: oneOf{{ClusterName: "c4"}, {ClusterName: "c1"}, {ClusterName: "nobody"}}}, []string{"c1", "c4"},
			map[string]string{"c2": "predicate 1 name is c4: is c2; predicate 2 name is c1: is c2; predicate 3 name is nobody: is c2"}},
		{"a name lets nobody in who is tainted", olderSpec{Predicates: oneOf{{ClusterName: "tainted"}}}, []string{},
			map[string]string{"tainted": "taint full:NoSelect not tolerated"}},
		{"by labels", olderSpec{Predicates: oneOf{labelled(compare("region", metav1.LabelSelectorOpDoesNotExist))}}, []string{"c4"},
			map[string]string{"c1": "predicate 1 label region DoesNotExist: is eu"}},
		{"C1: matchClaims compares plain strings", olderSpec{Predicates: oneOf{claiming(map[string]string{"id": arn})}}, []string{"c1"},
			map[string]string{"c2": "predicate 1 claim id In [" + arn + "]: is 2"}},
		{"claim expressions", olderSpec{Predicates: oneOf{claiming(nil, compare("id", metav1.LabelSelectorOpNotIn, arn))}},
			[]string{"c2", "c3", "c4"}, map[string]string{"c1": "predicate 1 claim id NotIn [" + arn + "]: is " + arn}},
		{"matchClaims and matchExpressions are ANDed",
			olderSpec{Predicates: oneOf{claiming(map[string]string{"id": "2"}, compare("id", metav1.LabelSelectorOpNotIn, "2"))}}, []string{}, nil},
		{"the three in one are ANDed", olderSpec{Predicates: oneOf{{
			ClusterName: "c1", LabelSelector: labelled(compare("region", metav1.LabelSelectorOpExists)).LabelSelector,
			ClaimSelector: claiming(map[string]string{"id": "2"}).ClaimSelector,
		}}}, []string{}, map[string]string{"c1": "predicate 1 claim id In [2]: is " + arn}},
		{"anti-affinity by label", olderSpec{AntiAffinity: regions}, []string{"c2", "c3"}, map[string]string{
			"c1": "label region=eu is taken by c2, rank 1", "c4": "has no label region, which must differ between the selected clusters",
		}},
		{"anti-affinity by claim", olderSpec{AntiAffinity: ids}, []string{"c2", "c1"}, map[string]string{
			"c3": "has no claim id, which must differ between the selected clusters",
		}},
		{"all of it", olderSpec{
			ClusterSets: []string{"all", "eu"}, NumberOfClusters: ptr.To[int32](1), AntiAffinity: regions,
			Predicates: oneOf{{ClusterName: "c3"}, labelled(compare("region", metav1.LabelSelectorOpIn, "eu"))},
		}, []string{"c2"}, map[string]string{"c3": "rank 3 of 3, 1 wanted, 100 points below c2"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			result := w.scheduleOlder(t, tc.spec)
			expect(t, "selected", tc.want, selected(result))
			for cluster, want := range tc.others {
				verdict, _ := result.Verdict(cluster)
				expect(t, cluster, want, result.Reason(verdict))
			}
		})
	}
}

// docs/spec/placement-v1alpha1.md P10: the decisions contain the availability of a cluster, so the two taints that follow it are tolerated,
// and no others.
func TestOlderPlacementToleratesUnavailableClusters(t *testing.T) {
	carrying := func(name string, taints ...clusterv1.Taint) *clusterv1.ManagedCluster {
		cluster := named(name)
		cluster.Spec.Taints = taints
		return cluster
	}
	unavailable, unreachable := clusterv1.ManagedClusterTaintUnavailable, clusterv1.ManagedClusterTaintUnreachable
	w := newRandomHub(
		carrying("away", taint(unavailable, "", noSelect)),
		carrying("lost", taint(unreachable, "", noSelect)),
		carrying("lost-and-full", taint(unreachable, "", noSelect), taint("full", "", noSelect)),
		carrying("new", taint(unavailable, "", noSelectIfNew)),
		carrying("near", taint(unreachable+"-soon", "", noSelect)),
		carrying("odd", taint("example.com/unavailable", "", noSelect)),
	)

	result := w.scheduleOlder(t, olderSpec{})
	expect(t, "selected", []string{"away", "lost", "new"}, selected(result))
	for cluster, want := range map[string]string{
		"lost-and-full": "taint full:NoSelect not tolerated",
		"near":          "taint cluster.open-cluster-management.io/unreachable-soon:NoSelect not tolerated",
		"odd":           "taint example.com/unavailable:NoSelect not tolerated",
	} {
		verdict, _ := result.Verdict(cluster)
		expect(t, cluster, want, result.Reason(verdict))
	}

	expect(t, "v1beta1 tolerates neither", []string{}, selected(w.schedule(t, clusterv1beta1.PlacementSpec{})))
}

// Fields of the Request that the API does not have get their defaults.
func TestOlderPlacementLowersTo(t *testing.T) {
	got := ConvertV1alpha1(selector.NewCompiler(), olderPlacementOf(olderSpec{ClusterSets: []string{"b", "a"}, NumberOfClusters: ptr.To[int32](3)}))
	want := &Request{
		Key: inventory.NewPlacementKey(inventory.V1alpha1, "ns", "p"), ClusterSets: []string{"b", "a"}, Wanted: ptr.To[int32](3),
		Prioritizers: []Prioritizer{{BuiltIn: Balance, Weight: 1}, {BuiltIn: Steady, Weight: 1}}, Availability: true, NoneIsEnough: true,
		Tolerations: []clusterv1beta1.Toleration{
			{Key: "cluster.open-cluster-management.io/unavailable", Operator: clusterv1beta1.TolerationOpExists},
			{Key: "cluster.open-cluster-management.io/unreachable", Operator: clusterv1beta1.TolerationOpExists},
		},
	}
	expect(t, "request", want, got)
}

// docs/spec/differences.md A1, A2 and A6, for the older API.
func TestOlderMistakes(t *testing.T) {
	const apartPath = "spec.antiAffinity."
	placed := func(key string, kind placementv1alpha1.TopologyKeyType) olderSpec {
		return olderSpec{AntiAffinity: placementv1alpha1.AntiAffinity{TopologyKey: key, TopologyKeyType: kind}}
	}
	for _, tc := range []struct {
		reason string
		name   string
		spec   olderSpec
		want   []string
	}{
		{"the name labels every decision", strings.Repeat("x", 64), olderSpec{}, []string{
			`metadata.name: Invalid value: "` + strings.Repeat("x", 64) + `": labels every PlacementDecision and must be no more than 63 bytes`,
		}},
		{"a negative count", "p", olderSpec{NumberOfClusters: ptr.To[int32](-1)},
			[]string{"spec.numberOfClusters: Invalid value: -1: must be 0 or more, or absent for all clusters"}},
		{"a label selector", "p", olderSpec{Predicates: oneOf{{}, labelled(compare("region", "Is"))}}, []string{
			`spec.predicates[1].labelSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
		}},
		{"a cluster name", "p", olderSpec{Predicates: oneOf{{ClusterName: "c_1"}}}, []string{
			`spec.predicates[0].clusterName: Invalid value: "c_1": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric ` +
				`characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation ` +
				`is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		}},
		{"claims", "p", olderSpec{Predicates: oneOf{claiming(map[string]string{"": "x"}, compare("id", metav1.LabelSelectorOpIn))}}, []string{
			`spec.predicates[0].claimSelector.matchClaims[]: Required value: the name of a cluster claim`,
			"spec.predicates[0].claimSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
		}},
		{"anti-affinity without a type", "p", placed("zone", ""),
			[]string{apartPath + `topologyKeyType: Unsupported value: "": supported values: "Label", "Claim"`}},
		{"anti-affinity without a key", "p", placed("", placementv1alpha1.TopologyKeyTypeClaim),
			[]string{apartPath + `topologyKey: Required value: the name of a label or of a cluster claim`}},
		{"anti-affinity of another type", "p", placed("zone", "Taint"),
			[]string{apartPath + `topologyKeyType: Unsupported value: "Taint": supported values: "Label", "Claim"`}},
		{"anti-affinity over a label that no cluster can have", "p", placed("a//b", placementv1alpha1.TopologyKeyTypeLabel), []string{
			apartPath + `topologyKey: Invalid value: "a//b": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and ` +
				`must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is ` +
				`'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
		}},
		{"C1: a claim may have any name", "p", placed("https://a b//c", placementv1alpha1.TopologyKeyTypeClaim), []string{}},
		{"all of them, in the order of the spec", "P.", olderSpec{
			NumberOfClusters: ptr.To[int32](-7), Predicates: oneOf{labelled(compare("a", "Is")), labelled(compare("b", "Is"))},
			AntiAffinity: placed("", "Taint").AntiAffinity,
		}, []string{
			`metadata.name: Invalid value: "P.": labels every PlacementDecision and a valid label must be an empty string or consist of ` +
				`alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character ` +
				`(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
			"spec.numberOfClusters: Invalid value: -7: must be 0 or more, or absent for all clusters",
			`spec.predicates[0].labelSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
			`spec.predicates[1].labelSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
			apartPath + `topologyKey: Required value: the name of a label or of a cluster claim`,
			apartPath + `topologyKeyType: Unsupported value: "Taint": supported values: "Label", "Claim"`,
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement := olderPlacementOf(tc.spec)
			placement.Name = tc.name
			result := Schedule(ConvertV1alpha1(selector.NewCompiler(), placement), inventory.New(selector.NewCompiler()).Snapshot(), nil, now)
			got := make([]string, 0, len(result.Errors))
			for _, mistake := range result.Errors {
				got = append(got, mistake.Error())
			}
			expect(t, "mistakes", tc.want, got)
			expect(t, "held", len(tc.want) > 0, result.Outcome() != Decided)
		})
	}
}

func TestV1alpha1Dependencies(t *testing.T) {
	request := ConvertV1alpha1(selector.NewCompiler(), olderPlacementOf(olderSpec{
		ClusterSets: []string{"b", "a"},
		Predicates: oneOf{
			{ClusterName: "c4"}, labelled(compare("region", metav1.LabelSelectorOpExists)),
			claiming(map[string]string{"id": "x"}, compare("url", metav1.LabelSelectorOpExists)),
		},
		AntiAffinity: placementv1alpha1.AntiAffinity{TopologyKey: "rack", TopologyKeyType: placementv1alpha1.TopologyKeyTypeClaim},
	}))
	expectInterest(t, inventory.Dependencies{ClusterSets: []string{"b", "a"}, Reads: []clusterinfo.Property{
		{Kind: clusterinfo.Taint}, {Kind: clusterinfo.Claim, Name: "rack"}, {Kind: clusterinfo.Availability},
	}}, []string{"name is c4", "label region Exists", "claim id In [x] and claim url Exists"}, request.Dependencies())
}

// docs/spec/placement-v1alpha1.md P14: available follows the condition, so a change of it enqueues only the Placements whose decisions
// contain it.
func TestAvailabilityWakesOlderPlacements(t *testing.T) {
	w := newRandomHub(named("c1"))
	older, newer := ConvertV1alpha1(selector.NewCompiler(), olderPlacementOf(olderSpec{})), ConvertV1beta1(selector.NewCompiler(),
		placementOf(placementSpec{}))
	for _, request := range []*Request{older, newer} {
		w.inventory.Subscribe(request.Key, request.Dependencies())
	}
	w.inventory.SnapshotFor(older.Key, newer.Key)

	for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionUnknown} {
		cluster := named("c1")
		cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
		affected := w.inventory.SetCluster(cluster)
		expect(t, "woken by "+string(status), []inventory.Key{older.Key}, affected.Subscribers)
	}
	cluster := named("c1")
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionFalse}}
	expect(t, "woken by a change that does not flip it", nil, w.inventory.SetCluster(cluster).Subscribers)
}
