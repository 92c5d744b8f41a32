package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/requests"
)

// readRequests adds to a State what decides about ClusterRequests on a hub, if the files change any of it.
func (o *diffOptions) readRequests(ctx context.Context, hub client.Reader, given, state *explain.State) error {
	if given.ClusterRequests.Empty() {
		return nil
	}
	objects, err := hubstate.RequestsFromCluster(ctx, hub)
	if err != nil {
		return err
	}
	state.ClusterRequests = *objects
	state.ClusterRequests.Options = o.requestOptions
	return nil
}

// diffRequests compares what ClusterRequests get before and after the changes.
func diffRequests(hub *requests.Objects, changes *statefile.ChangeReader, now time.Time) (*requests.Difference, error) {
	after, err := changes.ApplyRequestsTo(hub)
	if err != nil {
		return nil, err
	}
	return requests.Compare(hub, after, metav1.NewTime(now)), nil
}
