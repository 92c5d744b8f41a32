// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

func TestSetsStandToQuestionAndCluster(t *testing.T) {
	w := newRandomHub(named("c1", "cluster.open-cluster-management.io/clusterset", "prod"))
	w.inventory.SetClusterSet(setOf("prod", "", nil))
	w.inventory.SetClusterSet(setOf("edge", "", nil))
	w.inventory.SetBinding(bindingOf("ns", "edge"))
	result := w.schedule(t, placementSpec{ClusterSets: []string{"edge", "prod"}})
	var texts []string
	for _, s := range result.Sets(result.Cluster("c1")) {
		texts = append(texts, fmt.Sprintf("%s bound %v asked %v holds %v", s.Set.Name, s.Bound, s.Asked, s.Contains))
	}

	expect(t, "sets", []string{
		"all bound true asked false holds true", "edge bound true asked true holds false", "prod bound false asked true holds true",
	}, texts)
}

// docs/spec/differences.md E1: the tolerances explain the verdict.
func TestTolerancesNameWhatTolerates(t *testing.T) {
	cluster := named("c1")
	cluster.Spec.Taints = []clusterv1.Taint{
		taint("gpu", "a100", noSelect), taint("new", "", noSelectIfNew), taint("soon", "x", noSelect), taint("other", "", noSelect),
	}
	cluster.Spec.Taints[2].TimeAdded = metav1.NewTime(now)
	w := newRandomHub(cluster)
	w.incumbents["c1"] = true

	limited := exist("soon", "")
	limited.TolerationSeconds = new(int64(60))
	tolerations := []clusterv1beta1.Toleration{limited, equal("gpu", "a100", "")}
	result := w.schedule(t, placementSpec{Tolerations: tolerations})
	var texts []string

	for _, tolerance := range result.Tolerances(result.Cluster("c1")) {
		by := "nothing"
		if tolerance.By != nil {
			by = tolerance.By.Key
		}
		texts = append(texts, fmt.Sprintf("%s %v by %s for %v", tolerance.Text, tolerance.Tolerated, by, max(tolerance.Until.Sub(now), 0)))
	}

	expect(t, "tolerances", []string{
		"gpu=a100:NoSelect true by gpu for 0s", "new:NoSelectIfNew true by nothing for 0s",
		fmt.Sprintf("soon=x:NoSelect true by soon for %v", time.Minute), "other:NoSelect false by nothing for 0s",
	}, texts)
	expect(t, "the verdict agrees", map[string]string{"c1": "Taint"}, stages(result))
}
