// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"testing"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/limits"
)

// BenchmarkTolerations measures a taint that only the last of as many tolerations as a Placement may have tolerates.
func BenchmarkTolerations(b *testing.B) {
	e := &evaluation{request: &Request{}}
	for n := range limits.Tolerations.Max {
		e.request.Tolerations = append(e.request.Tolerations, clusterv1beta1.Toleration{Key: fmt.Sprintf("key-%02d", n)})
	}
	last := clusterv1.Taint{Key: e.request.Tolerations[limits.Tolerations.Max-1].Key, Effect: clusterv1.TaintEffectNoSelect}
	for b.Loop() {
		if by, _ := e.findToleration("c1", last); by < 0 {
			b.Fatal("the taint is not tolerated")
		}
	}
}
