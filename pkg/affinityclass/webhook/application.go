// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
)

// applicationHandler reviews objects of the group apps.cozystack.io that are no Tenants: docs/spec/affinity-class.md 1.3.
type applicationHandler struct {
	*readers

	// namespace is that of the hub.
	namespace string
}

// application is what the handler reads of an application.
type application struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec map[string]any `json:"spec"`
}

func (h *applicationHandler) review(ctx context.Context, request admission.Request) admission.Response {
	if request.Kind.Group != appsv1alpha1.GroupName || request.Kind.Kind == tenantKind || request.SubResource != "" || request.Namespace == "" {
		return webhook.BadRequest(fmt.Errorf("%s reviews applications in namespaces, and got a %s: correct the rules of the webhook", ApplicationPath,
			request.Kind.String()))
	}
	if request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}

	created := application{}
	if err := json.Unmarshal(request.Object.Raw, &created); err != nil {
		return webhook.BadRequest(fmt.Errorf("%s %s/%s cannot be read: %w", request.Kind.Kind, request.Namespace, request.Name, err))
	}
	change := affinityclass.Change{Update: request.Operation == admissionv1.Update, New: created.Spec}
	if change.Update {
		stored := application{}
		if err := json.Unmarshal(request.OldObject.Raw, &stored); err != nil {
			return webhook.BadRequest(
				fmt.Errorf("%s %s/%s, as it is stored, cannot be read: %w", request.Kind.Kind, request.Namespace, request.Name, err))
		}
		change.Old = stored.Spec
		if reflect.DeepEqual(change.Old, change.New) {
			return admission.Allowed("")
		}
	}

	review, err := h.check(ctx, request, created.Metadata.Name, change)
	return respond(request, created.Metadata.Name, review, err)
}

// check reads what decides about the change of an application.
func (h *applicationHandler) check(
	ctx context.Context, request admission.Request, name string, change affinityclass.Change,
) (affinityclass.Review, error) {
	tree, err := h.TreeWithOwner(ctx, request.Namespace)
	if err != nil {
		return affinityclass.Review{}, err
	}
	found, err := h.namespaceOf(ctx, request.Namespace)
	if err != nil {
		return affinityclass.Review{}, err
	}

	if change.Update {
		if change.Current, err = h.resolvedClass(ctx, request.Kind.Group, request.Kind.Kind, request.Namespace, name); err != nil {
			return affinityclass.Review{}, err
		}
	}
	namespace := affinityclass.Namespace{
		Name: request.Namespace, System: tree.SystemNamespace(request.Namespace, found.Labels, h.namespace),
		Recorded: found.Annotations[affinityclass.AllowedAnnotation],
	}
	return affinityclass.CheckApplication(tree, h.Classes(ctx), namespace, change)
}
