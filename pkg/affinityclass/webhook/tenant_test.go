// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/affinityclass/reader"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

func tenantRequest(t *testing.T, old, tenant *appsv1alpha1.Tenant) admission.Request {
	t.Helper()
	kind := metav1.GroupVersionKind{Group: appsv1alpha1.GroupName, Version: "v1alpha1", Kind: "Tenant"}
	if old == nil {
		return request(t, admissionv1.Create, kind, tenant.Namespace, nil, tenant)
	}
	return request(t, admissionv1.Update, kind, tenant.Namespace, old, tenant)
}

func TestTenants(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		live     []client.Object
		request  admission.Request
		refusal  string // a part of the message; "" if the Tenant is accepted
		warnings int
	}{
		{reason: "affinity-class A6: a child without fields", request: tenantRequest(t, nil, tenant("tenant-acme", "eu", ""))},
		{reason: "affinity-class A5: a default that is not allowed", request: tenantRequest(t, nil, tenant("tenant-root", "beta", "gpu", "dc1")),
			refusal: `Tenant.apps.cozystack.io "beta" is invalid: spec.defaultAffinityClass: Invalid value: "gpu"`},
		{reason: "affinity-class A8: a class that the parent does not have", refusal: `spec.allowedAffinityClasses[1]: Invalid value: "gpu"`,
			request: tenantRequest(t, nil, tenant("tenant-acme", "eu", "", "dc1", "gpu"))},
		{reason: "affinity-class A31: a dash", request: tenantRequest(t, nil, tenant("tenant-root", "acme-eu", "")), refusal: `a dash ("-")`},
		{reason: "affinity-class 1.1: a name without a class", request: tenantRequest(t, nil, tenant("tenant-root", "beta", "", "later")),
			warnings: 1},
		{reason: "affinity-class 1.2: an update of other fields", request: tenantRequest(t, tenant("tenant-root", "acme", "gone", "gone"),
			tenant("tenant-root", "acme", "gone", "gone"))},
		{reason: "affinity-class 1.2: an update of the list is checked", request: tenantRequest(t, tenant("tenant-root", "acme", "dc1"),
			tenant("tenant-root", "acme", "dc1", "dc2")), refusal: "spec.defaultAffinityClass"},
		{reason: "affinity-class 1.1: a namespace of no Tenant", request: tenantRequest(t, nil, tenant("tenant-beta", "eu", "")),
			refusal: "metadata.namespace"},
		{reason: "affinity-class 1.2: a parent that only the API server has yet", live: []client.Object{tenant("tenant-root", "beta", "", "dc2")},
			request: tenantRequest(t, nil, tenant("tenant-beta", "eu", "dc1")), refusal: "(allowed: dc2)"},
		{reason: "affinity-class 1.2: and one above it", request: tenantRequest(t, nil, tenant("tenant-beta-eu", "paris", "dc1")),
			live:    []client.Object{tenant("tenant-root", "beta", "", "dc2"), tenant("tenant-beta", "eu", "")},
			refusal: "(allowed: dc2)"},
		{reason: "affinity-class A41: the Tenant root that only the API server has yet", refusal: "(allowed: gpu)",
			live: []client.Object{tenant("tenant-root", "root", "", "gpu")}, request: tenantRequest(t, nil, tenant("tenant-root", "beta", "dc1"))},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t)
			w.live = tc.live
			expectReview(t, w.handle(t, TenantPath, tc.request), tc.refusal)
		})
	}
}

// expectReview expects a refusal with a text, or, without one, that the object is accepted.
func expectReview(t *testing.T, response admission.Response, refusal string) {
	t.Helper()
	switch {
	case refusal == "" && !response.Allowed:
		t.Errorf("refused: %s", response.Result.Message)
	case refusal != "" && (response.Allowed || response.Result.Code != 422 || response.Result.Reason != metav1.StatusReasonInvalid ||
		!strings.Contains(response.Result.Message, refusal)):
		t.Errorf("allowed %t, %+v, want the code 422 and %s", response.Allowed, response.Result, refusal)
	}
}

func TestTenantsThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	known := w.readers(t)
	broken := interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("no list")
		},
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("no read")
		},
	}

	store, isClient := known.Cached.(client.WithWatch)
	if !isClient {
		t.Fatalf("the cache is a %T", known.Cached)
	}

	for want, tenants := range map[string]*reader.Reader{
		"listing Tenants: no list":                 reader.New(interceptor.NewClient(store, broken), known.Live),
		"reading Tenant tenant-root/beta: no read": reader.New(store, interceptor.NewClient(store, broken)),
	} {
		known.Reader = tenants
		response := handlers(known, hub)[TenantPath].Handle(t.Context(), tenantRequest(t, nil, tenant("tenant-beta", "eu", "")))
		expectResponse(t, response, 500, want)
	}
}
