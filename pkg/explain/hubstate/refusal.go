// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// refusal is the error of a user who lacks rights. It is forbidden, as apierrors.IsForbidden reports.
type refusal struct {
	// what says what the rights are for, and advice what to do.
	what, advice string
	refused      []error
}

// Error names the resources in one line, and has the words of the API server if there is one.
func (r *refusal) Error() string {
	if len(r.refused) == 1 {
		return r.what + ": " + r.refused[0].Error() + "\n" + r.advice
	}
	var resources []string
	for _, err := range r.refused {
		if resource := resourceIn(err); !slices.Contains(resources, resource) {
			resources = append(resources, resource)
		}
	}
	return r.what + ": it may not list or get " + strings.Join(resources, ", ") + "\n" + r.advice
}

// Unwrap returns the errors of the API server.
func (r *refusal) Unwrap() []error { return r.refused }

// inNamespaceOf begins the namespace in a refusal by RBAC, and cluster scope has none.
const inNamespaceOf = " in the namespace "

// resourceIn returns the resource that an error of the API server is about, with its namespace, or its text.
func resourceIn(err error) string {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Details == nil {
		return err.Error()
	}
	resource := schema.GroupResource{Group: status.Status().Details.Group, Resource: status.Status().Details.Kind}.String()
	if _, namespace, namespaced := strings.Cut(status.Status().Message, inNamespaceOf); namespaced {
		resource += inNamespaceOf + namespace
	}
	return resource
}
