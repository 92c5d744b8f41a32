// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/benchmark/deliveries"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
	"github.com/placement-hub/placement-hub/test/env/loopback"
)

// federationScenario has a control plane of its own, with objects that are delivered to every cluster. Its scenarios have this prefix.
const federationScenario = "federation"

// objectsController is the controller that is measured.
const objectsController = "federation/objects"

// deliveryStage is a control plane with clusters and objects that they get, and what is measured on it.
type deliveryStage struct {
	*separateStage

	objects int // that exist
}

// measureFederation runs the scenario federation. What was measured is returned with an error, too.
func measureFederation(
	ctx context.Context, o *options, tools programs, directory string, log io.Writer,
) (_ *report.Run, err error) {
	stage, err := newSeparateStage(ctx, federationScenario, objectsController, tools, directory, log)
	if err != nil {
		return nil, err
	}
	d := &deliveryStage{separateStage: stage}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.furnish(ctx, o.objects); err != nil {
		return nil, fmt.Errorf("creating objects: %w", err)
	}
	return d.run, d.perform(ctx, []step{
		{"deliver", d.deliver}, {"edit", d.edit}, {"restart", d.restart}, {floorName, d.floor}, {"memory", d.memory},
	})
}

// furnish installs the system of federated objects, and creates clusters, namespaces and the objects.
func (d *deliveryStage) furnish(ctx context.Context, objects int) error {
	admin := d.environment.AdminConfig()
	// Nothing serves the webhook of the system: its failure policy is Ignore.
	nowhere, err := loopback.FreeAddress(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(
		manifests.Install(ctx, admin), manifests.InstallManifestWorks(ctx, admin),
		manifests.InstallSystem(ctx, admin, manifests.Federation, "https://"+nowhere),
	); err != nil {
		return err
	}
	if err := writeKubeconfig(ctx, d.environment, manifests.Namespace, manifests.ServiceAccount, d.kubeconfig); err != nil {
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
