// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// anyCluster draws a cluster with few keys, so that taints stay, change, appear and disappear.
func anyCluster(t *rapid.T, label string) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	switch rapid.IntRange(0, 3).Draw(t, label+" labels") {
	case 0:
		cluster.Labels = map[string]string{"a": "b"}
	case 1:
		cluster.Labels = map[string]string{"a": "b", clusterv1beta2.ClusterSetLabel: ""}
	case 2:
		cluster.Labels = map[string]string{"a": "b", clusterv1beta2.ClusterSetLabel: "blue"}
	}
	if rapid.IntRange(0, 4).Draw(t, label+" deleted") == 0 {
		cluster.DeletionTimestamp = &before
	}
	for i := range rapid.IntRange(0, 4).Draw(t, label+" taints") {
		part := func(name string, from ...string) string {
			return rapid.SampledFrom(from).Draw(t, fmt.Sprintf("%s taint %d %s", label, i, name))
		}
		added := map[string]metav1.Time{"never": {}, "before": before, "other": other, "now": metav1.NewTime(now.Truncate(time.Second))}
		cluster.Spec.Taints = append(cluster.Spec.Taints, taint(part("key", "k1", "k2", "k3"), part("value", "", "v"),
			clusterv1.TaintEffect(part("effect", "NoSelect", "NoSelectIfNew")), added[part("time", "never", "never", "before", "other", "now")]))
	}
	return cluster
}

// anyPast draws a former state of a cluster, which often shares a part of it.
func anyPast(t *rapid.T, cluster *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	if rapid.Bool().Draw(t, "created") {
		return nil
	}
	past := anyCluster(t, "past")
	for i, taint := range cluster.Spec.Taints {
		if rapid.Bool().Draw(t, fmt.Sprintf("taint %d stays", i)) {
			past.Spec.Taints = append(past.Spec.Taints, taint)
		}
	}
	return past
}

func TestPatchedClustersNeedNoPatch(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		cluster := anyCluster(t, "new")
		past := anyPast(t, cluster)
		patch, err := Defaults(cluster, past, now)
		if err != nil {
			if past == nil {
				t.Fatalf("a new cluster is refused: %v", err)
			}
			return
		}
		got := patched(t, cluster, patch)

		// Only labels of sets and times of taints change.
		want := asJSON(t, cluster)
		want["future"] = "field"
		for i := range cluster.Spec.Taints {
			taintOf(want, i)["timeAdded"] = taintOf(got, i)["timeAdded"]
		}
		if cluster.DeletionTimestamp == nil && cluster.Labels[clusterv1beta2.ClusterSetLabel] == "" {
			metadata := want["metadata"].(map[string]any)
			if metadata["labels"] == nil {
				metadata["labels"] = map[string]any{}
			}
			metadata["labels"].(map[string]any)[clusterv1beta2.ClusterSetLabel] = DefaultSet
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("patched (-want +got):\n%s", diff)
		}

		content, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		stored := &clusterv1.ManagedCluster{}
		if err := json.Unmarshal(content, stored); err != nil {
			t.Fatal(err)
		}
		again := stored
		if past == nil {
			again = nil
		}
		if patch, err := Defaults(stored, again, now); err != nil || len(patch) > 0 {
			t.Fatalf("the patched cluster needs %v (%v)", patch, err)
		}
		if patch, err := Defaults(stored, stored, now.Add(time.Hour)); err != nil || len(patch) > 0 {
			t.Fatalf("the stored cluster, sent again as it is, needs %v (%v)", patch, err)
		}
	})
}

func taintOf(object map[string]any, i int) map[string]any {
	return object["spec"].(map[string]any)["taints"].([]any)[i].(map[string]any)
}
