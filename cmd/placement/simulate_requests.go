// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/requests"
)

// readAddedRequests reads what decides about ClusterRequests from the hub.
func readAddedRequests(ctx context.Context, _ *simulateOptions, hub client.Client) (state *explain.State, unread, err error) {
	objects, err := hubstate.RequestsFromCluster(ctx, hub)
	if err != nil {
		return nil, nil, err
	}
	return &explain.State{ClusterRequests: *objects}, nil, nil
}

// simulateRequests reports the requests of a namespace, or of all if it is empty, that get another result, and how many Clusters all need.
func simulateRequests(a *addition, whatIf *explain.WhatIf, namespace string) (incomplete, err error) {
	after, _, err := a.hub.With(a.given.Each(explain.OfRequests))
	if err != nil {
		return nil, err
	}
	difference := requests.Compare(&a.hub.ClusterRequests, &after.ClusterRequests, whatIf.Now)
	difference.Requests = slices.DeleteFunc(difference.Requests, func(d requests.RequestDifference) bool {
		return namespace != "" && d.Namespace != namespace
	})
	whatIf.Requests = difference
	whatIf.Changes = append(whatIf.Changes, describeAdded(a.given.Names(explain.OfRequests)))
	return nil, nil
}

// reportRequests explains the ClusterRequests of files.
func reportRequests(o *simulateOptions, in *simulated, wanted wantedObjects, reports *explain.Reports) error {
	if len(wanted.names) == 0 && !o.live() {
		objects := in.state.ClusterRequests
		objects.Options = o.requestOptions
		reports.Requests = requests.NewReports(&objects, o.namespace, reports.Now)
	}
	return nil
}
