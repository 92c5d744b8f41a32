// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"testing"

	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

func TestControllerManagerIsStartedWhereItIsNeeded(t *testing.T) {
	for _, c := range []struct {
		reason  string
		options Options
		want    bool
	}{
		{"one result of placements needs none", Options{Sample: systems.Sample{Name: sampleFleet}, Once: true}, false},
		{"users delete objects of a hub that keeps running", Options{Sample: systems.Sample{Name: sampleFleet}}, true},
		{"the next run finds what has no owner any more", Options{Sample: systems.Sample{Name: sampleFleet}, Once: true, DataDir: "/data"}, true},
		{"workloads become Pods", Options{Sample: systems.Sample{Name: samplePods}, Once: true}, true},
		{"the roles of delivered kinds are aggregated", Options{Sample: systems.Sample{Name: sampleFederation}, Once: true}, true},
		{"quotas of cluster requests count", Options{Sample: systems.Sample{Name: sampleClusters}, Once: true}, true},
	} {
		if got := c.options.needsControllerManager(); got != c.want {
			t.Errorf("%s: %v, want %v", c.reason, got, c.want)
		}
	}
}
