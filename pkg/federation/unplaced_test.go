// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// federated-selector 3.1.6: replicas that no cluster gets, and clusters without replicas, have their cause.
func TestUnplacedReplicas(t *testing.T) {
	const hint = "; change the preferences, or select more clusters"
	for _, c := range []struct {
		reason, preferences string
		replicas            int32
		edit                func(*hub, *Object)
		unplaced            int32
		want                string
		zero                map[string]string
	}{
		{reason: "every replica has a cluster", replicas: 9},
		{
			reason: "maximums", replicas: 15, preferences: `{"clusters":{"*":{"weight":1,"maxReplicas":2}}}`,
			unplaced: 9, want: "9 of 15 replicas have no cluster: maxReplicas of eu1, eu2, us1" + hint,
		},
		{
			reason: "one replica", replicas: 7, preferences: `{"clusters":{"*":{"weight":1,"maxReplicas":2}}}`,
			unplaced: 1, want: "1 of 7 replicas has no cluster: maxReplicas of eu1, eu2, us1" + hint,
		},
		{
			reason: "each cause once, in one order", replicas: 9,
			preferences: `{"clusters":{"eu1":{"minReplicas":1},"us1":{"weight":1,"maxReplicas":0}}}`,
			unplaced:    8, want: "8 of 9 replicas have no cluster: maxReplicas of us1; weight 0 of eu1; missing preference of eu2" + hint,
			zero: map[string]string{"eu2": "0 replicas: missing preference", "us1": "0 replicas: maxReplicas"},
		},
		{
			reason: "no cluster is available", replicas: 9,
			edit: func(h *hub, _ *Object) {
				for _, name := range []string{"eu1", "eu2", "us1"} {
					h.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
						Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "members"},
					}})
				}
			},
			unplaced: 9, want: "9 of 9 replicas have no cluster: unavailability of eu1, eu2, us1" + hint,
			zero: map[string]string{
				"eu1": "0 replicas: unavailability", "eu2": "0 replicas: unavailability", "us1": "0 replicas: unavailability",
			},
		},
		{
			reason: "fewer replicas than clusters", replicas: 1, preferences: `{"clusters":{"eu1":{"minReplicas":1},"*":{"weight":1}}}`,
			zero: map[string]string{"eu2": "0 replicas: the others get all 1", "us1": "0 replicas: the others get all 1"},
		},
		{
			reason: "a minimum that the others leave nothing for", replicas: 1,
			preferences: `{"clusters":{"eu1":{"minReplicas":1,"weight":2},"eu2":{"minReplicas":1},"us1":{}}}`,
			zero:        map[string]string{"eu2": "0 replicas: the others get all 1", "us1": "0 replicas: weight 0"},
		},
		{
			reason: "an object without replicas", replicas: 0,
			zero: map[string]string{
				"eu1": "0 replicas: the object has none", "eu2": "0 replicas: the object has none", "us1": "0 replicas: the object has none",
			},
		},
		{
			reason: "no cluster is selected, which the report says itself", replicas: 9,
			edit: func(_ *hub, o *Object) { o.Meta.Annotations = map[string]string{SelectorAnnotation: ControlPlaneOnly} },
		},
		{
			reason: "a kind without replicas", replicas: 0,
			edit: func(_ *hub, o *Object) { o.Kind = kindOf(kindConfigMap) },
		},
		{
			reason: "a held object has no plan", replicas: 9, preferences: `{"clusters":1}`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			h, object := newHub(), configMap(map[string]string{})
			object.Kind, object.Body.Replicas = kindOf(kindDeployment), c.replicas
			if c.preferences != "" {
				object.Meta.Annotations[DeploymentPreferencesAnnotation] = c.preferences
			}
			if c.edit != nil {
				c.edit(h, &object)
			}
			e := h.evaluate(object)

			if unplaced, got := e.Unplaced(); unplaced != c.unplaced || got != c.want {
				t.Errorf("%d %q, want %d %q", unplaced, got, c.unplaced, c.want)
			}
			zero := map[string]string{}
			for _, cluster := range e.Selected {
				if why := e.WhyNoReplicas(cluster); why != "" {
					zero[cluster] = why
				}
			}
			if c.zero == nil {
				c.zero = map[string]string{}
			}
			if diff := cmp.Diff(c.zero, zero); diff != "" {
				t.Errorf("clusters without replicas (-want +got):\n%s", diff)
			}
		})
	}
}
