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

// toggles changes the label again and again, an even number of times, and returns how often.
func (d *deliveryStage) toggles(ctx context.Context, l *latencies) (int, error) {
	for i := range repeats {
		if err := d.toggle(ctx, i%2 == 1, l); err != nil {
			return 0, fmt.Errorf("waiting for %d ManifestWorks: %w", deliveries.Steered, err)
		}
	}
	return repeats, nil
}

// labelChange changes one label of one cluster that the steered objects select by.
func (d *deliveryStage) labelChange(ctx context.Context, scenario string) error {
	w, err := d.open(ctx)
	if err != nil {
		return err
	}
	l := &latencies{}
	n, err := d.toggles(ctx, l)
	if err != nil {
		return err
	}
	o, err := d.finish(ctx, scenario, w)
	if err != nil {
		return err
	}
	l.addTo(d.run, scenario)
	d.addPerEvent(scenario, o, n)
	d.logf("%s: last work p50 %v; gains %v, removals %v", scenario, report.Percentile(l.last, 50), report.Percentile(l.gain, 50),
		report.Percentile(l.removal, 50))
	half := n / 2 * deliveries.Steered
	d.wantWrites(scenario, o, writes{"delete " + workKind: half, createWork: half})
	return nil
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

// restart is that of the stage.
func (d *deliveryStage) restart(ctx context.Context, scenario string) error {
	path, err := d.writeScript(ctx)
	if err != nil {
		return err
	}
	return d.separateStage.restart(ctx, scenario, "--works="+path)
}

// idealLabelChange changes the label for the controller that writes given works, over the works as the hub left them. The hub is stopped.
func (d *deliveryStage) idealLabelChange(ctx context.Context, scenario string) error {
	path, err := d.writeScript(ctx)
	if err != nil {
		return err
	}
	p, _, err := d.startIdeal(ctx, "--works="+path)
	if err != nil {
		return err
	}
	defer p.kill()
	l, mark := &latencies{}, d.observer.mark()
	each, n, err := d.observer.cpuPerEvent(ctx, p, func() (int, error) { return d.toggles(ctx, l) })
	if err != nil {
		return errors.Join(err, p.ended())
	}
	l.addTo(d.run, scenario)
	d.addPerEvent(scenario, &outcome{cpu: each * time.Duration(n), writes: count(d.observer.since(mark))}, n)
	d.logf("%s: last work p50 %v, cpu per event %v", scenario, report.Percentile(l.last, 50), each)
	return errors.Join(p.stop(), d.verify(ctx, scenario))
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
