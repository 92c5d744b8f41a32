// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/hub/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/podscheduling/webhook"
)

// component is the reporting controller of the Events.
const component = "podscheduling-webhook"

// Handlers returns the handlers of pod scheduling policies by path, and adds the writer of their Events to the manager.
func Handlers(mgr manager.Manager) (map[string]admission.Handler, error) {
	live, err := objects.NewLiveClient(mgr)
	if err != nil {
		return nil, err
	}
	source, err := webhook.NewSource(context.Background(), mgr.GetCache(), live)
	if err != nil {
		return nil, err
	}

	sink, err := eventwriter.NewSink(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to write events: %w", err)
	}
	events := everyReplica{eventwriter.New(sink, component, func() bool { return false })}
	if err := mgr.Add(events); err != nil {
		return nil, fmt.Errorf("adding the writer of events: %w", err)
	}
	return webhook.Handlers(source, events), nil
}

// everyReplica is an event writer that does not wait for the lease, because every replica answers reviews.
type everyReplica struct{ *eventwriter.Writer }

var _ manager.LeaderElectionRunnable = everyReplica{}

// NeedLeaderElection returns false.
func (everyReplica) NeedLeaderElection() bool { return false }
