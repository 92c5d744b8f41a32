// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// validator denies invalid policies: docs/spec/pod-scheduling-policy.md 2.1.7.
type validator struct{}

// Handle reviews one policy.
func (*validator) Handle(_ context.Context, request admission.Request) admission.Response {
	if request.UID == "" {
		return noReview()
	}
	response, err := validate(request)
	if err != nil {
		response = webhook.BadRequest(err)
	}
	metrics.ObservePodSchedulingReview(response.Allowed, false, err != nil)
	return response
}

func validate(request admission.Request) (admission.Response, error) {
	var object client.Object
	switch request.Kind.Kind {
	case "ClusterPodSchedulingPolicy":
		object = &kupidv1alpha1.ClusterPodSchedulingPolicy{}
	case "PodSchedulingPolicy":
		object = &kupidv1alpha1.PodSchedulingPolicy{}
	default:
		return admission.Response{}, fmt.Errorf(
			"kind %q is no pod scheduling policy: remove it from the rules of the ValidatingWebhookConfiguration", request.Kind.Kind)
	}

	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		return admission.Response{}, fmt.Errorf("%s %s cannot be read: %w; correct the field", request.Kind.Kind, request.Name, err)
	}
	if object.GetDeletionTimestamp() != nil { // Finalizers of a policy that became invalid must go.
		return admission.Allowed("the policy is being deleted"), nil
	}
	policy := compile(object)
	if len(policy.Errors) > 0 {
		return denied(policy.Errors), nil
	}

	response := admission.Allowed("")
	response.Warnings = bounded(policy.Warnings)
	return response, nil
}

// denied refuses a policy with all its errors: the message has them aggregated, and each is a cause.
func denied(errs field.ErrorList) admission.Response {
	response := admission.Denied(errs.ToAggregate().Error())
	response.Result.Details = &metav1.StatusDetails{}
	for _, err := range errs {
		response.Result.Details.Causes = append(response.Result.Details.Causes,
			metav1.StatusCause{Type: metav1.CauseType(err.Type), Message: err.ErrorBody(), Field: err.Field})
	}
	return response
}
