// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
)

// Names of the controller, as --controllers takes it, and of its ValidatingWebhookConfiguration.
const (
	Controller    = "federation/webhook"
	Configuration = "open-cluster-management-placement-hub-federation"
)

// Path is the path of the handler.
const Path = "/warn-federation"

const (
	// evaluationTimeout is how long a review waits for its turn and reads.
	evaluationTimeout = time.Second
	// maxEvaluating is how many reviews evaluate clusters at the same time.
	maxEvaluating = 4
)

// errBusy says that a review has no turn.
var errBusy = errors.New("too many objects are reviewed at the same time")

// Handlers returns the handler by its path. It is safe for concurrent use.
func Handlers(hub Hub) map[string]admission.Handler {
	return map[string]admission.Handler{Path: &handler{hub: hub, turns: make(chan struct{}, maxEvaluating)}}
}

// handler reviews federated objects, and Namespaces with their defaults.
type handler struct {
	hub Hub
	// turns has an element for each review that evaluates clusters.
	turns chan struct{}
}

// Handle admits an object, with warnings about its annotations.
func (h *handler) Handle(ctx context.Context, request admission.Request) admission.Response {
	object := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		return admission.Allowed(fmt.Sprintf("the annotations cannot be read: %v", err))
	}
	if object.DeletionTimestamp != nil { // Finalizers are removed by updates.
		return admission.Allowed("the object is being deleted")
	}
	warnings, message := warningsOf(request.Kind.Kind, object.Annotations), ""

	about, err := h.aboutClusters(ctx, &request)
	if err != nil {
		message = fmt.Sprintf("the clusters cannot be evaluated: %v", err)
		klog.FromContext(ctx).V(2).Info("Cannot warn of what an object means for its clusters", "kind", request.Kind.Kind,
			"object", klog.KRef(request.Namespace, request.Name), "err", err)
	}
	warnings = limited(append(about, warnings...))
	for i := range warnings {
		warnings[i] = webhook.Warning(warnings[i])
	}
	return admission.Allowed(message).WithWarnings(warnings...)
}

// aboutClusters returns what the annotations mean for the clusters of the object.
func (h *handler) aboutClusters(ctx context.Context, request *admission.Request) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, evaluationTimeout)
	defer cancel()
	select {
	case h.turns <- struct{}{}:
		defer func() { <-h.turns }()
	case <-ctx.Done():
		return nil, errBusy
	}

	of, err := h.evaluate(ctx, request)
	if err != nil {
		return nil, err
	}
	return h.consequences(of)
}

// limited counts the last warnings if there are more than an API server passes on.
func limited(warnings []string) []string {
	more := len(warnings) - maxWarnings - maxConsequences
	if more <= 0 {
		return warnings
	}
	return append(warnings[:maxWarnings+maxConsequences-1], fmt.Sprintf("federation: %d more warnings", more+1))
}
