// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/benchmark/hostile"
)

// The attacks, by the requests that they send.
const (
	editAttack   = "edits"
	reviewAttack = "reviews"
	churnAttack  = "churns"
)

var attackNames = []string{editAttack, reviewAttack, churnAttack}

// specPatch returns the patch that replaces fields of a spec.
func specPatch(spec any) (client.Patch, error) {
	body, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return nil, fmt.Errorf("encoding a spec: %w", err)
	}
	return client.RawPatch(types.MergePatchType, body), nil
}

// attacker sends the requests of a tenant until it is stopped.
type attacker struct {
	tenant int
	api    client.Client
	sent   map[string]*atomic.Int64
	// affinity is that of the Pods; nil for none.
	affinity *corev1.Affinity
}

// attack starts the attacks of a tenant, each with the requests per second of rates at most, if it has one there. The function that it returns
// stops them, and returns how many requests each has sent. A negative tenant attacks nobody.
func (h *hostileStage) attack(ctx context.Context, tenant int, rates map[string]float64) (stop func() (map[string]int64, error), err error) {
	if tenant < 0 {
		return func() (map[string]int64, error) { return nil, nil }, nil
	}
	a := &attacker{tenant: tenant, api: h.tenants[tenant], sent: map[string]*atomic.Int64{}}
	if err := a.prepare(ctx); err != nil {
		return nil, err
	}
	if tenant == hostile.Attacker {
		if h.injected, err = a.injected(ctx); err != nil {
			return nil, fmt.Errorf("waiting for the policies of the hostile tenant: %w", err)
		}
	} else {
		a.affinity = h.injected
	}
	return a.start(ctx, rates), nil
}

// start sends all attacks until the function that it returns stops them, as attack says it.
func (a *attacker) start(ctx context.Context, rates map[string]float64) func() (map[string]int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	failures := make(chan error, len(attackNames)*hostile.Reviews)
	for i, one := range []struct {
		clients int
		send    func(context.Context, int) error
	}{{2, a.edit}, {hostile.Reviews, a.review}, {2, a.churn}} {
		name := attackNames[i]
		a.sent[name] = &atomic.Int64{}
		limit := rate.NewLimiter(rate.Inf, 1)
		if rates != nil {
			limit = rate.NewLimiter(rate.Limit(rates[name]), 1)
		}
		var next atomic.Int64
		for range one.clients {
			all.Go(func() {
				for limit.Wait(ctx) == nil {
					err := one.send(ctx, int(next.Add(1)))
					if err != nil && !refused(err) {
						failures <- err
						return
					}
					a.sent[name].Add(1)
				}
			})
		}
	}
	return func() (map[string]int64, error) {
		cancel()
		all.Wait()
		close(failures)
		sent := map[string]int64{}
		for name, n := range a.sent {
			sent[name] = n.Load()
		}
		var err error
		for failure := range failures {
			if !errors.Is(failure, context.Canceled) {
				err = failure
			}
		}
		return sent, err
	}
}

// refused reports whether the API server had too much to do for a request.
func refused(err error) bool {
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err)
}

// prepare creates the Placements and the policies of the attacks.
func (a *attacker) prepare(ctx context.Context) error {
	for i := range hostile.Placements {
		placement := hostile.AttackingPlacement(a.tenant, i, 0)
		if err := a.api.Create(ctx, placement); err != nil {
			return fmt.Errorf("creating Placement %s: %w", placement.Name, err)
		}
	}
	if a.tenant != hostile.Attacker {
		return nil
	}
	bomb := hostile.Bomb()
	return each(ctx, len(bomb), func(ctx context.Context, i int) error {
		if err := a.api.Create(ctx, bomb[i]); err != nil {
			return fmt.Errorf("creating PodSchedulingPolicy %s: %w", bomb[i].Name, err)
		}
		return nil
	})
}

// injected waits until the policies are injected, and returns the affinity that they give to a Pod.
func (a *attacker) injected(ctx context.Context) (*corev1.Affinity, error) {
	var pod *corev1.Pod
	err := poll(ctx, busyInterval, func() (bool, error) {
		pod = hostile.Pod(a.tenant, 0)
		if err := a.api.Create(ctx, pod, client.DryRunAll); err != nil {
			return false, fmt.Errorf("creating a Pod in dry run: %w", err)
		}
		return pod.Spec.Affinity != nil, nil
	})
	return pod.Spec.Affinity, err
}

// edit edits the Placements in turn.
func (a *attacker) edit(ctx context.Context, n int) error {
	placement := hostile.AttackingPlacement(a.tenant, n%hostile.Placements, n)
	body, err := specPatch(placement.Spec)
	if err != nil {
		return err
	}
	if err := a.api.Patch(ctx, placement, body); err != nil {
		return fmt.Errorf("editing Placement %s: %w", placement.Name, err)
	}
	return nil
}

// review creates a Pod with a dry run.
func (a *attacker) review(ctx context.Context, n int) error {
	pod := hostile.Pod(a.tenant, n)
	pod.Spec.Affinity = a.affinity
	if err := a.api.Create(ctx, pod, client.DryRunAll); err != nil {
		return fmt.Errorf("creating a Pod: %w", err)
	}
	return nil
}

// churn creates a ClusterRequest, and deletes the oldest one when there are enough. Requests of the bystander are dry runs, because the hub
// does nothing for those.
func (a *attacker) churn(ctx context.Context, n int) error {
	var dryRun []client.CreateOption
	if a.tenant == hostile.Bystander {
		dryRun = append(dryRun, client.DryRunAll)
	}
	if err := a.api.Create(ctx, hostile.Request(a.tenant, n), dryRun...); err != nil {
		return fmt.Errorf("creating ClusterRequest %d: %w", n, err)
	}
	if n <= hostile.Requests || len(dryRun) > 0 {
		return nil
	}
	if err := client.IgnoreNotFound(a.api.Delete(ctx, hostile.Request(a.tenant, n-hostile.Requests))); err != nil {
		return fmt.Errorf("deleting ClusterRequest %d: %w", n-hostile.Requests, err)
	}
	return nil
}
