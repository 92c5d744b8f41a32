// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
)

// Driver has an implementation decide. Its methods return when the implementation has been asked, and need not wait until it has written.
type Driver interface {
	// Decide has the implementation decide that a placement selects exactly these profiles, instead of those of an earlier call. The placement is a
	// name in a namespace that exists, where the slices are expected. What it was asked last survives Kill.
	Decide(ctx context.Context, placement types.NamespacedName, profiles []ProfileRef) error
	// Delete has the implementation forget the placement.
	Delete(ctx context.Context, placement types.NamespacedName) error
}

// Fleet is a Driver that brings the clusters itself. For others the suite creates ClusterProfiles of the cluster manager "conformance".
type Fleet interface {
	// Profiles makes sure that there are n ClusterProfiles, which exist when it returns, and returns the names of n of them.
	Profiles(ctx context.Context, n int) ([]ProfileRef, error)
}

// Restarter is a Driver whose implementation can be restarted. Without it the rule of restarts is skipped.
type Restarter interface {
	// Kill ends the implementation at once, as SIGKILL does: it writes nothing more when Kill has returned.
	Kill(ctx context.Context) error
	// Start starts it again.
	Start(ctx context.Context) error
}

// Decision is what a consumer follows: the slices of a namespace with a decision-key and the name of a scheduler.
type Decision struct {
	Namespace, Key, SchedulerName string
}

// ConsumerDriver asks a consumer which clusters it serves. The suite writes the slices.
type ConsumerDriver interface {
	// Follow has the consumer follow a decision, and no other one any more.
	Follow(ctx context.Context, decision Decision) error
	// Targets returns the profiles of the clusters that the consumer serves at this moment. An error is tried again until the time is over.
	Targets(ctx context.Context) ([]ProfileRef, error)
}
