// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"fmt"

	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Checker is a client that knows whether its user may list objects. The error is that of List.
type Checker interface {
	MayList(ctx context.Context, list client.ObjectList, options ...client.ListOption) error
}

// checking is a client that lists Placements and ManagedClusterSets. Of other objects it checks that they may be listed, and lists none.
type checking struct{ client.Reader }

// List implements client.Reader.
func (c *checking) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	listed := sameType(list, &clusterv1beta2.ManagedClusterSetList{})
	for _, adapter := range api.Adapters() {
		listed = listed || sameType(list, adapter.EmptyList())
	}
	if listed {
		return c.Reader.List(ctx, list, options...) //nolint:wrapcheck // Its kind decides what is done.
	}
	if checker, is := c.Reader.(Checker); is {
		return checker.MayList(ctx, list, options...)
	}
	first, is := list.DeepCopyObject().(client.ObjectList)
	if !is {
		return fmt.Errorf("%T is no list", list)
	}
	return c.Reader.List(ctx, first, append(options, client.Limit(1))...) //nolint:wrapcheck // As above.
}
