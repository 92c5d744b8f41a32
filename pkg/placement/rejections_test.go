// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// messageOf returns the message of the condition PlacementSatisfied of a new Placement.
func messageOf(spec clusterv1beta1.PlacementSpec, i *inventory.Inventory) string {
	placement := placementOf(spec)
	result := resultOf(placement, i)
	return statusOf(result, planOf(result, existingOf(placement)), placement).Conditions[1].Message
}

// docs/spec/differences.md E2: the message begins with the text of upstream, and at most three rejections follow.
func TestCausesOfAnUnsatisfiedPlacement(t *testing.T) {
	i := stateOf("c-1", "c-2")
	for name, taint := range map[string]string{"t-1": "gpu", "t-2": "gpu", "t-3": "gpu", "u-1": "full", "u-2": "full", "v-1": "new", "w-1": "old"} {
		i.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterv1.ManagedClusterSpec{
			Taints: []clusterv1.Taint{{Key: taint, Value: "yes", Effect: clusterv1.TaintEffectNoSelect}},
		}})
	}
	spec := clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](3)}
	expect(t, "three causes, and how many clusters have others", "1 cluster decisions unscheduled; 2 of 9 clusters in scope selected; not selected: "+
		"taint gpu=yes:NoSelect not tolerated (3), taint full=yes:NoSelect not tolerated (2), taint new=yes:NoSelect not tolerated (1), "+
		"other causes (1)", messageOf(spec, i))

	i.DeleteCluster("w-1")
	expect(t, "just three causes", "1 cluster decisions unscheduled; 2 of 8 clusters in scope selected; not selected: "+
		"taint gpu=yes:NoSelect not tolerated (3), taint full=yes:NoSelect not tolerated (2), taint new=yes:NoSelect not tolerated (1)",
		messageOf(spec, i))
	spec.NumberOfClusters = ptr.To[int32](2)
	expect(t, "a satisfied placement tells none", "All cluster decisions scheduled", messageOf(spec, i))
}

// The number of selected clusters is read from the messages that say it.
func TestSelectedInMessages(t *testing.T) {
	spec := clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](3)}
	for message, want := range map[string]int{
		messageOf(spec, stateOf("c-1", "c-2")): 2, messageOf(spec, stateOf()): -1, "All cluster decisions scheduled": -1,
		"x; 99999999999999999999 of 3 clusters in scope selected": -1,
	} {
		selected, said := SelectedIn(message)
		if said != (want >= 0) || said && selected != want {
			t.Errorf("%q: %d, %t; want %d", message, selected, said, want)
		}
	}
}

// docs/spec/differences.md E2: long or multi-line values in a clause are shortened to one line.
func TestLongClausesAreShortened(t *testing.T) {
	lines := expressed("managedCluster.metadata.name ==\n  \"nobody\"")
	expect(t, "one line", `No ManagedCluster matches any of the cluster predicate; 0 of 1 clusters in scope selected; not selected: `+
		`predicate 1 CEL managedCluster.metadata.name == "nobody" (1)`,
		messageOf(clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{lines}}, stateOf("c-1")))
	long := expressed(`managedCluster.metadata.name == "` + strings.Repeat("ü", 1000) + `"`)
	expect(t, "short", `No ManagedCluster matches any of the cluster predicate; 0 of 1 clusters in scope selected; not selected: `+
		`predicate 1 CEL managedCluster.metadata.name == "`+strings.Repeat("ü", 74)+`... (1)`,
		messageOf(clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{long}}, stateOf("c-1")))
}
