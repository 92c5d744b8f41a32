// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/requests"
)

// requestTool is the tool of ClusterRequests.
var requestTool = tool{
	family:   familyRequests,
	isType:   func(_ *explainOptions, text string) bool { return isClusterRequest(text) },
	complete: (*explainOptions).completeRequests,
	explain:  runRequests,
	answer:   answerRequests,
	changed:  func(_ *diffOptions, given *explain.State) bool { return given.Has(explain.OfRequests) },
	read:     readRequests, compare: compareRequests, limit: limitRequests,
	report: reportRequests,
	added:  explain.OfRequests, readAdded: readAddedRequests, simulate: simulateRequests,
}

// readRequests adds to a State what decides about ClusterRequests on a hub.
func readRequests(ctx context.Context, o *diffOptions, hub client.Client, given, state *explain.State) (unread, err error) {
	if !given.Has(explain.OfRequests) {
		return nil, nil
	}
	objects, err := hubstate.RequestsFromCluster(ctx, hub)
	if err != nil {
		return nil, err
	}
	state.ClusterRequests = *objects
	state.ClusterRequests.Options = o.requestOptions
	return nil, nil
}

// compareRequests compares what ClusterRequests get.
func compareRequests(_ *diffOptions, c *comparison, differences *explain.Differences) error {
	if c.given.Has(explain.OfRequests) {
		differences.Requests = requests.Compare(&c.hub.ClusterRequests, &c.after.ClusterRequests, differences.Now)
	}
	return nil
}

// limitRequests leaves out the ClusterRequests that may not be shown.
func limitRequests(s *shownObjects, differences *explain.Differences, _ *endpoint.Question) {
	if differences.Requests != nil {
		access.LimitRequestDifference(differences.Requests, func(name types.NamespacedName) bool {
			return s.has(keyOfObject(requestObject(name.Name), name.Namespace))
		})
	}
}
