// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

// appRequest returns the review of the Postgres main-db; old is nil if it is created.
func appRequest(t *testing.T, namespace string, old, spec map[string]any) admission.Request {
	t.Helper()
	app := func(spec map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "apps.cozystack.io/v1alpha1", "kind": "Postgres", "metadata": map[string]any{"name": "main-db", "namespace": namespace},
			"spec": spec,
		}
	}

	kind := metav1.GroupVersionKind{Group: appsv1alpha1.GroupName, Version: "v1alpha1", Kind: "Postgres"}
	if old == nil {
		return request(t, admissionv1.Create, kind, namespace, nil, app(spec))
	}
	return request(t, admissionv1.Update, kind, namespace, app(old), app(spec))
}

func TestApplications(t *testing.T) {
	spec := func(class string, replicas int) map[string]any {
		spec := map[string]any{"replicas": replicas}
		if class != "" {
			spec["affinityClass"] = class
		}
		return spec
	}
	dying := func(w *world) { w.cached[0] = deleted(class("dc1")) }
	for _, tc := range []struct {
		reason  string
		change  func(*world)
		request admission.Request
		refusal string
	}{
		{reason: "affinity-class A1: a class that is allowed", request: appRequest(t, "tenant-acme", nil, spec("dc1", 1))},
		{reason: "affinity-class A2: the default", request: appRequest(t, "tenant-acme", nil, spec("", 1))},
		{reason: "affinity-class A3: a class that is not allowed", request: appRequest(t, "tenant-acme", nil, spec("gpu", 1)),
			refusal: `Postgres.apps.cozystack.io "main-db" is invalid: spec.affinityClass: Invalid value: "gpu": ` +
				`AffinityClass "gpu" is not allowed in tenant namespace "tenant-acme" (allowed: dc1, dc2)`},
		{reason: "affinity-class A4: a class that there is not", request: appRequest(t, "tenant-acme", nil, spec("nosuch", 1)),
			refusal: `AffinityClass "nosuch" not found`},
		{reason: "affinity-class A4: a text that no class is called", request: appRequest(t, "tenant-acme", nil, spec("../x", 1)),
			refusal: `AffinityClass "../x" not found`},
		{reason: "affinity-class A16: a class that only the API server has yet", request: appRequest(t, "apps", nil, spec("new", 1)),
			change: func(w *world) { w.live = []client.Object{class("new")} }},
		{reason: "affinity-class A25: a reserved key", refusal: `values key "_scheduling" is reserved (keys starting with '_' are not allowed)`,
			request: appRequest(t, "tenant-acme", nil, map[string]any{"_scheduling": map[string]any{}})},
		{reason: "affinity-class A26: another spec is checked again", refusal: "is not allowed",
			request: appRequest(t, "tenant-acme", spec("gpu", 1), spec("gpu", 2))},
		{reason: "affinity-class A26: an edit of labels is not", request: appRequest(t, "tenant-acme", spec("gpu", 1), spec("gpu", 1))},
		{reason: "affinity-class 1.3: outside of Tenants", request: appRequest(t, "apps", nil, spec("gpu", 1))},
		{reason: "affinity-class A42: the namespace of the hub", request: appRequest(t, hub, nil, spec("dc1", 1)),
			refusal: `AffinityClass is not supported in system namespace "` + hub + `"`},
		{reason: "affinity-class A42: a namespace with the label", request: appRequest(t, "platform", nil, spec("dc1", 1)),
			change: func(w *world) {
				w.live = []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
					Name: "platform", Labels: map[string]string{affinityclass.SystemLabel: "true"},
				}}}
			}, refusal: "system namespace"},
		{reason: "affinity-class A37: a class that is being deleted", change: dying, request: appRequest(t, "tenant-acme", nil, spec("dc1", 1)),
			refusal: `AffinityClass "dc1" is being deleted`},
		{reason: "affinity-class A37: as the default", change: dying, request: appRequest(t, "tenant-acme", nil, spec("", 1)),
			refusal: `AffinityClass "dc1" is being deleted`},
		{reason: "affinity-class A37: an application that has it already keeps it", change: dying,
			request: appRequest(t, "tenant-acme", spec("dc1", 1), spec("dc1", 2))},
		{reason: "affinity-class A37: and one that has it as its default, by the record of its HelmRelease",
			change: func(w *world) {
				dying(w)
				w.cached[len(w.cached)-1].SetAnnotations(map[string]string{affinityclass.ResolvedAnnotation: "dc1@0123456789abcdef"})
			}, request: appRequest(t, "tenant-acme", spec("", 1), spec("", 2))},
		{reason: "affinity-class A37: one without a record is refused", change: dying, request: appRequest(t, "tenant-acme", spec("", 1),
			spec("", 2)), refusal: "is being deleted"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t)
			if tc.change != nil {
				tc.change(w)
			}
			expectReview(t, w.handle(t, ApplicationPath, tc.request), tc.refusal)
		})
	}
}

func TestReviewsOfOtherKinds(t *testing.T) {
	w := newWorld(t)
	kind := metav1.GroupVersionKind{Group: appsv1alpha1.GroupName, Version: "v1alpha1", Kind: "Tenant"}
	expectResponse(t, w.handle(t, ApplicationPath, request(t, admissionv1.Create, kind, "a", nil, 1)), 400,
		"/validate-application reviews applications in namespaces, and got a apps.cozystack.io/v1alpha1, Kind=Tenant: "+
			"correct the rules of the webhook")
	kind.Kind = "Postgres"
	expectResponse(t, w.handle(t, TenantPath, request(t, admissionv1.Create, kind, "a", nil, 1)), 400,
		"/validate-tenant reviews Tenants, and got a apps.cozystack.io/v1alpha1, Kind=Postgres: correct the rules of the webhook")
}
