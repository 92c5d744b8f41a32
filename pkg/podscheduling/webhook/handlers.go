// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"errors"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
)

// Controller is the name of the controller that serves the handlers, and Configuration that of its MutatingWebhookConfiguration and of its
// ValidatingWebhookConfiguration.
const (
	Controller    = "podscheduling/webhook"
	Configuration = "open-cluster-management-placement-hub-podscheduling"
)

// The paths of the webhooks.
const (
	MutatePath   = "/mutate-podscheduling"
	ValidatePath = "/validate-podschedulingpolicy"
)

// Handlers returns the handlers by their paths. The recorder takes the Events on policies; it must not block. The handlers are safe for
// concurrent use.
func Handlers(source *Source, recorder events.EventRecorder) map[string]admission.Handler {
	return map[string]admission.Handler{
		MutatePath:   &mutator{source: source, reporter: newReporter(recorder)},
		ValidatePath: &validator{},
	}
}

// noReview refuses a body that is no AdmissionReview with a request: those of API servers always have a UID.
func noReview() admission.Response {
	return webhook.BadRequest(errors.New("the body is no AdmissionReview of admission.k8s.io/v1 with a request that has a uid"))
}
