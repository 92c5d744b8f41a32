package embedded

import "testing"

func TestControllerManagerIsStartedWhereItIsNeeded(t *testing.T) {
	for _, c := range []struct {
		reason  string
		options Options
		want    bool
	}{
		{"one result of placements needs none", Options{Sample: Fleet, Once: true}, false},
		{"users delete objects of a hub that keeps running", Options{Sample: Fleet}, true},
		{"the next run finds what has no owner any more", Options{Sample: Fleet, Once: true, DataDir: "/data"}, true},
		{"workloads become Pods", Options{Sample: Pods, Once: true}, true},
		{"the roles of delivered kinds are aggregated", Options{Sample: Federation, Once: true}, true},
		{"quotas of cluster requests count", Options{Sample: Clusters, Once: true}, true},
	} {
		if got := c.options.needsControllerManager(); got != c.want {
			t.Errorf("%s: %v, want %v", c.reason, got, c.want)
		}
	}
}
