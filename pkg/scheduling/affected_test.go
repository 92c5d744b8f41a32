// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

func pick(t *rapid.T, label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(t, label)
}

func some[V any](t *rapid.T, label string, most int, from ...V) []V {
	return rapid.SliceOfN(rapid.SampledFrom(from), 0, most).Draw(t, label)
}

// drawSpec draws a Placement spec that reads some properties of every kind.
func drawSpec(t *rapid.T) placementSpec {
	spec := placementSpec{
		ClusterSets: some(t, "sets", 2, "a", "b", "label", "unknown"),
		Predicates: some(t, "predicates", 2,
			byLabel("region", "eu"), byClaim(compare("id", metav1.LabelSelectorOpNotIn, "1")), byLabel("zone", "x"),
			byLabel("region", "eu", "zone", "x"),
			byCEL(`managedCluster.scores("demo").all(s, s.value >= 0)`), byCEL(`has(managedCluster.metadata.annotations)`),
		),
		Tolerations: some(t, "tolerations", 1, exist("", ""), clusterv1beta1.Toleration{
			Key: "gpu", Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To(int64(60)),
		}),
		PrioritizerPolicy: additive(some(t, "prioritizers", 2, addOn("demo", "x", 3), addOn("demo", "x", 0), builtIn(ResourceAllocatableCPU, -1),
			builtIn(SpreadScore, 2))...),
	}

	spec.SpreadPolicy.SpreadConstraints = some(t, "spread", 1, softly(clusterv1beta1.TopologyKeyTypeLabel, "zone"),
		over(clusterv1beta1.TopologyKeyTypeClaim, "id", 1, clusterv1beta1.DoNotSchedule))
	spec.NumberOfClusters = drawWanted(t)
	return spec
}

func drawWanted(t *rapid.T) *int32 {
	if rapid.Bool().Draw(t, "limited") {
		return ptr.To(rapid.Int32Range(0, 3).Draw(t, "wanted"))
	}
	return nil
}

func drawCluster(t *rapid.T, name string) *clusterv1.ManagedCluster {
	cluster := named(name, clusterv1beta2.ClusterSetLabel, pick(t, "set", "a", "b", ""), "region", pick(t, "region", "eu", "us"))
	if rapid.Bool().Draw(t, "zone") {
		cluster.Labels["zone"] = pick(t, "zone", "x", "y")
	}
	if rapid.Bool().Draw(t, "claim") {
		cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "id", Value: pick(t, "id", "1", "2")}}
	}

	if rapid.IntRange(0, 3).Draw(t, "tainted") == 0 {
		cluster.Spec.Taints = []clusterv1.Taint{{
			Key: pick(t, "taint", "gpu", "full"), Effect: rapid.SampledFrom([]clusterv1.TaintEffect{noSelect, noSelectIfNew, prefer}).Draw(t,
				"effect"),
			TimeAdded: metav1.NewTime(now.Add(-time.Second * time.Duration(rapid.IntRange(59, 61).Draw(t, "since")))),
		}}
	}
	if rapid.Bool().Draw(t, "annotated") {
		cluster.Annotations = map[string]string{"a": "b"}
	}

	cluster.Status.Capacity = clusterv1.ResourceList{"cpu": resource.MustParse("4")}
	cluster.Status.Allocatable = clusterv1.ResourceList{"cpu": resource.MustParse(pick(t, "cpu", "1", "2", "4"))}
	if rapid.Bool().Draw(t, "available") {
		cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	}
	if rapid.IntRange(0, 5).Draw(t, "terminating") == 0 {
		cluster.DeletionTimestamp = &metav1.Time{Time: now}
	}
	return cluster
}

func drawScore(t *rapid.T, cluster string) *clusterv1alpha1.AddOnPlacementScore {
	until := &metav1.Time{Time: now.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "until")))}
	return scoreOf(cluster, pick(t, "scores", "demo", "other"), until, clusterv1alpha1.AddOnPlacementScoreItem{
		Name: "x", Value: rapid.Int32Range(-1, 1).Draw(t, "score"),
	})
}

func drawSet(t *rapid.T) *clusterv1beta2.ManagedClusterSet {
	kinds := []clusterv1beta2.SelectorType{"", clusterv1beta2.LabelSelector, clusterv1beta2.LabelSelector, "Broken"}
	return setOf(pick(t, "set", "a", "b", "label"), rapid.SampledFrom(kinds).Draw(t, "kind"),
		rapid.SampledFrom([]*metav1.LabelSelector{nil, {}, {MatchLabels: map[string]string{"region": "eu"}}}).Draw(t, "selector"))
}

func drawEvent(t *rapid.T, i *inventory.Inventory) inventory.Affected {
	cluster, namespace, set := pick(t, "cluster", "c1", "c2", "c3", "c4"), pick(t, "namespace", "ns1", "ns2"), pick(t, "set", "a", "b", "label")
	switch pick(t, "event", "cluster", "cluster", "cluster gone", "scores", "scores gone", "set", "set gone", "binding", "binding gone") {
	case "cluster":
		return i.SetCluster(drawCluster(t, cluster))
	case "cluster gone":
		return i.DeleteCluster(cluster)
	case "scores":
		return i.SetScores(drawScore(t, cluster))
	case "scores gone":
		return i.DeleteScores(cluster, pick(t, "scores", "demo", "other"))
	case "set":
		return i.SetClusterSet(drawSet(t))
	case "set gone":
		return i.DeleteClusterSet(set)
	case "binding":
		return i.SetBinding(bindingOf(namespace, set))
	default:
		return i.DeleteBinding(namespace, set)
	}
}

func drawRequest(t *rapid.T, compiler *selector.Compiler, namespace, name string) *Request {
	if rapid.Bool().Draw(t, "older API") {
		placement := olderPlacementOf(drawOlderSpec(t))
		placement.Namespace, placement.Name = namespace, name
		return ConvertV1alpha1(compiler, placement)
	}
	placement := placementOf(drawSpec(t))
	placement.Namespace, placement.Name = namespace, name
	return ConvertV1beta1(compiler, placement)
}

// writtenParts returns everything of a result that is written, and the time at which it is computed again.
func writtenParts(r *Result) string {
	lines := []string{fmt.Sprint(
		r.Outcome() != Decided, len(r.Bound) > 0, r.Eligible, r.Available > 0, r.Unscheduled, r.RequeueAt, r.EvaluationErrors, r.Spreads,
	)}
	for _, f := range r.Selected {
		line := f.Name
		if r.Request.Availability {
			line += fmt.Sprint(" available: ", f.Available)
		}
		if r.Request.Order == ByScore {
			line += fmt.Sprint(" score: ", r.Score(f.Name))
		}
		lines = append(lines, line)
	}

	for _, broken := range r.BrokenSets {
		lines = append(lines, broken.Err.Error())
	}
	if r.ListsRejections() {
		lines = append(lines, causesOf(r)...)
	}
	return strings.Join(lines, "\n")
}

// docs/architecture.md law 3: Affected contains every Placement whose result an event changed.
func TestAffectedMissesNobody(t *testing.T) {
	compiler := selector.NewCompiler()
	property.Check(t, func(t *rapid.T) {
		i := inventory.New(compiler)
		requests, keys := make([]*Request, 0, 5), make([]inventory.Key, 0, 5)
		for n := range rapid.IntRange(1, 5).Draw(t, "placements") {
			request := drawRequest(t, compiler, pick(t, "namespace", "ns1", "ns2"), fmt.Sprintf("p%d", n))
			i.Subscribe(request.Key, request.Dependencies())
			requests, keys = append(requests, request), append(keys, request.Key)
		}

		for _, set := range []string{"a", "b", "label"} {
			i.SetClusterSet(setOf(set, "", nil))
			i.SetBinding(bindingOf("ns1", set))
		}
		i.SetDecision(pageOf("ns1", "q-decision-1", "q", "c1", "c2"))
		i.SetDecision(pageOf("ns2", "q-decision-1", "q", "c2", "c4"))
		incumbents := map[string]bool{"c1": true, "c4": true}
		before := make([]string, len(requests))

		for range rapid.IntRange(1, 30).Draw(t, "events") {
			snapshot := i.SnapshotFor(keys...)
			for n, request := range requests {
				result := same(t, request, snapshot, incumbents)
				before[n] = writtenParts(result)
				i.UpdateDependencies(request.Key, result.Dependencies())
			}
			affected := drawEvent(t, i)
			snapshot = i.Snapshot()

			for n, request := range requests {
				after := writtenParts(same(t, request, snapshot, incumbents))
				if after != before[n] && !slices.Contains(affected.Subscribers, request.Key) {
					t.Fatalf("%v is not among %v (%s), but its result was\n%s\nand is\n%s",
						request.Key, affected.Subscribers, affected.Cause, before[n], after)
				}
			}
		}
	})
}
