// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// create makes one placement after the other, over a quiet hub.
func (s *stage) create(ctx context.Context) error { return s.creations(ctx, "create", 0) }

// createInChurn makes placements while clusters send heartbeats.
func (s *stage) createInChurn(ctx context.Context) error {
	return s.creations(ctx, "create-in-churn", 100)
}

// creations creates placements, with so many heartbeats per second beside, and deletes them again.
func (s *stage) creations(ctx context.Context, scenario string, rate int) error {
	w, err := s.open(ctx)
	if err != nil {
		return err
	}
	l := &latencies{}
	made, err := s.createBeside(ctx, rate, l)
	if err != nil {
		return fmt.Errorf("%s: %w", scenario, err)
	}
	o, err := s.finish(ctx, scenario, w)
	if err != nil {
		return err
	}
	s.run.AddTime(scenario, "p50", report.Percentile(l.each, 50))
	s.run.AddTime(scenario, "p99", report.Percentile(l.each, 99))
	if rate == 0 {
		s.run.AddTime(scenario, "cpu-per-event", o.cpu/time.Duration(len(made)))
	}
	s.add(scenario, o)
	s.wantWrites(scenario, o, writes{
		"create " + decisionKind: len(made), "patch " + decisionKind: len(made), "patch " + placementKind: len(made),
	})
	if err := s.remove(ctx, made); err != nil {
		return err
	}
	_, err = s.settle(ctx, s.hub.process)
	return err
}

// createBeside creates placements, with so many heartbeats per second meanwhile.
func (s *stage) createBeside(ctx context.Context, rate int, l *latencies) ([]*clusterv1beta1.Placement, error) {
	group, ctx := errgroup.WithContext(ctx)
	stop := make(chan struct{})
	if rate > 0 {
		group.Go(func() error {
			_, err := s.beat(ctx, rate, longest, stop)
			return err
		})
	}
	var made []*clusterv1beta1.Placement
	group.Go(func() error {
		defer close(stop)
		begin := time.Now()
		for i := 0; i < repeats && (i < fewest || time.Since(begin) < enough); i++ {
			placement := s.size.Further(i + rate)
			made = append(made, placement)
			if err := s.createOne(ctx, placement, l); err != nil {
				return err
			}
		}
		return nil
	})
	err := group.Wait()
	return made, err //nolint:wrapcheck // The tasks name what they do.
}

// createOne creates a placement and waits for its decisions and its status.
func (s *stage) createOne(ctx context.Context, placement *clusterv1beta1.Placement, l *latencies) error {
	mark, begin := s.observer.mark(), time.Now()
	if err := s.api.Create(ctx, placement); err != nil {
		return fmt.Errorf("creating Placement %s/%s: %w", placement.Namespace, placement.Name, err)
	}
	key := types.NamespacedName{Namespace: placement.Namespace, Name: placement.Name}
	decided, reported := false, false // The watches report them in any order.
	err := s.observer.await(ctx, mark, func(c change) bool {
		switch {
		case c.placement != key || c.verb != watch.Modified:
		case c.kind == placementKind:
			reported = true
		case !decided:
			decided = true
			l.each = append(l.each, c.at.Sub(begin))
		}
		return decided && reported
	})
	if err != nil {
		return fmt.Errorf("waiting for the decisions of Placement %s: %w", key, err)
	}
	return nil
}

// remove deletes placements, and their decisions as the garbage collector would.
func (s *stage) remove(ctx context.Context, placements []*clusterv1beta1.Placement) error {
	for _, placement := range placements {
		if err := s.api.Delete(ctx, placement); err != nil {
			return fmt.Errorf("deleting Placement %s/%s: %w", placement.Namespace, placement.Name, err)
		}
		err := s.api.DeleteAllOf(ctx, &clusterv1beta1.PlacementDecision{}, client.InNamespace(placement.Namespace),
			client.MatchingLabels{clusterv1beta1.PlacementLabel: placement.Name})
		if err != nil {
			return fmt.Errorf("deleting the PlacementDecisions of Placement %s/%s: %w", placement.Namespace, placement.Name, err)
		}
	}
	return nil
}
