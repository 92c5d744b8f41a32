// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
)

// decidesPods reports whether there is a policy, class or Tenant.
func decidesPods(given *explain.State) bool {
	for kind := range given.Each(explain.OfPods) {
		if kind.Admit != nil {
			return true
		}
	}
	return false
}

// readPods reads the workloads that policies, classes, Tenants and Namespaces may change, and all that decides about their Pods. A namespace is
// enough if all of them are in it. The error may come with objects.
func (o *diffOptions) readPods(ctx context.Context, hub client.Client, change *pods.Objects) (*pods.Objects, error) {
	namespaces := namesOf(change.Namespaces)
	for _, policy := range change.Policies {
		namespaces = append(namespaces, policy.Namespace)
	}
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	if o.workloads != nil && len(namespaces) == 1 {
		return hubstate.SomePodsFromCluster(ctx, hub, namespaces[0], o.workloads)
	}
	if len(change.ClusterPolicies)+len(change.Classes)+len(change.Tenants) > 0 || len(namespaces) != 1 {
		return hubstate.AllPodsFromCluster(ctx, hub, "")
	}
	return hubstate.AllPodsFromCluster(ctx, hub, namespaces[0])
}

// diffPods compares the workloads of a cluster as they are admitted before and after the changes.
func diffPods(hub, after *explain.State, applied []explain.Applied) (*pods.Differences, error) {
	differences, err := pods.Diff(&hub.Pods, &after.Pods)
	differences.Objects = slices.Concat(
		applyResults(applied, func(kind *explain.Kind) bool { return kind.GroupVersionKind == namespaceKind }),
		applyResults(applied, func(kind *explain.Kind) bool { return kind.Admit != nil }))
	return &differences, err
}

// applyResults returns the results of the objects of some kinds; the list is never nil.
func applyResults(applied []explain.Applied, of func(*explain.Kind) bool) []pods.Applied {
	results := []pods.Applied{}
	for _, one := range applied {
		if of(one.Kind) {
			results = append(results, one.Result)
		}
	}
	return results
}

// refused returns an error that names the objects that admission would refuse.
func refused(differences *pods.Differences) error {
	if differences == nil {
		return nil
	}
	var errs []error
	for _, applied := range differences.Objects {
		if len(applied.Refused) > 0 {
			errs = append(errs, fmt.Errorf("%s would be refused, and is not in the comparison: %s; correct it in the file",
				applied.Object, strings.Join(slices.Clone(applied.Refused), "; ")))
		}
	}
	return errors.Join(errs...)
}
