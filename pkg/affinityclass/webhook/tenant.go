// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
)

const tenantKind = "Tenant"

// tenantHandler reviews Tenants: docs/spec/affinity-class.md 1.1 and 1.2.
type tenantHandler struct{ *readers }

func (h *tenantHandler) review(ctx context.Context, request admission.Request) admission.Response {
	if request.Kind.Group != appsv1alpha1.GroupName || request.Kind.Kind != tenantKind || request.SubResource != "" {
		return webhook.BadRequest(fmt.Errorf("%s reviews Tenants, and got a %s: correct the rules of the webhook", TenantPath, request.Kind.String()))
	}
	if request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	tenant := &appsv1alpha1.Tenant{}
	if err := json.Unmarshal(request.Object.Raw, tenant); err != nil {
		return webhook.BadRequest(fmt.Errorf("Tenant %s/%s cannot be read: %w", request.Namespace, request.Name, err)) //nolint:staticcheck // A kind.
	}

	var before *appsv1alpha1.Tenant
	if request.Operation == admissionv1.Update {
		before = &appsv1alpha1.Tenant{}
		if err := json.Unmarshal(request.OldObject.Raw, before); err != nil {
			return webhook.BadRequest(fmt.Errorf("Tenant %s/%s, as it is stored, cannot be read: %w", //nolint:staticcheck // A kind.
				request.Namespace, request.Name, err))
		}
	}

	tree, err := h.TreeWithOwner(ctx, tenant.Namespace)
	if err != nil {
		return webhook.InternalError(err)
	}
	review, err := affinityclass.CheckTenant(tree, h.Classes(ctx), before, tenant)
	return respond(request, tenant.Name, review, err)
}
