// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// gain binds many namespaces at once to a set that none of them had.
func (s *stage) gain(ctx context.Context) error {
	return s.storm(ctx, "set-gained", s.bindReserve)
}

// bindReserve binds the namespaces to the set, several at a time.
func (s *stage) bindReserve(ctx context.Context) error {
	namespaces := s.size.Gaining()
	return each(ctx, len(namespaces), func(ctx context.Context, i int) error {
		binding := s.size.Binding(namespaces[i], fleet.Reserve)
		if err := s.api.Create(ctx, binding); err != nil {
			return fmt.Errorf("creating ManagedClusterSetBinding %s/%s: %w", binding.Namespace, binding.Name, err)
		}
		return nil
	})
}

// unbindReserve takes these bindings away.
func (s *stage) unbindReserve(ctx context.Context) error {
	namespaces := s.size.Gaining()
	return each(ctx, len(namespaces), func(ctx context.Context, i int) error {
		binding := s.size.Binding(namespaces[i], fleet.Reserve)
		if err := s.api.Delete(ctx, binding); err != nil {
			return fmt.Errorf("deleting ManagedClusterSetBinding %s/%s: %w", binding.Namespace, binding.Name, err)
		}
		return nil
	})
}

// gainFloor takes the set away again, and measures a client that makes the bindings and repeats the writes of the hub beside it. The hub is
// stopped for it, and is then started over what the client has written.
func (s *stage) gainFloor(ctx context.Context) error {
	const scenario = "set-gained-floor"
	gained, err := s.decisions(ctx)
	if err != nil {
		return err
	}
	if err := s.storm(ctx, "set-lost", s.unbindReserve); err != nil {
		return err
	}
	if err := s.retire(); err != nil {
		return err
	}
	lost, err := s.decisions(ctx)
	if err != nil {
		return err
	}
	repeated, err := changed(lost, gained)
	if err != nil {
		return err
	}
	begin := time.Now()
	group, writing := errgroup.WithContext(ctx)
	group.Go(func() error { return s.bindReserve(writing) })
	group.Go(func() error { return precomputed.NewWriter(s.api).Write(writing, repeated) })
	if err := group.Wait(); err != nil {
		return fmt.Errorf("%s: %w", scenario, err)
	}
	s.run.AddTime(scenario, "seconds", time.Since(begin))
	s.logf("%s: decisions of %d placements in %.3f s", scenario, len(repeated), time.Since(begin).Seconds())
	_, err = s.startAgain(ctx, scenario, &start{})
	return err
}

// changed returns the decisions that differ in after, to be written over those of before.
func changed(before, after []precomputed.Decisions) ([]precomputed.Decisions, error) {
	there, was := map[types.UID]client.Object{}, map[types.UID]uint64{}
	for i := range before {
		for object, status := range before[i].Statuses() {
			there[object.GetUID()] = object
			if err := fingerprint(was, object.GetUID(), status); err != nil {
				return nil, err
			}
		}
	}
	var all []precomputed.Decisions
	for i := range after {
		is := map[types.UID]uint64{}
		for object, status := range after[i].Statuses() {
			if err := fingerprint(is, object.GetUID(), status); err != nil {
				return nil, err
			}
			object.SetResourceVersion("")
			if known, found := there[object.GetUID()]; found {
				object.SetResourceVersion(known.GetResourceVersion())
			}
		}
		same := func(object client.Object) bool { return is[object.GetUID()] == was[object.GetUID()] }
		one := precomputed.Decisions{Placement: after[i].Placement}
		for k := range after[i].Pages {
			if page := &after[i].Pages[k]; !same(page) {
				one.Pages = append(one.Pages, *page)
			}
		}
		if len(one.Pages) > 0 || !same(&one.Placement) {
			all = append(all, one)
		}
	}
	return all, nil
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
		for object, status := range all[i].Statuses() {
			if err := fingerprint(contents, object.GetUID(), status); err != nil {
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
