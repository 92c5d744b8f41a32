// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"context"
	"time"

	"k8s.io/klog/v2"
)

// bootstrapInterval is how long a process waits for the leader before it does the work itself, and between two attempts.
const bootstrapInterval = 5 * time.Second

// bootstrap does the work of the reconciler in a process that does not lead, but only until the process is ready for the first time.
//
// The leader of a rollout may have a version or flags without a webhook of this process, and gives that webhook no authorities. The process
// would wait for them as not ready, the rollout would wait for the process before it ends the leader, and the leader would stay. Both may write
// at the same time: what they write follows from the Secret, and a write to an outdated Secret is a conflict.
type bootstrap struct {
	reconciler *reconciler // not that of the controller, whose state is not safe for concurrent use
	ready      func(context.Context) error
	interval   time.Duration
}

func newBootstrap(r reconciler, ready *readiness) *bootstrap {
	r.missing = map[absent]bool{}
	return &bootstrap{reconciler: &r, ready: ready.check, interval: bootstrapInterval}
}

// NeedLeaderElection returns false, so that the manager starts it on every replica.
func (*bootstrap) NeedLeaderElection() bool { return false }

// Start returns when the process is ready, or ctx ends.
func (b *bootstrap) Start(ctx context.Context) error {
	log := klog.FromContext(ctx).WithName(controllerName)
	tick := time.NewTicker(b.interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		why := b.ready(ctx)
		if why == nil {
			return nil
		}
		log.Info("Writing certificates and authorities of the webhooks, because the leader has not", "reason", why)

		if _, err := b.reconciler.sync(ctx); err != nil && ctx.Err() == nil {
			log.Info("Certificates or authorities of the webhooks are not written yet", "err", err)
		}
	}
}
