// SPDX-License-Identifier: Apache-2.0

package system

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Start runs a manager until ctx ends, and returns the error of the manager. If ctx ends before the caches are in sync, Start returns nil at
// once, and the manager ends as soon as they are.
//
// The manager of controller-runtime v0.25 cannot be stopped before its caches are in sync: it waits for them in a loop that does not end
// with its context. Without Start a hub that may not list a resource would ignore the request to stop until it is killed.
func Start(ctx context.Context, mgr manager.Manager) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	synced := make(chan struct{})
	if err := mgr.Add(afterCaches(func() { close(synced) })); err != nil {
		stop()
		return fmt.Errorf("adding to the manager: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()

	select {
	case err := <-ended:
		stop()
		return err
	case <-synced:
	case <-ctx.Done():
		select {
		case <-synced: // Both were ready: the manager can have the lease, which it releases at its end.
		default:
			go func() {
				<-synced
				stop()
			}()
			return nil
		}
	}

	defer context.AfterFunc(ctx, stop)()
	return <-ended
}

// afterCaches is called when the caches of a manager are in sync, whether the manager is the leader or not.
type afterCaches func()

// NeedLeaderElection returns false.
func (afterCaches) NeedLeaderElection() bool { return false }

// Start calls the function.
func (a afterCaches) Start(context.Context) error {
	a()
	return nil
}
