// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/benchmark/hostile"
)

const (
	// samplesOfPhase is how many times the others do each of measures in one phase, one after the other, if it does not last longestPhase
	// before, and pace is the least time between two.
	samplesOfPhase = 100
	longestPhase   = 40 * time.Second
	pace           = 150 * time.Millisecond
)

// What is measured of the others: the time from the edit of a Placement to its decision, the creation of a Pod, which the hub reviews, and
// the time from a ClusterRequest to its Grant.
const (
	placementMeasure = "placement"
	podMeasure       = "pod"
	requestMeasure   = "request"
)

var measures = []string{placementMeasure, podMeasure, requestMeasure}

// sampleAll has the others do all of measures at the same time, and returns the samples by measure.
func (h *hostileStage) sampleAll(ctx context.Context) (map[string][]time.Duration, error) {
	results := make([][]time.Duration, len(measures))
	begin := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for i, one := range []func(context.Context, int) (time.Duration, error){h.edit, h.review, h.request} {
		group.Go(func() error {
			tick := time.NewTicker(pace)
			defer tick.Stop()
			for n := 0; n < samplesOfPhase && time.Since(begin) < longestPhase; n++ {
				took, err := one(ctx, n%hostile.Others)
				if err != nil {
					return fmt.Errorf("%s of tenant %d: %w", measures[i], n%hostile.Others, err)
				}
				results[i] = append(results[i], took)
				select {
				case <-ctx.Done():
				case <-tick.C:
				}
			}
			return nil
		})
	}
	err := group.Wait()
	samples := map[string][]time.Duration{}
	for i, name := range measures {
		samples[name] = results[i]
	}
	return samples, err //nolint:wrapcheck // Named above.
}

// edit edits the Placement of a tenant and waits for its PlacementDecision.
func (h *hostileStage) edit(ctx context.Context, tenant int) (time.Duration, error) {
	edited := hostile.Placement(tenant, h.edits[tenant]+1)
	h.edits[tenant]++
	body, err := specPatch(edited.Spec)
	if err != nil {
		return 0, err
	}
	key := client.ObjectKeyFromObject(edited)
	mark, begin := h.observer.mark(), time.Now()
	if err := h.tenants[tenant].Patch(ctx, edited, body); err != nil {
		return 0, fmt.Errorf("editing Placement %s: %w", key, err)
	}
	var took time.Duration
	err = h.observer.await(ctx, mark, func(c change) bool {
		if c.kind != decisionKind || c.placement != key {
			return false
		}
		took = c.at.Sub(begin)
		return true
	})
	return took, err
}

// review creates a Pod of a tenant with a dry run, and fails if the policy of the tenant is not injected.
func (h *hostileStage) review(ctx context.Context, tenant int) (time.Duration, error) {
	pod := hostile.Pod(tenant, 0)
	begin := time.Now()
	if err := h.tenants[tenant].Create(ctx, pod, client.DryRunAll); err != nil {
		return 0, fmt.Errorf("creating a Pod: %w", err)
	}
	took := time.Since(begin)
	if !hostile.Injected(pod) {
		h.failf("%s: no policy is injected into a Pod of tenant %d", hostileScenario, tenant)
	}
	return took, nil
}

// request creates a ClusterRequest of a tenant and waits for its Grant.
func (h *hostileStage) request(ctx context.Context, tenant int) (time.Duration, error) {
	request := hostile.Request(tenant, h.created)
	h.created++
	key := client.ObjectKeyFromObject(request)
	mark, begin := h.observer.mark(), time.Now()
	if err := h.tenants[tenant].Create(ctx, request); err != nil {
		return 0, fmt.Errorf("creating ClusterRequest %s: %w", key, err)
	}
	var took time.Duration
	err := h.observer.await(ctx, mark, func(c change) bool {
		if c.kind != grantKind || c.verb != watch.Added || c.key != key {
			return false
		}
		took = c.at.Sub(begin)
		return true
	})
	return took, err
}
