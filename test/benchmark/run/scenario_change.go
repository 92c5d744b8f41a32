// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

const (
	// repeats is how often a small change is made, and enough how long that may take before fewer do.
	repeats = 20
	fewest  = 4
	enough  = 90 * time.Second
)

// relabel is the function with the client of the stage.
func (s *stage) relabel(ctx context.Context, cluster, label, value string) error {
	return relabel(ctx, s.api, cluster, label, value)
}

// relabel sets a label of a cluster, or takes it away when the value is empty.
func relabel(ctx context.Context, api client.Client, cluster, label, value string) error {
	text := "null"
	if value != "" {
		text = `"` + value + `"`
	}
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, label, text)
	object := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}
	if err := api.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		return fmt.Errorf("labelling ManagedCluster %s: %w", cluster, err)
	}
	return nil
}

// latencies are how long it took from an event to its decisions. Those of the last decisions stand a second time by whether a cluster came
// or left: what leaves is compared with the API server before it is written.
type latencies struct {
	each, first, last, gain, removal []time.Duration
}

// noteLast notes when the last decision of a change was written.
func (l *latencies) noteLast(gained bool, after time.Duration) {
	l.last = append(l.last, after)
	if gained {
		l.gain = append(l.gain, after)
	} else {
		l.removal = append(l.removal, after)
	}
}

// toggle gives the steered cluster the label that the concerned placements select by, or takes it away, and waits for their decisions
// and statuses.
func (s *stage) toggle(ctx context.Context, on bool, l *latencies) error {
	value := ""
	if on {
		value = "yes"
	}
	mark, begin := s.observer.mark(), time.Now()
	if err := s.relabel(ctx, fleet.ClusterName(fleet.SteeredCluster), fleet.Concern, value); err != nil {
		return err
	}
	decided, reported := map[types.NamespacedName]bool{}, map[types.NamespacedName]bool{}
	return s.observer.await(ctx, mark, func(c change) bool {
		switch {
		case c.verb != watch.Modified:
		case c.kind == decisionKind && !decided[c.placement]:
			decided[c.placement] = true
			after := c.at.Sub(begin)
			l.each = append(l.each, after)
			if len(decided) == 1 {
				l.first = append(l.first, after)
			}
			if len(decided) == fleet.Concerned {
				l.noteLast(on, after)
			}
		case c.kind == placementKind:
			reported[c.placement] = true
		}
		return len(decided) == fleet.Concerned && len(reported) == fleet.Concerned
	})
}

// toggles changes the label again and again, an even number of times, and returns how often.
func (s *stage) toggles(ctx context.Context, l *latencies) (int, error) {
	begin := time.Now()
	for i := range repeats {
		if err := s.toggle(ctx, i%2 == 0, l); err != nil {
			return 0, fmt.Errorf("waiting for the decisions of %d placements: %w", fleet.Concerned, err)
		}
		if i%2 == 1 && i+1 >= fewest && time.Since(begin) > enough {
			return i + 1, nil
		}
	}
	return repeats, nil
}

// addTo notes how long it took to the decisions, or to the works.
func (l *latencies) addTo(run *report.Run, scenario string) {
	run.AddTime(scenario, "first-p50", report.Percentile(l.first, 50))
	run.AddTime(scenario, "last-p50", report.Percentile(l.last, 50))
	run.AddTime(scenario, "last-p99", report.Percentile(l.last, 99))
	run.AddTime(scenario, "gain-last-p50", report.Percentile(l.gain, 50))
	run.AddTime(scenario, "removal-last-p50", report.Percentile(l.removal, 50))
	run.AddTime(scenario, "each-p50", report.Percentile(l.each, 50))
	run.AddTime(scenario, "each-p99", report.Percentile(l.each, 99))
}

// addLatencies notes how long it took to the decisions.
func (s *stage) addLatencies(scenario string, l *latencies) {
	l.addTo(s.run, scenario)
	s.logf("%s: first decision p50 %v, last p50 %v p99 %v", scenario, report.Percentile(l.first, 50), report.Percentile(l.last, 50),
		report.Percentile(l.last, 99))
}

// labelChange changes one label of one cluster that a few placements select by.
func (s *stage) labelChange(ctx context.Context) error {
	const scenario = "label-change"
	w, err := s.open(ctx)
	if err != nil {
		return err
	}
	l := &latencies{}
	n, err := s.toggles(ctx, l)
	if err != nil {
		return err
	}
	o, err := s.finish(ctx, scenario, w)
	if err != nil {
		return err
	}
	s.addLatencies(scenario, l)
	s.run.AddTime(scenario, "removal-check-p50", o.checks)
	s.logf("%s: gains p50 %v, removals p50 %v, of which comparing with the API server p50 %v", scenario, report.Percentile(l.gain, 50),
		report.Percentile(l.removal, 50), o.checks)
	s.run.Add(scenario, "events", report.Count, float64(n))
	s.run.AddTime(scenario, "cpu-per-event", o.cpu/time.Duration(n))
	s.run.Add(scenario, "enqueues-per-event", report.Count, sum(o.enqueues)/float64(n))
	s.add(scenario, o)
	s.wantWrites(scenario, o, writes{"patch " + decisionKind: n * fleet.Concerned, "patch " + placementKind: n * fleet.Concerned})
	return nil
}

// heartbeats sends statuses of clusters in which nothing differs that a placement reads.
func (s *stage) heartbeats(ctx context.Context, rate int) error {
	scenario := fmt.Sprintf("heartbeats-%d", rate)
	w, err := s.open(ctx)
	if err != nil {
		return err
	}
	n, err := s.beat(ctx, rate, beatFor, nil)
	if err != nil {
		return err
	}
	o, err := s.finish(ctx, scenario, w)
	if err != nil {
		return err
	}
	s.run.Add(scenario, "heartbeats", report.Count, float64(n))
	s.run.AddTime(scenario, "cpu-per-heartbeat", o.cpu/time.Duration(n))
	s.add(scenario, o)
	s.wantWrites(scenario, o, writes{})
	return nil
}

// beatFor is how long heartbeats are sent.
const beatFor = 10 * time.Second

// beat sends heartbeats of one cluster after the other, so many per second, for a time or until stop is closed. It returns how many. It
// waits for no response, as agents do not wait for each other.
func (s *stage) beat(ctx context.Context, rate int, d time.Duration, stop <-chan struct{}) (int, error) {
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	end := time.NewTimer(d)
	defer end.Stop()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	n := 0
	for beating := true; beating; {
		select {
		case <-tick.C:
			n++
			number := n
			group.Go(func() error { return s.heartbeat(ctx, number) })
		case <-ctx.Done():
			beating = false
		case <-end.C:
			beating = false
		case <-stop:
			beating = false
		}
	}
	return n, group.Wait() //nolint:wrapcheck // The tasks name what they do.
}
