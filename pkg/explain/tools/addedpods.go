// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// namesShown bounds the names of added objects in the title of a report.
const namesShown = 5

// ReadHub reads the objects that Pods depend on from the hub.
func (Pods) ReadHub(ctx context.Context, hub client.Client, namespace string) (state *explain.State, unread, err error) {
	objects, unread := hubstate.AllPodsFromCluster(ctx, hub, namespace)
	if objects == nil {
		return nil, nil, unread
	}
	return &explain.State{Pods: *objects}, unread, nil
}

// Simulate reports where the Pods of added workloads may run, and what the other added objects change for the workloads of the hub.
func (Pods) Simulate(a *Addition, whatIf *explain.WhatIf, _ string) (incomplete, err error) {
	after, applied, err := a.Hub.With(a.Given.Each(explain.OfPods))
	if err != nil {
		return nil, err
	}
	reports, err := pods.NewFileReports(&after.Pods, a.Given.Pods.Workloads)
	if err != nil {
		return nil, err
	}
	differences, err := pods.Diff(&a.Hub.Pods, &after.Pods)
	if err != nil {
		return nil, err
	}
	// Drift is there without the change, and a workload of the files has a report.
	differences.Workloads = slices.DeleteFunc(differences.Workloads, func(d pods.Difference) bool {
		return d.Anyway || slices.ContainsFunc(reports, func(r pods.Report) bool {
			return r.Kind == d.Kind && r.Namespace == d.Namespace && r.Name == d.Name
		})
	})
	differences.Objects = applyResults(applied, isAdmitted)
	for _, namespace := range a.Given.Pods.Namespaces {
		if federated.SaysDelivery(namespace) {
			differences.Notes = append(differences.Notes, fmt.Sprintf("what Namespace %s changes for objects that are delivered is not in the "+
				"report; placement diff -f has it", namespace.Name))
		}
	}
	whatIf.Workloads, whatIf.Pods = reports, &differences
	whatIf.Changes = append(whatIf.Changes, describeAdded(a.Given.Names(explain.OfPods)))
	return errors.Join(differences.Refused(), a.Unread), nil
}

// describeAdded returns "add Deployment team-a/web, Node n1", or the first five and how many more.
func describeAdded(names []string) string {
	if len(names) > namesShown {
		names = append(names[:namesShown], fmt.Sprintf("and %d more", len(names)-namesShown))
	}
	return "add " + strings.Join(names, ", ")
}

// WithoutPlacements returns an empty what-if for additions that no Placement depends on.
func WithoutPlacements(now metav1.Time) explain.WhatIf {
	return explain.WhatIf{
		Now: now, Changes: []string{}, Placements: []explain.Difference{}, Stalled: []explain.StalledPlacement{},
	}
}
