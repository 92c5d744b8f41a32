// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

// The kinds that the hub watches for placements.
var kinds = []string{
	"managedclusters", "managedclustersets", "managedclustersetbindings", "addonplacementscores", "placements", "placementdecisions",
}

// fault strikes for a while: strike begins it, and mend, which strike returns, ends it.
type fault struct {
	name string
	// shortest and longest are how long it lasts.
	shortest, longest time.Duration
	strike            func(ctx context.Context, a *arena, h *hub) (mend func() error, err error)
}

// broken is a fault of all replicas by a rule.
func broken(rule faults.Rule, name string, shortest, longest time.Duration) fault {
	return fault{
		name: fmt.Sprintf("%s %v", name, rule.Resources), shortest: shortest, longest: longest,
		strike: func(_ context.Context, _ *arena, h *hub) (func() error, error) {
			mend := h.breakAll(rule)
			return func() error {
				mend()
				return nil
			}, nil
		},
	}
}

// lasting has how long the faults of watches last: a hub that was only late must catch up, and one that has to list again.
var lasting = map[faults.Fault]struct{ shortest, longest time.Duration }{
	faults.Delay:       {100 * time.Millisecond, 5 * time.Second},
	faults.Reset:       {100 * time.Millisecond, 3 * time.Second},
	faults.Unavailable: {time.Second, 3 * time.Second},
	faults.Gone:        {50 * time.Millisecond, time.Second},
}

// allFaults are one of each.
func allFaults() []fault {
	var all []fault
	for _, kind := range kinds {
		for _, rule := range faults.RulesOfReads(kind) {
			how := fmt.Sprintf("%s of %v:", rule.Fault, rule.Verbs)
			all = append(all, broken(rule, how, lasting[rule.Fault].shortest, lasting[rule.Fault].longest))
		}
	}

	for _, write := range []faults.Match{
		{Verbs: []string{"create"}, Resources: []string{"placementdecisions"}},
		{Verbs: []string{"patch", "update"}, Resources: []string{"placementdecisions", "placementdecisions/status"}},
		{Verbs: []string{"delete"}, Resources: []string{"placementdecisions"}},
		{Verbs: []string{"patch", "update"}, Resources: []string{"placements/status"}},
	} {
		for _, rule := range faults.RulesOfWrites(write) {
			all = append(all, broken(rule, fmt.Sprintf("%s of %v:", rule.Fault, rule.Verbs), 200*time.Millisecond, 2*time.Second))
		}
	}

	all = append(all,
		broken(faults.Rule{Match: faults.Match{Verbs: []string{"get", "list"}}, Fault: faults.Delay}, "reads delayed", time.Second, 3*time.Second),
		broken(faults.Rule{Match: faults.Match{Verbs: []string{"get"}}, Fault: faults.InternalError}, "reads refused", time.Second, 3*time.Second),
	)
	return append(all, disasters()...)
}

// disasters strike more than requests of one kind. There are several of each, so that they come up early.
func disasters() []fault {
	all := []fault{
		{name: "connections refused", shortest: 200 * time.Millisecond, longest: 2 * time.Second, strike: refuseAll},
		{name: "connections refused", shortest: 200 * time.Millisecond, longest: 2 * time.Second, strike: refuseAll},
		{name: "the clock jumps", shortest: time.Millisecond, longest: time.Second, strike: jump(time.Hour)},
		{name: "the clock jumps back", shortest: time.Millisecond, longest: time.Second, strike: jump(-time.Hour)},
	}

	for _, kind := range kinds {
		all = append(all, fault{
			name: "leader killed, standby behind with " + kind, shortest: time.Second, longest: 4 * time.Second, strike: killLeader(kind),
		})
	}
	return alone(all)
}

// crashes kill programs of the control plane. Every world suffers one of them.
func crashes() []fault {
	return alone([]fault{
		{name: "API server killed", longest: time.Second, strike: crash(binaries.APIServer)},
		{name: "etcd killed", longest: time.Second, strike: crash(binaries.Etcd)},
		{name: "etcd and API server killed", longest: time.Second, strike: crash(binaries.Etcd, binaries.APIServer)},
	})
}

// alone has each of the faults wait until no other disaster lasts.
func alone(all []fault) []fault {
	for i := range all {
		strike := all[i].strike
		all[i].strike = func(ctx context.Context, a *arena, h *hub) (func() error, error) {
			a.disaster.Lock()
			mend, err := strike(ctx, a, h)
			if err != nil {
				a.disaster.Unlock()
				return nil, err
			}
			return func() error {
				defer a.disaster.Unlock()
				return mend()
			}, nil
		}
	}

	return all
}

func refuseAll(_ context.Context, _ *arena, h *hub) (func() error, error) {
	var accepts []func() error
	mend := func() error {
		var errs []error
		for _, accept := range accepts {
			errs = append(errs, accept())
		}
		return errors.Join(errs...)
	}

	for _, r := range h.replicas {
		accept, err := r.proxy.Refuse()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("refusing connections: %w", err), mend())
		}
		accepts = append(accepts, accept)
	}
	return mend, nil
}

// crash kills programs of the control plane; they start again in the end.
func crash(binaries ...string) func(context.Context, *arena, *hub) (func() error, error) {
	return func(ctx context.Context, a *arena, _ *hub) (func() error, error) {
		if err := a.environment.Crash(binaries...); err != nil {
			return nil, fmt.Errorf("killing %v: %w", binaries, err)
		}
		return func() error { return a.environment.Recover(ctx) }, nil
	}
}

// jump puts the clock of the replicas forward or back, for good.
func jump(by time.Duration) func(context.Context, *arena, *hub) (func() error, error) {
	return func(_ context.Context, a *arena, _ *hub) (func() error, error) {
		a.clock.skew.Add(int64(by))
		return func() error { return nil }, nil
	}
}

// killLeader ends the leader at once, while the standby sees nothing new of a kind. The next leader goes on so for a while.
func killLeader(kind string) func(context.Context, *arena, *hub) (func() error, error) {
	return func(ctx context.Context, _ *arena, h *hub) (func() error, error) {
		leader := h.leader()
		if leader == nil {
			return func() error { return nil }, nil // There is an election already.
		}
		var mends []func()
		for _, other := range h.others(leader) {
			mends = append(mends, other.proxy.Break(faults.Rule{
				Match: faults.Match{Verbs: []string{"watch"}, Resources: []string{kind}}, Fault: faults.Delay,
			}))
		}

		restart, err := leader.crash()
		if err != nil {
			return nil, err
		}
		return func() error {
			elected := persistFor(ctx, 2*leaseDuration, func() error {
				if h.leader() == nil || h.leader() == leader {
					return errors.New("the standby does not lead yet")
				}
				return nil
			})

			err := errors.Join(elected, wait(ctx, time.Second)) // It acts on what it has seen.
			for _, mend := range mends {
				mend()
			}
			return errors.Join(err, restart())
		}, nil
	}
}

// persistFor is persist for a limited time, after which nothing is wrong: another fault may be in the way.
func persistFor(ctx context.Context, limit time.Duration, try func() error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := persist(limited, try); err != nil && limited.Err() == nil {
		return err
	}
	return nil
}
