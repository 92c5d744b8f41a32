// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/property"
)

func TestNewDrain(t *testing.T) {
	left := Remaining{Works: []string{"w"}}
	for _, test := range []struct {
		reason string
		waited time.Duration
		left   Remaining
		want   Drain
	}{
		{"cluster-request C68: nothing is left", 0, Remaining{}, Drain{Done: true}},
		{"cluster-request C68: a work is left", 0, left, Drain{Again: firstDrainRetry}},
		{"cluster-request C68: a decision is left", time.Minute, Remaining{Decisions: []string{"a/b"}}, Drain{Again: 15 * time.Second}},
		{"cluster-request C69: the timeout is near", 10*time.Minute - time.Second, left, Drain{Again: time.Second}},
		{"cluster-request C69: the timeout", 10 * time.Minute, left, Drain{Done: true, TimedOut: true}},
		{"cluster-request C68: nothing is left after the timeout", time.Hour, Remaining{}, Drain{Done: true}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			expectEqual(t, test.want, NewDrain(noon, noon.Add(test.waited), DefaultDrainTimeout, test.left), "drain")
		})
	}
}

// A drain ends at its timeout at the latest, after few looks, whatever is left.
func TestNewDrainEnds(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		timeout := time.Duration(rapid.IntRange(1, 7200).Draw(t, "timeout")) * time.Second
		now, looks := noon, 0
		for drain := NewDrain(noon, now, timeout, Remaining{Works: []string{"w"}}); !drain.Done; looks++ {
			if drain.Again <= 0 {
				t.Fatalf("cluster-request C69: %+v", drain)
			}
			now = now.Add(drain.Again)
			drain = NewDrain(noon, now, timeout, Remaining{Works: []string{"w"}})
		}
		if now.Sub(noon) != timeout || looks > 30+int(timeout/lastDrainRetry) {
			t.Fatalf("cluster-request C69: ended after %s and %d looks", now.Sub(noon), looks)
		}
	})
}

func TestRemaining(t *testing.T) {
	left := Remaining{Decisions: []string{"b/d", "a/d"}, Works: []string{"6", "5", "4", "3", "2", "1"}}
	expectEqual(t, "PlacementDecisions a/d, b/d; ManifestWorks 1, 2, 3, 4, 5 and 1 more", left.String(), "cluster-request C69: what is left, by name")
}

func TestTerminating(t *testing.T) {
	now := metav1.NewTime(noon)
	managed := &clusterv1.ManagedCluster{Spec: clusterv1.ManagedClusterSpec{Taints: []clusterv1.Taint{
		{Key: "other"}, {Key: "cluster.openmcp.cloud/terminating", Effect: clusterv1.TaintEffectPreferNoSelect, TimeAdded: now},
	}}}
	tainted, since := Terminating(managed, clusterv1.TaintEffectNoSelect, now)
	expectEqual(t, []clusterv1.Taint{
		{Key: "other"}, {Key: "cluster.openmcp.cloud/terminating", Effect: clusterv1.TaintEffectNoSelect, TimeAdded: now},
	}, tainted.Spec.Taints, "cluster-request C68: taints")
	expectEqual(t, now, since, "time of the taint")

	again, first := Terminating(tainted, clusterv1.TaintEffectNoSelect, metav1.NewTime(noon.Add(time.Minute)))
	expectEqual(t, tainted, again, "cluster-request C69: a taint keeps its time")
	expectEqual(t, now, first, "time of the taint")
	later := metav1.NewTime(noon.Add(time.Hour))
	held, _ := Terminating(&clusterv1.ManagedCluster{}, clusterv1.TaintEffectNoSelectIfNew, now)
	freed, since := Terminating(held, clusterv1.TaintEffectNoSelect, later)
	expectEqual(t, []clusterv1.Taint{{
		Key: "cluster.openmcp.cloud/terminating", Effect: clusterv1.TaintEffectNoSelect, TimeAdded: later,
	}}, freed.Spec.Taints, "cluster-request 4.6: the taint when the last request has left")
	expectEqual(t, later, since, "cluster-request 4.6: the drain counts from then")
}

func TestTerminatingEffect(t *testing.T) {
	requested := published()
	requested.Finalizers = []string{"request.cluster.openmcp.cloud/u1"}
	for _, test := range []struct {
		reason  string
		cluster *openmcpv1alpha1.Cluster
		want    clusterv1.TaintEffect
	}{
		{"a request has the Cluster", requested, clusterv1.TaintEffectNoSelectIfNew},
		{"no request has the Cluster", published(), clusterv1.TaintEffectNoSelect},
		{"the Cluster is gone", nil, clusterv1.TaintEffectNoSelect},
	} {
		t.Run("cluster-request 4.6: "+test.reason, func(t *testing.T) {
			expectEqual(t, test.want, TerminatingEffect(test.cluster), "effect")
		})
	}
}
