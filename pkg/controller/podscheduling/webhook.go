package podscheduling

import (
	"context"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/controller/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/controller/webhookconfig"
	"github.com/placement-hub/placement-hub/pkg/lenient"
	"github.com/placement-hub/placement-hub/pkg/webhook/podscheduling"
)

// component is the reporting controller of the Events.
const component = "podscheduling-webhook"

// Webhook returns the webhooks of pod scheduling policies, and adds the writer of their Events to the manager.
func Webhook(mgr manager.Manager, failure admissionregistrationv1.FailurePolicyType) (webhookconfig.Webhook, error) {
	live, err := lenient.NewClient(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return webhookconfig.Webhook{}, fmt.Errorf("preparing to read from the API server: %w", err)
	}

	source, err := podscheduling.NewSource(context.Background(), mgr.GetCache(), live)
	if err != nil {
		return webhookconfig.Webhook{}, err
	}

	sink, err := eventwriter.NewSink(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return webhookconfig.Webhook{}, fmt.Errorf("preparing to write events: %w", err)
	}

	events := everyReplica{eventwriter.New(sink, component, func() bool { return false })}
	if err := mgr.Add(events); err != nil {
		return webhookconfig.Webhook{}, fmt.Errorf("adding the writer of events: %w", err)
	}

	return webhookconfig.Webhook{
		Controller: podscheduling.Controller, Mutating: podscheduling.Configuration, Validating: podscheduling.Configuration,
		Manifests: "manifests/podscheduling", Handlers: podscheduling.Handlers(source, events), FailurePolicy: &failure,
	}, nil
}

// everyReplica is an event writer that does not wait for the lease, because every replica answers reviews.
type everyReplica struct{ *eventwriter.Writer }

var _ manager.LeaderElectionRunnable = everyReplica{}

// NeedLeaderElection returns false.
func (everyReplica) NeedLeaderElection() bool { return false }
