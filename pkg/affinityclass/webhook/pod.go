// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
)

// podHandler verifies Pods that are created: docs/spec/affinity-class.md 1.4.
type podHandler struct{ *readers }

// pod is what the handler reads of a Pod.
type pod struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		NodeSelector map[string]string `json:"nodeSelector"`
	} `json:"spec"`
}

func (h *podHandler) review(ctx context.Context, request admission.Request) admission.Response {
	if request.Kind.Group != "" || request.Kind.Kind != "Pod" || request.SubResource != "" {
		return webhook.BadRequest(fmt.Errorf("%s reviews Pods, and got a %s: correct the rules of the webhook", PodPath, request.Kind.String()))
	}
	if request.Operation != admissionv1.Create { // An update of a Pod that is older than its class must not fail.
		return admission.Allowed("")
	}
	var created pod
	if err := json.Unmarshal(request.Object.Raw, &created); err != nil {
		return webhook.BadRequest(fmt.Errorf("Pod %s/%s cannot be read: %w", request.Namespace, request.Name, err)) //nolint:staticcheck // A kind.
	}

	object := objectOf(schema.GroupKind{Kind: "Pod"}, &created.Metadata)
	object.Namespace = request.Namespace // The owners of a Pod are in its namespace.
	walk := h.owners.newWalk()
	verdict := affinityclass.CheckPod(object, created.Spec.NodeSelector, h.lookup(ctx, walk), h.Classes(ctx))
	walk.keep(verdict.Through)
	return verdictResponse(verdict)
}

func verdictResponse(verdict affinityclass.Verdict) admission.Response {
	var response admission.Response
	switch verdict.Status {
	case 0:
		response = admission.Allowed("")
	case http.StatusForbidden:
		response = admission.Denied(verdict.Message)
	default:
		response = webhook.InternalError(errors.New(verdict.Message))
	}
	return response.WithWarnings(verdict.Warnings...)
}
