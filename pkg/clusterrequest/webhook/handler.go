// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
)

// Names of the controller, as --controllers takes it, and of its MutatingWebhookConfiguration.
const (
	Controller    = "clusterrequest/webhook"
	Configuration = "open-cluster-management-placement-hub-accessrequests"
)

// Path is the path of the handler.
const Path = "/mutate-accessrequest"

// The field that the handler writes.
const (
	requesterField = "requester"
	requesterPath  = "/spec/" + requesterField
)

// Handlers returns the handler by its path. It is safe for concurrent use.
func Handlers() map[string]admission.Handler {
	return map[string]admission.Handler{Path: admission.HandlerFunc(review)}
}

// review admits an AccessRequest with the user as its requester, or with the former requester if the user leaves the rest of the spec as it
// is.
func review(_ context.Context, request admission.Request) admission.Response {
	spec, err := specOf(request.Object.Raw)
	if err != nil {
		return webhook.BadRequest(fmt.Errorf("AccessRequest %s cannot be read: %w; correct the field", request.Name, err))
	}
	if request.Operation == admissionv1.Create {
		return written(spec, requesterOf(request.UserInfo))
	}

	before, err := specOf(request.OldObject.Raw)
	if err != nil {
		return webhook.BadRequest(fmt.Errorf("AccessRequest %s, as it is stored, cannot be read: %w", request.Name, err))
	}
	if !equality.Semantic.DeepEqual(withoutRequester(spec), withoutRequester(before)) {
		return written(spec, requesterOf(request.UserInfo))
	}
	return restored(spec, before)
}

// specOf returns the spec of an AccessRequest in JSON, in which fields may be that Go does not know.
func specOf(raw []byte) (map[string]any, error) {
	var object struct {
		Spec map[string]any `json:"spec"`
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, fmt.Errorf("decode it: %w", err)
	}
	if object.Spec == nil {
		return nil, errors.New("spec is missing")
	}
	return object.Spec, nil
}

func withoutRequester(spec map[string]any) map[string]any {
	rest := maps.Clone(spec)
	delete(rest, requesterField)
	return rest
}

// requesterOf returns a user as the authentication of the API server knows them.
func requesterOf(user authenticationv1.UserInfo) openmcpv1alpha1.Requester {
	requester := openmcpv1alpha1.Requester{Username: user.Username, UID: user.UID, Groups: user.Groups}
	if len(user.Extra) > 0 {
		requester.Extra = map[string][]string{}
		for key, values := range user.Extra {
			requester.Extra[key] = values
		}
	}
	return requester
}

// written sets the requester.
func written(spec map[string]any, requester openmcpv1alpha1.Requester) admission.Response {
	operation := "add"
	if _, found := spec[requesterField]; found {
		operation = "replace"
	}
	return admission.Patched("", jsonpatch.NewOperation(operation, requesterPath, requester))
}

// restored puts the former requester back.
func restored(spec, before map[string]any) admission.Response {
	now, isSet := spec[requesterField]
	former, wasSet := before[requesterField]
	switch {
	case isSet == wasSet && equality.Semantic.DeepEqual(now, former):
		return admission.Allowed("")
	case !wasSet:
		return admission.Patched("", jsonpatch.NewOperation("remove", requesterPath, nil))
	case isSet:
		return admission.Patched("", jsonpatch.NewOperation("replace", requesterPath, former))
	default:
		return admission.Patched("", jsonpatch.NewOperation("add", requesterPath, former))
	}
}
