package federation

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/webhook"
)

// Names of the controller, as --controllers takes it, and of its ValidatingWebhookConfiguration.
const (
	Controller    = "federation/webhook"
	Configuration = "open-cluster-management-placement-hub-federation"
)

// Path is the path of the handler.
const Path = "/warn-federation"

// Handlers returns the handler by its path. It is safe for concurrent use.
func Handlers() map[string]admission.Handler {
	return map[string]admission.Handler{Path: admission.HandlerFunc(review)}
}

// review admits an object, with warnings about its annotations.
func review(_ context.Context, request admission.Request) admission.Response {
	object := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		return admission.Allowed(fmt.Sprintf("the annotations cannot be read: %v", err))
	}

	if object.DeletionTimestamp != nil { // Finalizers are removed by updates.
		return admission.Allowed("the object is being deleted")
	}

	warnings := warningsOf(request.Kind.Kind, object.Annotations)
	for i := range warnings {
		warnings[i] = webhook.Warning(warnings[i])
	}

	return admission.Allowed("").WithWarnings(warnings...)
}
