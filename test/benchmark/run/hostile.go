// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	clusterrequest "github.com/placement-hub/placement-hub/pkg/clusterrequest/controller"
	placement "github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/test/benchmark/hostile"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
	"github.com/placement-hub/placement-hub/test/benchmark/requests"
	"github.com/placement-hub/placement-hub/test/env/loopback"
)

// hostileScenario has a control plane of its own, with tenants that share a hub with the systems that they can write objects for.
const hostileScenario = "hostile"

// hostileStage is a control plane with tenants, one of which is hostile, and what is measured on it.
type hostileStage struct {
	*requestStage

	webhook string             // the address of the hub's webhook
	tenants []client.WithWatch // by tenant
	edits   []int              // by tenant, of its Placement
	created int                // ClusterRequests of the others
	// injected is the affinity that the policies of the hostile tenant give to its Pods. The bystander asks for it in its own Pods.
	injected *corev1.Affinity
}

// measureHostile runs the scenario hostile. What was measured is returned with an error, too.
func measureHostile(ctx context.Context, _ *options, tools programs, directory string, log io.Writer) (_ *report.Run, err error) {
	h, err := newHostileStage(ctx, tools, directory, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	return h.run, perform(ctx, hostileScenario, func(ctx context.Context, _ string) error {
		if err := h.accounts(ctx); err != nil {
			return err
		}
		return h.measure(ctx)
	})
}

// newHostileStage starts a control plane with the tenants and the hub.
func newHostileStage(ctx context.Context, tools programs, directory string, log io.Writer) (*hostileStage, error) {
	controllers := strings.Join([]string{placement.Name, manifests.PodScheduling + "/*", clusterrequest.Requests}, ",")
	stage, err := newSeparateStage(ctx, hostileScenario, controllers, tools, directory, log)
	if err != nil {
		return nil, err
	}
	h := &hostileStage{requestStage: &requestStage{separateStage: stage}, edits: make([]int, hostile.Others)}
	if err := h.furnish(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("creating objects: %w", err), h.close())
	}
	return h, nil
}

// furnish installs the systems, creates the fleet and the tenants, and starts the hub.
func (h *hostileStage) furnish(ctx context.Context) error {
	if err := h.install(ctx); err != nil {
		return err
	}
	admin := h.environment.AdminConfig()
	var err error
	if h.webhook, err = loopback.FreeAddress(ctx); err != nil {
		return err
	}
	if err := manifests.InstallSystem(ctx, admin, manifests.PodScheduling, "https://"+h.webhook); err != nil {
		return err
	}
	if h.api, err = newWatchingClient(admin); err != nil {
		return err
	}
	if h.observer, err = observe(ctx, h.api, decisionKind, requestKind, grantKind, clusterKind); err != nil {
		return err
	}
	size := hostile.Size()
	err = errors.Join(
		h.create(ctx, requests.Purpose(hostile.Purpose)), h.create(ctx, size.Sets()[0]),
		each(ctx, size.Clusters, func(ctx context.Context, i int) error { return createCluster(ctx, h.api, h.create, size, i) }),
		each(ctx, hostile.Bystander+1, h.createTenant),
	)
	if err != nil {
		return err
	}
	for tenant := range hostile.Bystander + 1 {
		config, err := h.environment.UserConfig(hostile.NamespaceName(tenant))
		if err != nil {
			return err
		}
		api, err := newWatchingClient(config)
		if err != nil {
			return err
		}
		h.tenants = append(h.tenants, api)
	}
	if err := h.startProvider(ctx); err != nil {
		return fmt.Errorf("starting the provider: %w", err)
	}
	return h.startHub(ctx)
}

// createTenant creates the objects of a tenant that exist from the begin.
func (h *hostileStage) createTenant(ctx context.Context, tenant int) error {
	objects := []client.Object{
		hostile.Namespace(tenant), hostile.Account(tenant), hostile.Binding(tenant, hostile.Size().Sets()[0].Name),
	}
	for _, right := range hostile.Rights(tenant) {
		objects = append(objects, right)
	}
	if tenant < hostile.Others {
		objects = append(objects, hostile.Placement(tenant, 0), hostile.Policy(tenant))
		for _, placement := range hostile.Further(tenant) {
			objects = append(objects, placement)
		}
	}
	for _, object := range objects {
		if err := h.create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// startHub starts the hub with all controllers that tenants have objects for, and waits until the API server asks its webhook and the
// Placements are decided.
func (h *hostileStage) startHub(ctx context.Context) error {
	err := writeKubeconfig(ctx, h.environment, manifests.Namespace, manifests.ServiceAccount, h.kubeconfig)
	if err != nil {
		return err
	}
	h.hub, err = startHub(ctx, h.programs.hub, h.directory, h.kubeconfig, h.controller, "--webhook-listen="+h.webhook,
		"--dashboard-listen=127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := h.hub.awaitReady(ctx); err != nil {
		return err
	}
	err = poll(ctx, busyInterval, func() (bool, error) {
		pod := hostile.Pod(0, 0)
		err := h.tenants[0].Create(ctx, pod, client.DryRunAll)
		return hostile.Injected(pod), errors.Join(err, h.hub.ended())
	})
	if err != nil {
		return fmt.Errorf("waiting for a policy to be injected: %w", err)
	}
	return h.rest(ctx)
}

// rest waits until the hub has nothing to do.
func (h *hostileStage) rest(ctx context.Context) error {
	begin := time.Now()
	if _, err := h.observer.settle(ctx, h.hub.process); err != nil {
		return fmt.Errorf("waiting until the hub is quiet: %w", err)
	}
	h.logf("%s: the hub is quiet after %.1f s", hostileScenario, time.Since(begin).Seconds())
	return nil
}

// clean deletes all ClusterRequests, the Placements of the attacks and the bomb, and waits until the hub has nothing to do.
func (h *hostileStage) clean(ctx context.Context) error {
	for tenant := range hostile.Bystander + 1 {
		namespace := client.InNamespace(hostile.NamespaceName(tenant))
		objects := []client.Object{hostile.Request(tenant, 0)}
		if tenant >= hostile.Others {
			objects = append(objects, hostile.AttackingPlacement(tenant, 0, 0), hostile.Policy(tenant))
		}
		for _, object := range objects {
			if err := h.api.DeleteAllOf(ctx, object, namespace); err != nil {
				return fmt.Errorf("deleting all %T of %s: %w", object, hostile.NamespaceName(tenant), err)
			}
		}
	}
	return h.rest(ctx)
}

// verify compares every decision with the reference.
func (h *hostileStage) verify(ctx context.Context) error {
	reference, err := newReference(ctx, h.api)
	if err != nil {
		return err
	}
	differences, err := reference.differences(ctx)
	if err != nil {
		return err
	}
	for _, difference := range differences {
		h.failf("after %s: %s", hostileScenario, difference)
	}
	return nil
}
