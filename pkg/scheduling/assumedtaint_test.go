// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// docs/spec/differences.md B20: taints that are not written yet.
func TestB20TaintsThatAreNotWrittenYet(t *testing.T) {
	const unreachable = clusterv1.ManagedClusterTaintUnreachable
	at := func(key string, added metav1.Time) clusterv1.Taint {
		return clusterv1.Taint{Key: key, Effect: noSelect, TimeAdded: added}
	}
	forSeconds := func(seconds int64) tolerating {
		return tolerating{{Key: unreachable, Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To(seconds)}}
	}
	for _, tc := range []struct {
		reason      string
		taint       clusterv1.Taint
		incumbent   bool
		tolerations tolerating
		want        bool
	}{
		{"a taint of unknown time keeps out", at(unreachable, clusterinfo.UnknownTime()), false, nil, false},
		{"a taint of unknown time keeps the selected out too", at(unreachable, clusterinfo.UnknownTime()), true, nil, false},
		{"it is tolerated as it will be when it is written", at(unreachable, clusterinfo.UnknownTime()), false, forSeconds(1), true},
		{"it is not tolerated for no time", at(unreachable, clusterinfo.UnknownTime()), false, forSeconds(0), false},
		{"a pending taint keeps out", at(unreachable, clusterinfo.PendingTime()), false, nil, false},
		{"a pending taint leaves the selected alone", at(unreachable, clusterinfo.PendingTime()), true, nil, true},
		{"a pending taint is tolerated as the written one", at(unreachable, clusterinfo.PendingTime()), false,
			tolerating{exist(unreachable, noSelect)}, true},
		{"nothing tolerates missing claims", at(clusterinfo.IncompleteTaint, clusterinfo.PendingTime()), false,
			tolerating{exist("", ""), exist(clusterinfo.IncompleteTaint, "")}, false},
		{"missing claims leave the selected alone", at(clusterinfo.IncompleteTaint, clusterinfo.PendingTime()), true, nil, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			cluster := named("c1")
			cluster.Spec.Taints = []clusterv1.Taint{tc.taint}
			w := newRandomHub(cluster)
			w.incumbents["c1"] = tc.incumbent
			result := w.schedule(t, placementSpec{Tolerations: tc.tolerations})

			want := "Taint"
			if tc.want {
				want = "Selected"
			}
			expect(t, "stages", map[string]string{"c1": want}, stages(result))
			expect(t, "requeue", true, result.RequeueAt.IsZero())
		})
	}
}
