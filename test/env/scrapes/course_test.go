// SPDX-License-Identifier: Apache-2.0

package scrapes

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	gauge    = `placement_hub_stale_scores{}`
	writes   = `placement_hub_writes_total{kind="create"}`
	renewed  = `placement_hub_lease_renewed_timestamp_seconds{}`
	quick    = `placement_hub_decision_latency_seconds_bucket{cause="time",le="0.0025"}`
	unbound  = `placement_hub_decision_latency_seconds_bucket{cause="time",le="+Inf"}`
	answered = `
# TYPE placement_hub_stale_scores gauge
placement_hub_stale_scores 2
# TYPE placement_hub_writes_total counter
placement_hub_writes_total{kind="create"} 5
# TYPE placement_hub_decision_latency_seconds histogram
placement_hub_decision_latency_seconds_bucket{cause="time",le="0.0025"} 1
placement_hub_decision_latency_seconds_bucket{cause="time",le="+Inf"} 3
placement_hub_decision_latency_seconds_sum{cause="time"} 7
placement_hub_decision_latency_seconds_count{cause="time"} 3
# TYPE go_goroutines gauge
go_goroutines 9
`
)

func TestParse(t *testing.T) {
	found, err := Parse(strings.NewReader(answered))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{gauge: 2, writes: 5, quick: 1, unbound: 3}
	if diff := cmp.Diff(want, found.Samples); diff != "" {
		t.Error(diff)
	}
	merged := Merge(map[string]Scrape{"one": found})
	if merged.Value(`placement_hub_writes_total{instance="one",kind="create"}`) != 5 ||
		merged.Value(`placement_hub_stale_scores{instance="one"}`) != 2 {
		t.Errorf("merged: %v", merged.Samples)
	}
	if got := found.Sum("placement_hub_decision_latency_seconds_bucket{"); got != 4 {
		t.Errorf("the sum of both buckets is %v", got)
	}
}

func TestSeries(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	at := func(age time.Duration, samples map[string]float64) Scrape {
		if _, is := samples[renewed]; is {
			samples[renewed] = float64(now.Add(-age).Unix())
		}
		return Scrape{Samples: samples, At: now}
	}
	for name, of := range map[string]struct {
		reason string
		course Course
		want   string
	}{
		gauge: {
			reason: "a gauge stays what it is, and is absent where nobody answers",
			course: Course{
				Broken: at(0, map[string]float64{gauge: 2}), Later: at(0, map[string]float64{gauge: 3}),
				Mended: at(0, map[string]float64{gauge: 0}),
			},
			want: "_x30 2x69 0x29",
		},
		writes: {
			reason: "a counter grows by what is counted until the later scrape",
			course: Course{
				Healthy: at(0, map[string]float64{writes: 1}), Broken: at(0, map[string]float64{writes: 2}),
				Later: at(0, map[string]float64{writes: 5}), Mended: at(0, map[string]float64{writes: 6}),
			},
			want: "1x29 2+3x69 6x29",
		},
		unbound: {
			reason: "so does a bucket",
			course: Course{Broken: at(0, map[string]float64{unbound: 2}), Later: at(0, map[string]float64{unbound: 4})},
			want:   "_x30 2+2x69 _x30",
		},
		renewed: {
			reason: "a point in time is five seconds ago, then it stays what it is, and then it is seven seconds ago",
			course: Course{
				Healthy: at(5*time.Second, map[string]float64{renewed: 0}), Broken: at(6*time.Second, map[string]float64{renewed: 0}),
				Later: at(6*time.Second, map[string]float64{renewed: 0}), Mended: at(7*time.Second, map[string]float64{renewed: 0}),
			},
			want: "-5+60x29 1794x69 5993+60x29",
		},
	} {
		t.Run(of.reason, func(t *testing.T) {
			want := []any{map[string]string{"series": name, "values": of.want}}
			if diff := cmp.Diff(want, of.course.series()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
