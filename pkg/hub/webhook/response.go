// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// BadRequest refuses a request that its sender must correct.
func BadRequest(err error) admission.Response {
	response := admission.Errored(http.StatusBadRequest, err)
	response.Result.Reason = metav1.StatusReasonBadRequest
	return response
}

// InternalError refuses a request about which something could not be read.
func InternalError(err error) admission.Response {
	response := admission.Errored(http.StatusInternalServerError, err)
	response.Result.Reason = metav1.StatusReasonInternalError
	return response
}
