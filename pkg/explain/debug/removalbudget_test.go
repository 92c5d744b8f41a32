// SPDX-License-Identifier: Apache-2.0

package debug_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/explain/debug"
)

// annotated sends the placement team-a/rollout, of which no cluster may leave for causes outside of it, with a spec.
func annotated(spec string) string {
	return `{"metadata":{"namespace":"team-a","name":"rollout","generation":9,"annotations":{
		"placement-hub.open-cluster-management.io/max-removal-percent":"0"}},"spec":` + spec + `}`
}

// docs/spec/differences.md B16: a POST with a changed spec holds what the hub holds: a cluster that the spec of the hub loses as well.
func TestB16PostedSpecsReleaseNothing(t *testing.T) {
	const cel = `"celSelector":{"celExpressions":["size(managedCluster.metadata.name) > 1"]}`
	const scores = `"prioritizerPolicy":{"configurations":[{"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"cpu",
		"scoreName":"free"}},"weight":2}]}`
	for _, tc := range []struct {
		reason, name, body string
		held               bool
		want               []string
	}{
		{
			reason: "the spec of the hub, and its cluster is gone",
			body: annotated(`{"numberOfClusters":1,"predicates":[{"requiredClusterSelector":{"labelSelector":{"matchLabels":{"region":"eu"}},` +
				cel + `}}],` + scores + `}`),
			held: true, want: []string{"c1"},
		},
		{
			reason: "a spec that asks for clusters that are not there: the gone cluster leaves for another cause",
			body: annotated(`{"numberOfClusters":1,"predicates":[{"requiredClusterSelector":{"labelSelector":{"matchLabels":{"region":"mars"}},` +
				cel + `}}],` + scores + `}`),
			held: true, want: []string{"c1"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub(t)
			for _, cluster := range []string{"c1", "c2", "c4"} {
				h.inventory.DeleteCluster(cluster)
			}

			for _, object := range h.state.Placements {
				if placement, is := object.(*clusterv1beta1.Placement); is && placement.Name == "rollout" {
					placement.Status.Conditions = []metav1.Condition{{
						Type: clusterv1beta1.PlacementConditionSatisfied, Status: metav1.ConditionTrue, ObservedGeneration: placement.Generation,
					}}
				}
			}
			recorder := getDecision(t, h, &rights{allowed: everything}, asker, http.MethodPost, debug.Path, tc.body)
			answer := decode(t, recorder)
			if answer.Stalled != tc.held {
				t.Errorf("held %v, want %v: %s", answer.Stalled, tc.held, recorder.Body)
			}

			if diff := cmp.Diff(tc.want, answer.Selected); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
		})
	}
}
