// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// gain binds many namespaces at once to a set that none of them had.
func (s *stage) gain(ctx context.Context) error {
	return s.storm(ctx, "set-gained", func(ctx context.Context) error {
		return each(ctx, s.size.Namespaces(), func(ctx context.Context, i int) error {
			if i%4 == 0 {
				return nil // It has everything already.
			}
			binding := s.size.Binding(i, fleet.Reserve)
			if err := s.api.Create(ctx, binding); err != nil {
				return fmt.Errorf("creating ManagedClusterSetBinding %s/%s: %w", binding.Namespace, binding.Name, err)
			}
			return nil
		})
	})
}

// relabelAll changes a label of every cluster, as fast as the API server takes it.
func (s *stage) relabelAll(ctx context.Context) error {
	return s.storm(ctx, "relabel-all", func(ctx context.Context) error {
		return each(ctx, s.size.Clusters, func(ctx context.Context, i int) error {
			return s.relabel(ctx, fleet.ClusterName(i), fleet.Tier, fleet.NextTier(i))
		})
	})
}

// storm makes many changes at once and waits until all decisions follow.
func (s *stage) storm(ctx context.Context, scenario string, strike func(context.Context) error) error {
	before, err := s.contents(ctx)
	if err != nil {
		return err
	}
	w, err := s.open(ctx)
	if err != nil {
		return err
	}
	if err := strike(ctx); err != nil {
		return err
	}
	struck := time.Since(w.begin)
	o, err := s.finish(ctx, scenario, w)
	if err != nil {
		return err
	}
	after, err := s.contents(ctx)
	if err != nil {
		return err
	}
	s.run.AddTime(scenario, "changes-sent", struck)
	s.run.AddTime(scenario, "last-decision", o.last)
	s.run.AddTime(scenario, "last-decision-after-changes", max(o.last-struck, 0))
	s.add(scenario, o)
	s.run.Add(scenario, "objects-changed", report.Count, float64(differing(before, after)))
	return nil
}

// contents are fingerprints of the statuses of all decisions and placements.
func (s *stage) contents(ctx context.Context) (map[types.UID]uint64, error) {
	all, err := s.decisions(ctx)
	if err != nil {
		return nil, err
	}
	contents := map[types.UID]uint64{}
	for i := range all {
		a := &all[i]
		if err := fingerprint(contents, a.Placement.UID, a.Placement.Status); err != nil {
			return nil, err
		}
		for k := range a.Pages {
			if err := fingerprint(contents, a.Pages[k].UID, a.Pages[k].Status); err != nil {
				return nil, err
			}
		}
	}
	return contents, nil
}

// seed makes the fingerprints of one run comparable.
var seed = maphash.MakeSeed()

func fingerprint(contents map[types.UID]uint64, uid types.UID, status any) error {
	encoded, err := json.Marshal(status)
	if err != nil {
		return fmt.Errorf("encoding a status: %w", err)
	}
	contents[uid] = maphash.Bytes(seed, encoded)
	return nil
}

// differing counts the objects that are not in both, or not the same.
func differing(before, after map[types.UID]uint64) int {
	different := 0
	for uid, was := range before {
		if is, found := after[uid]; !found || is != was {
			different++
		}
	}
	for uid := range maps.Keys(after) {
		if _, found := before[uid]; !found {
			different++
		}
	}
	return different
}
