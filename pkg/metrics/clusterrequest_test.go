// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A standby reports no ClusterRequests. A leader counts each of them by its last status, and none without a status.
func TestOnlyTheLeaderExportsRequestStates(t *testing.T) {
	s := NewRequestStates[string]()
	granted, denied := RequestState{"Granted", "Success"}, RequestState{"Denied", "NoMatchingProfile"}
	for _, step := range []struct {
		when string
		do   func()
		want map[string]float64
	}{
		{"a standby", func() { s.Note("a", granted) }, map[string]float64{}},
		{"a leader", s.Lead, map[string]float64{"clusterrequests Success Granted": 1}},
		{"more requests", func() {
			s.Note("b", denied)
			s.Note("c", granted)
			s.Note("new", RequestState{})
		}, map[string]float64{"clusterrequests Success Granted": 2, "clusterrequests NoMatchingProfile Denied": 1}},
		{"a request that is granted in the end, and one that is deleted", func() {
			s.Note("b", granted)
			s.Forget("a")
			s.Forget("c")
		}, map[string]float64{"clusterrequests Success Granted": 1}},
		{"a former leader", s.Resign, map[string]float64{}},
	} {
		step.do()
		if diff := cmp.Diff(step.want, valuesOf(t, "clusterrequests")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.when, diff)
		}
	}
}
