package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/benchmark/deliveries"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// federationScenario has a control plane of its own, with objects that are delivered to every cluster. Its scenarios have this prefix.
const federationScenario = "federation"

// objectsController is the controller that is measured.
const objectsController = "federation/objects"

// deliveryStage is a control plane with clusters and objects that they get, and what is measured on it.
type deliveryStage struct {
	programs    programs
	directory   string
	environment *localplane.ControlPlane
	api         client.WithWatch
	observer    *observer
	kubeconfig  string // of the hub's ServiceAccount
	hub         *hub
	objects     int // that exist
	run         *report.Run
	failures    []error
	log         io.Writer
}

// measureFederation runs the scenario federation. What was measured is returned with an error, too.
func measureFederation(
	ctx context.Context, o *options, tools programs, directory string, log io.Writer,
) (_ *report.Run, err error) {
	d := &deliveryStage{
		programs: tools, directory: directory, run: &report.Run{}, log: log,
		kubeconfig: filepath.Join(directory, "kubeconfig-"+federationScenario),
	}
	if d.environment, err = localplane.Start(ctx, localplane.Options{}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.furnish(ctx, o.objects); err != nil {
		return nil, fmt.Errorf("creating objects: %w", err)
	}
	for _, step := range []struct {
		name string
		run  func(context.Context, string) error
	}{
		{"deliver", d.deliver}, {"label-change", d.labelChange}, {"edit", d.edit}, {"restart", d.restart},
		{"ideal", d.ideal}, {"floor", d.floor}, {"memory", d.memory},
	} {
		scenario := federationScenario + "-" + step.name
		if err := perform(ctx, scenario, step.run); err != nil {
			return d.run, errors.Join(err, errors.Join(d.failures...))
		}
	}
	return d.run, errors.Join(d.failures...)
}

// perform runs a scenario in the time that it may take.
func perform(ctx context.Context, scenario string, run func(context.Context, string) error) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if err := run(ctx, scenario); err != nil {
		return fmt.Errorf("%s: %w", scenario, err)
	}
	return nil
}

func (d *deliveryStage) close() error {
	if d.hub != nil {
		d.hub.kill()
	}
	return d.environment.Stop()
}

func (d *deliveryStage) logf(format string, args ...any) {
	fmt.Fprintf(d.log, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

// failf notes something that is wrong whatever the machine.
func (d *deliveryStage) failf(format string, args ...any) {
	failure := fmt.Errorf(format, args...)
	d.failures = append(d.failures, failure)
	d.logf("WRONG: %v", failure)
}

// furnish installs the system of federated objects, and creates clusters, namespaces and the objects.
func (d *deliveryStage) furnish(ctx context.Context, objects int) error {
	admin := d.environment.AdminConfig()
	// Nothing serves the webhook of the system: its failure policy is Ignore.
	nowhere, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(
		manifests.Install(ctx, admin), manifests.InstallManifestWorks(ctx, admin),
		manifests.InstallSystem(ctx, admin, manifests.Federation, "https://"+nowhere),
	); err != nil {
		return err
	}
	if err := writeKubeconfig(ctx, d.environment, d.kubeconfig); err != nil {
		return err
	}
	if d.api, err = newWatchingClient(admin); err != nil {
		return err
	}
	if d.observer, err = observe(ctx, d.api, workKind); err != nil {
		return err
	}
	create := func(ctx context.Context, object client.Object) error {
		if err := d.api.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %T %s/%s: %w", object, object.GetNamespace(), object.GetName(), err)
		}
		return nil
	}
	err = errors.Join(create(ctx, deliveries.Set()), each(ctx, deliveries.Clusters, func(ctx context.Context, i int) error {
		cluster := deliveries.Cluster(i)
		status := cluster.Status
		if err := errors.Join(create(ctx, cluster), create(ctx, deliveries.ClusterNamespace(i))); err != nil {
			return err
		}
		cluster.Status = status
		if err := d.api.Status().Update(ctx, cluster); err != nil {
			return fmt.Errorf("writing the status of ManagedCluster %s: %w", cluster.Name, err)
		}
		return nil
	}), each(ctx, deliveries.Namespaces, func(ctx context.Context, i int) error {
		return errors.Join(create(ctx, deliveries.Namespace(i)), create(ctx, deliveries.Binding(i)))
	}))
	if err != nil {
		return err
	}
	return d.createObjects(ctx, objects)
}

// createObjects creates further objects until there are n.
func (d *deliveryStage) createObjects(ctx context.Context, n int) error {
	begin, first := time.Now(), d.objects
	err := each(ctx, n-first, func(ctx context.Context, i int) error {
		object := deliveries.Object(first + i)
		if err := d.api.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %T %s/%s: %w", object, object.GetNamespace(), object.GetName(), err)
		}
		return nil
	})
	d.objects = n
	d.logf("%s: %d objects for %d clusters after %.1f s", federationScenario, n, deliveries.Clusters, time.Since(begin).Seconds())
	return err
}

// launch starts the hub.
func (d *deliveryStage) launch(ctx context.Context) error {
	var err error
	d.hub, err = startHub(ctx, d.programs.hub, d.directory, d.kubeconfig, objectsController)
	return err
}

// retire stops the hub, if it runs, and notes the most memory it had.
func (d *deliveryStage) retire() error {
	if d.hub == nil {
		return nil
	}
	peak, err := d.hub.memory()
	if err != nil {
		return err
	}
	const scenario = federationScenario + "-memory"
	if before, _ := d.run.Value(scenario + "/peak"); float64(peak) > before {
		d.run.Add(scenario, "peak", report.Bytes, float64(peak))
	}
	err = d.hub.stop()
	d.hub = nil
	return err
}

// finish waits until the hub is quiet and has sent its Events, and returns what it did since the begin of the window.
func (d *deliveryStage) finish(ctx context.Context, scenario string, w window) (*outcome, error) {
	if _, err := d.observer.settle(ctx, d.hub.process); err != nil {
		return nil, fmt.Errorf("waiting until the hub is quiet: %w", err)
	}
	spent, after, err := d.hub.drain(ctx, lull)
	if err != nil {
		return nil, fmt.Errorf("waiting until the hub has sent its Events: %w", err)
	}
	o := &outcome{changes: d.observer.since(w.mark), cpu: spent - w.cpu}
	o.writes = count(o.changes)
	if len(o.changes) > 0 {
		o.last = o.changes[len(o.changes)-1].at.Sub(w.begin)
	}
	o.requests = after.written() - w.counters.written()
	d.run.AddTime(scenario, "cpu", o.cpu)
	d.run.Add(scenario, "writes", report.Count, float64(o.writes.total()))
	d.run.Add(scenario, "requests", report.Count, o.requests)
	d.logf("%s: cpu %.3f s, %d writes %v, %.0f requests, last write after %.3f s", scenario, o.cpu.Seconds(), o.writes.total(), o.writes,
		o.requests, o.last.Seconds())
	return o, nil
}

// open begins a scenario over a running hub.
func (d *deliveryStage) open(ctx context.Context) (window, error) {
	counters, err := d.hub.counters(ctx)
	if err != nil {
		return window{}, err
	}
	spent, err := d.hub.cpu()
	return window{begin: time.Now(), mark: d.observer.mark(), cpu: spent, counters: counters}, err
}

// wantWrites fails the benchmark for every write of a ManifestWork more or less than needed.
func (d *deliveryStage) wantWrites(scenario string, o *outcome, want writes) {
	if !maps.Equal(o.writes, want) {
		d.failf("%s: wrote %v, needed are %v", scenario, o.writes, want)
	}
}

// verify compares all works with the objects.
func (d *deliveryStage) verify(ctx context.Context, scenario string) error {
	objects, err := d.readObjects(ctx)
	if err != nil {
		return err
	}
	expected, err := deliveries.NewExpected(objects)
	if err != nil {
		return fmt.Errorf("making the expected ManifestWorks: %w", err)
	}
	var findings []string
	for i := range deliveries.Clusters {
		works, err := d.readWorks(ctx, i)
		if err != nil {
			return err
		}
		for k := range works {
			if finding := expected.Take(&works[k]); finding != "" {
				findings = append(findings, finding)
			}
		}
	}
	findings = slices.Concat(findings, expected.Missing())
	const shown = 5
	for _, finding := range findings[:min(shown, len(findings))] {
		d.failf("after %s: %s", scenario, finding)
	}
	if more := len(findings) - shown; more > 0 {
		d.failf("after %s: and %d more", scenario, more)
	}
	return nil
}
