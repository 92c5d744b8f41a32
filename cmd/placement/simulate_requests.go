// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/requests"
)

// requestAdditions are added objects that decide what ClusterRequests get.
type requestAdditions struct {
	// given are the objects of the files, and hub those that they are added to.
	given, hub *explain.State
}

// readRequestAdditions reads what decides about ClusterRequests from the hub; nil if nothing of that kind is added.
func (o *simulateOptions) readRequestAdditions(ctx context.Context, given, state *explain.State) (*requestAdditions, error) {
	if !given.Has(explain.OfRequests) {
		return nil, nil
	}
	added := &requestAdditions{given: given, hub: state}
	if o.live() {
		hub, _, _, err := o.connectHub()
		if err != nil {
			return nil, err
		}
		objects, err := hubstate.RequestsFromCluster(ctx, hub)
		if err != nil {
			return nil, err
		}
		added.hub = &explain.State{ClusterRequests: *objects}
	}
	added.hub.ClusterRequests.Options = o.requestOptions
	return added, nil
}

// simulate reports the requests of a namespace, or of all if it is empty, that get another result, and how many Clusters all need.
func (a *requestAdditions) simulate(whatIf *explain.WhatIf, namespace string) error {
	after, _, err := a.hub.With(a.given.Each(explain.OfRequests))
	if err != nil {
		return err
	}
	difference := requests.Compare(&a.hub.ClusterRequests, &after.ClusterRequests, whatIf.Now)
	difference.Requests = slices.DeleteFunc(difference.Requests, func(d requests.RequestDifference) bool {
		return namespace != "" && d.Namespace != namespace
	})
	whatIf.Requests = difference
	whatIf.Changes = append(whatIf.Changes, describeAdded(a.given.Names(explain.OfRequests)))
	return nil
}

// reportRequests explains the ClusterRequests of files.
func (o *simulateOptions) reportRequests(state *explain.State, now metav1.Time) []requests.Report {
	if o.live() {
		return nil
	}
	objects := state.ClusterRequests
	objects.Options = o.requestOptions
	return requests.NewReports(&objects, o.namespace, now)
}
