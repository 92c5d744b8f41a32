// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/benchmark/deliveries"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// edits is how often an object is edited.
const edits = 10

// The names of the writes of ManifestWorks.
const (
	createWork = "create " + workKind
	patchWork  = "patch " + workKind
)

// deliver starts the hub on objects without works, until every cluster has all of them.
func (d *deliveryStage) deliver(ctx context.Context, scenario string) error {
	works := d.objects * deliveries.Clusters
	d.run.Add(federationScenario, "clusters", report.Count, deliveries.Clusters)
	d.run.Add(federationScenario, "objects", report.Count, float64(d.objects))
	d.run.Add(federationScenario, "works", report.Count, float64(works))
	o, err := d.launchFor(ctx, scenario, works)
	if err != nil {
		return err
	}
	d.run.AddTime(scenario, "first-write", o.first)
	d.run.AddTime(scenario, "seconds", o.last)
	d.run.Add(scenario, "works-per-second", report.Count, float64(works)/o.last.Seconds())
	return d.verify(ctx, scenario)
}

// launched is the outcome of a start with something to write.
type launched struct {
	*outcome

	first time.Duration // from the start to the first write
}

// launchFor starts the hub and waits until it has created so many works, and nothing else.
func (d *deliveryStage) launchFor(ctx context.Context, scenario string, works int) (launched, error) {
	w := window{begin: time.Now(), mark: d.observer.mark()}
	if err := d.launch(ctx); err != nil {
		return launched{}, err
	}
	created := 0
	err := d.observer.await(ctx, w.mark, func(c change) bool {
		if c.verb == watch.Added {
			created++
		}
		return created == works || d.hub.ended() != nil
	})
	if err := errors.Join(err, d.hub.ended()); err != nil {
		return launched{}, fmt.Errorf("%d of %d ManifestWorks: %w", created, works, err)
	}
	o, err := d.finish(ctx, scenario, w)
	if err != nil {
		return launched{}, err
	}
	d.wantWrites(scenario, o, writes{createWork: works})
	return launched{outcome: o, first: o.changes[0].at.Sub(w.begin)}, nil
}

// toggle takes the steered objects away from a cluster by its label, or gives them back, and waits for the works.
func (d *deliveryStage) toggle(ctx context.Context, back bool, l *latencies) error {
	value, want := deliveries.Away, watch.Deleted
	if back {
		value, want = "", watch.Added
	}
	mark, begin := d.observer.mark(), time.Now()
	if err := relabel(ctx, d.api, deliveries.ClusterName(0), deliveries.State, value); err != nil {
		return err
	}
	written := 0
	return d.observer.await(ctx, mark, func(c change) bool {
		if c.verb != want {
			return false
		}
		written++
		after := c.at.Sub(begin)
		l.each = append(l.each, after)
		if written == 1 {
			l.first = append(l.first, after)
		}
		if written == deliveries.Steered {
			l.noteLast(back, after)
		}
		return written == deliveries.Steered
	})
}

// toggles changes the label a few times, an even number of times, and returns how often.
func (d *deliveryStage) toggles(ctx context.Context, n int, l *latencies) (int, error) {
	for i := range n {
		if err := d.toggle(ctx, i%2 == 1, l); err != nil {
			return 0, fmt.Errorf("waiting for %d ManifestWorks: %w", deliveries.Steered, err)
		}
	}
	return n, nil
}

// changesOfTurn is how often the label changes in each turn of a program, after unmeasured changes in which it opens connections.
const (
	changesOfTurn    = 8
	unmeasuredOfTurn = 2
)

// labelChange is what all turns of a program come to in which one label of one cluster changes that the steered objects select by.
type labelChange struct {
	latencies
	outcome

	n int
}

// add adds the outcome of n changes.
func (l *labelChange) add(o *outcome, n int) {
	l.cpu, l.requests, l.n = l.cpu+o.cpu, l.requests+o.requests, l.n+n
	l.changes = append(l.changes, o.changes...)
}

// addLabelChange notes what the turns of a program have come to, and fails the benchmark for every write more or less than needed.
func (d *deliveryStage) addLabelChange(scenario string, l *labelChange) {
	l.writes = count(l.changes)
	l.addTo(d.run, scenario)
	d.run.AddTime(scenario, "cpu", l.cpu)
	d.run.Add(scenario, "writes", report.Count, float64(l.writes.total()))
	d.addPerEvent(scenario, &l.outcome, l.n)
	d.logf("%s: last work p50 %v; gains %v, removals %v, cpu per event %v", scenario, report.Percentile(l.latencies.last, 50),
		report.Percentile(l.gain, 50), report.Percentile(l.removal, 50), l.cpu/time.Duration(l.n))
	half := l.n / 2 * deliveries.Steered
	d.wantWrites(scenario, &l.outcome, writes{"delete " + workKind: half, createWork: half})
}

// restart starts the hub and the ideal in turn, which follow a few changes of the label in each turn.
func (d *deliveryStage) restart(ctx context.Context, scenario string) error {
	const ofHub, ofIdeal = federationScenario + "-label-change", federationScenario + "-ideal-label-change"
	path, err := d.writeScript(ctx)
	if err != nil {
		return err
	}
	hub, ideal := &labelChange{}, &labelChange{}
	err = d.separateStage.restart(ctx, scenario, func(ctx context.Context, _ *process) error {
		if _, err := d.toggles(ctx, unmeasuredOfTurn, &latencies{}); err != nil {
			return err
		}
		if _, err := d.observer.settle(ctx, d.hub.process); err != nil {
			return err
		}
		w, err := d.open(ctx)
		if err != nil {
			return err
		}
		n, err := d.toggles(ctx, changesOfTurn, &hub.latencies)
		if err != nil {
			return err
		}
		o, err := d.finish(ctx, ofHub, w)
		if err != nil {
			return err
		}
		hub.add(o, n)
		return nil
	}, func(ctx context.Context, p *process) error {
		if _, err := d.toggles(ctx, unmeasuredOfTurn, &latencies{}); err != nil {
			return errors.Join(err, p.ended())
		}
		mark := d.observer.mark()
		each, n, err := d.observer.cpuPerEvent(ctx, p, func() (int, error) { return d.toggles(ctx, changesOfTurn, &ideal.latencies) })
		if err != nil {
			return errors.Join(err, p.ended())
		}
		ideal.add(&outcome{cpu: each * time.Duration(n), changes: d.observer.since(mark)}, n)
		return nil
	}, "--works="+path)
	if err != nil {
		return err
	}
	d.addLabelChange(ofHub, hub)
	d.run.Add(ofHub, "requests", report.Count, hub.requests)
	d.addLabelChange(ofIdeal, ideal)
	return d.verify(ctx, scenario)
}

// edit edits one object again and again.
func (d *deliveryStage) edit(ctx context.Context, scenario string) error {
	w, err := d.open(ctx)
	if err != nil {
		return err
	}
	l := &latencies{}
	for i := range edits {
		mark, begin := d.observer.mark(), time.Now()
		object := deliveries.Object(deliveries.EditedObject)
		if err := d.api.Patch(ctx, object, client.RawPatch(types.MergePatchType, deliveries.Edited(i))); err != nil {
			return fmt.Errorf("editing %s/%s: %w", object.GetNamespace(), object.GetName(), err)
		}
		written := 0
		err := d.observer.await(ctx, mark, func(c change) bool {
			written++
			l.each = append(l.each, c.at.Sub(begin))
			return written == deliveries.Clusters
		})
		if err != nil {
			return fmt.Errorf("%d of %d ManifestWorks: %w", written, deliveries.Clusters, err)
		}
		l.last = append(l.last, l.each[len(l.each)-1])
	}
	o, err := d.finish(ctx, scenario, w)
	if err != nil {
		return err
	}
	d.run.AddTime(scenario, "last-p50", report.Percentile(l.last, 50))
	d.run.AddTime(scenario, "each-p50", report.Percentile(l.each, 50))
	d.addPerEvent(scenario, o, edits)
	d.logf("%s: last work p50 %v", scenario, report.Percentile(l.last, 50))
	d.wantWrites(scenario, o, writes{patchWork: edits * deliveries.Clusters})
	return d.verify(ctx, scenario)
}

// writeScript writes the file with the works that the ideal writes, and returns its path.
func (d *deliveryStage) writeScript(ctx context.Context) (string, error) {
	works, err := d.readWorks(ctx, 0)
	if err != nil {
		return "", err
	}
	objects, err := d.readObjects(ctx)
	if err != nil {
		return "", err
	}
	steered := deliveries.SteeredWorks(objects)
	script := &precomputed.WorkScript{Cluster: deliveries.ClusterName(0), Label: deliveries.State, ByValue: map[string]precomputed.Works{}}
	var away, back precomputed.Works
	for i := range works {
		if steered[works[i].Name] {
			back.Apply = append(back.Apply, precomputed.Applied(&works[i]))
			away.Delete = append(away.Delete, client.ObjectKeyFromObject(&works[i]))
		}
	}
	script.ByValue[deliveries.Away], script.ByValue[""] = away, back
	path := filepath.Join(d.directory, "works.json")
	return path, script.WriteFile(path)
}

// memory delivers as many objects again, and starts the hub once more over all works.
func (d *deliveryStage) memory(ctx context.Context, scenario string) error {
	before := d.objects
	if err := d.createObjects(ctx, 2*before); err != nil {
		return err
	}
	if _, err := d.launchFor(ctx, scenario, before*deliveries.Clusters); err != nil {
		return err
	}
	one, err := d.startAgain(ctx, scenario+"-restart")
	if err != nil {
		return err
	}
	d.logf("%s: %s", scenario+"-restart", addStarts(d.run, scenario+"-restart", []start{one}))
	if err := d.retire(); err != nil {
		return err
	}
	d.run.Add(scenario, "works", report.Count, float64(d.objects*deliveries.Clusters))
	peak, _ := d.run.Value(scenario + "/peak")
	d.logf("%s: %d works, %.0f MiB", scenario, d.objects*deliveries.Clusters, peak/(1<<20))
	return nil
}
