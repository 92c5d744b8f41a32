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
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
)

// podTool is the tool of the Pods of workloads.
var podTool = tool{
	family:   familyWorkloads,
	isType:   func(_ *explainOptions, text string) bool { _, is := pods.FindKind(text); return is },
	complete: (*explainOptions).completeWorkloads,
	explain:  runWorkloads,
	answer:   answerWorkloads,
	changed:  func(o *diffOptions, given *explain.State) bool { return o.effects.decidesPods(given) },
	read:     readPods, compare: comparePods, limit: limitPods,
	unresolved: func(differences *explain.Differences) error { return refused(differences.Pods) },
	report: func(_ *simulateOptions, in *simulated, _ wantedObjects, reports *explain.Reports) (err error) {
		reports.Workloads, err = explainGiven(&in.state.Pods, in.workloads)
		return err
	},
	added: explain.OfPods, readAdded: readAddedPods, simulate: simulatePods,
}

// decidesPods reports whether there is a policy, class or Tenant.
func decidesPods(given *explain.State) bool {
	for kind := range given.Each(explain.OfPods) {
		if kind.Admit != nil {
			return true
		}
	}
	return false
}

// readPods adds to a State the workloads that policies, classes, Tenants and Namespaces of files may change, and all that decides about their Pods. A
// namespace is enough if all of them are in it.
func readPods(ctx context.Context, o *diffOptions, hub client.Client, given, state *explain.State) (unread, err error) {
	if !o.effects.decidesPods(given) {
		return nil, nil
	}
	change := &given.Pods
	namespaces := namesOf(change.Namespaces)
	for _, policy := range change.Policies {
		namespaces = append(namespaces, policy.Namespace)
	}
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	var objects *pods.Objects
	switch {
	case o.workloads != nil && len(namespaces) == 1:
		objects, unread = hubstate.SomePodsFromCluster(ctx, hub, namespaces[0], o.workloads)
	case len(change.ClusterPolicies)+len(change.Classes)+len(change.Tenants) > 0 || len(namespaces) != 1:
		objects, unread = hubstate.AllPodsFromCluster(ctx, hub, "")
	default:
		objects, unread = hubstate.AllPodsFromCluster(ctx, hub, namespaces[0])
	}
	if objects == nil {
		return nil, unread
	}
	state.Pods = *objects
	return unread, nil
}

// comparePods compares the workloads of a cluster as they are admitted before and after the changes.
func comparePods(o *diffOptions, c *comparison, differences *explain.Differences) error {
	if !o.effects.decidesPods(c.given) {
		return nil
	}
	of, err := pods.Diff(&c.hub.Pods, &c.after.Pods)
	of.Objects = slices.Concat(
		applyResults(c.applied, func(kind *explain.Kind) bool { return kind.GroupVersionKind == namespaceKind }),
		applyResults(c.applied, func(kind *explain.Kind) bool { return kind.Admit != nil }))
	differences.Pods = &of
	return err
}

// limitPods leaves out what the namespace does not show, and adds notes on workloads that are left out.
func limitPods(_ *shownObjects, differences *explain.Differences, question *endpoint.Question) {
	if differences.Pods != nil {
		access.LimitPodDifferences(differences.Pods)
		noteWorkloads(differences.Pods, question)
	}
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
