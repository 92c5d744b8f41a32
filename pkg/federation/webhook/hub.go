// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Hub is what the warnings about clusters depend on. All fields must be set.
type Hub struct {
	// Kinds are the delivered kinds.
	Kinds []federation.FederatedKind
	// Namespace is the namespace of the hub itself.
	Namespace string
	// Compiler compiles the selectors of the objects.
	Compiler *selector.Compiler
	// Snapshot returns the clusters, sets and bindings; nil while they are not complete.
	Snapshot func() *inventory.Snapshot
	// Reader reads what else decides.
	Reader Reader
	// Limits are the removal limits of the hub.
	Limits federation.Limits
	// Clock has the time of the evaluations.
	Clock clock.PassiveClock
}

// Reader reads from caches. It is safe for concurrent use.
type Reader interface {
	// NamespaceMeta returns the metadata of a Namespace; nil if there is none.
	NamespaceMeta(ctx context.Context, name string) (*metav1.ObjectMeta, error)
	// Works returns the works of an object.
	Works(ctx context.Context, of federation.Identity) ([]federation.ExistingWork, error)
	// Decisions returns the decisions of a Placement.
	Decisions(ctx context.Context, placement types.NamespacedName) (federation.Decisions, error)
	// Placements returns the names of the Placements of a namespace, sorted.
	Placements(ctx context.Context, namespace string) ([]string, error)
}
