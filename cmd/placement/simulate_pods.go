package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
)

// podAdditions are added objects that decide where Pods may run.
type podAdditions struct {
	// given are the objects of the files, and hub those that they are added to.
	given, hub *pods.Objects
	// unread says which objects of the hub the user may not read.
	unread error
}

// namesShown bounds the names of added objects in the title of a report.
const namesShown = 5

// readPodAdditions reads the objects that Pods depend on from the hub; nil if nothing of that kind is added.
func (o *simulateOptions) readPodAdditions(ctx context.Context, given, state *explain.State) (*podAdditions, error) {
	if given.Pods.Empty() {
		return nil, nil
	}
	added := &podAdditions{given: &given.Pods, hub: &state.Pods}
	if !o.live() {
		return added, nil
	}
	hub, _, _, err := o.connectHub()
	if err != nil {
		return nil, err
	}
	if added.hub, added.unread = hubstate.AllPodsFromCluster(ctx, hub, o.namespace); added.hub == nil {
		return nil, added.unread
	}
	return added, nil
}

// simulate reports where the Pods of added workloads may run, and what the other added objects change for the workloads of the hub.
func (a *podAdditions) simulate(whatIf *explain.WhatIf) error {
	after, applied := pods.Apply(a.hub, a.given)
	reports, err := explainGiven(after, a.given.Workloads)
	if err != nil {
		return err
	}
	differences, err := pods.Diff(a.hub, after)
	if err != nil {
		return err
	}
	// Drift is there without the change, and a workload of the files has a report.
	differences.Workloads = slices.DeleteFunc(differences.Workloads, func(d pods.Difference) bool {
		return d.Anyway || slices.ContainsFunc(reports, func(r pods.Report) bool {
			return r.Kind == d.Kind && r.Namespace == d.Namespace && r.Name == d.Name
		})
	})
	differences.Objects = append(differences.Objects, applied...)
	for _, namespace := range a.given.Namespaces {
		if saysDelivery(namespace) {
			differences.Notes = append(differences.Notes, fmt.Sprintf("what Namespace %s changes for objects that are delivered is not in the "+
				"report; placement diff -f has it", namespace.Name))
		}
	}
	whatIf.Workloads, whatIf.Pods = reports, &differences
	whatIf.Changes = append(whatIf.Changes, a.String())
	return errors.Join(refused(&differences), a.unread)
}

// String says what is added.
func (a *podAdditions) String() string {
	return describeAdded(a.given.Names())
}

// describeAdded returns "add Deployment team-a/web, Node n1", or the first five and how many more.
func describeAdded(names []string) string {
	if len(names) > namesShown {
		names = append(names[:namesShown], fmt.Sprintf("and %d more", len(names)-namesShown))
	}
	return "add " + strings.Join(names, ", ")
}

// explainGiven explains workloads of files. One with a UID exists already, and any other is to be created.
func explainGiven(objects *pods.Objects, workloads []*unstructured.Unstructured) ([]pods.Report, error) {
	evaluator := pods.NewEvaluator(objects)
	reports := make([]pods.Report, 0, len(workloads))
	for _, workload := range workloads {
		report, err := evaluator.Explain(workload, workload.GetUID() == "")
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}

// withoutPlacements returns an empty what-if for additions that no Placement depends on.
func withoutPlacements(now metav1.Time) explain.WhatIf {
	return explain.WhatIf{
		Now: now, Changes: []string{}, Placements: []explain.Difference{}, Stalled: []explain.StalledPlacement{},
	}
}

// workloadsIn returns the workloads of files that are reported: none if Placements are named.
func (o *simulateOptions) workloadsIn(state *explain.State, placements map[types.NamespacedName]bool) []*unstructured.Unstructured {
	if len(placements) > 0 || o.live() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(state.Pods.Workloads), func(object *unstructured.Unstructured) bool {
		return o.namespace != "" && object.GetNamespace() != o.namespace
	})
}
