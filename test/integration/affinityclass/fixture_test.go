// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"context"
	"fmt"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// tenants counts the Tenants of this process, so that each has a name of its own.
var tenants atomic.Int64

func newTenant(namespace, name, defaultClass string, allowed ...string) *appsv1alpha1.Tenant {
	return &appsv1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       appsv1alpha1.TenantSpec{DefaultAffinityClass: defaultClass, AllowedAffinityClasses: allowed},
	}
}

func newClass(name string, selector map[string]cozystackv1alpha1.NodeLabelValue) *cozystackv1alpha1.AffinityClass {
	return &cozystackv1alpha1.AffinityClass{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{cozystackv1alpha1.InUseFinalizer}},
		Spec:       cozystackv1alpha1.AffinityClassSpec{NodeSelector: selector},
	}
}

// acme creates a Tenant in tenant-root with the default dc1 and the classes dc1 and dc2, and returns when the hub has made its namespace with
// the label. They are called acme1, acme2 and so on, and are deleted after the spec.
func acme(ctx context.Context) (tenant *appsv1alpha1.Tenant, namespace string) {
	GinkgoHelper()
	tenant = newTenant(affinityclass.RootNamespace, fmt.Sprintf("acme%d", tenants.Add(1)), "dc1", "dc1", "dc2")
	namespace = affinityclass.WorkloadNamespace(tenant.Namespace, tenant.Name)

	DeferCleanup(deleteNow, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	Expect(suite.Client.Create(ctx, tenant)).To(Succeed())
	DeferCleanup(deleteNow, tenant)
	Eventually(func(g Gomega) {
		made := &corev1.Namespace{}
		g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: namespace}, made)).To(Succeed())
		g.Expect(made.Labels).To(HaveKeyWithValue(affinityclass.VerifyLabel, "true"))

		// Pods run as this account, which kube-controller-manager makes.
		account := &corev1.ServiceAccount{}
		g.Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "default"}, account)).To(Succeed())
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

	return tenant, namespace
}

func verifiedNamespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{affinityclass.VerifyLabel: "true"}}}
}

// deleteNow deletes an object without a grace period; it may be gone.
func deleteNow(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, object, client.GracePeriodSeconds(0)))).To(Succeed())
}

// newApp returns an application; the spec has the class unless it is empty.
func newApp(kind, namespace, name, class string) *unstructured.Unstructured {
	app := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(1)}}}
	app.SetGroupVersionKind(appsv1alpha1.GroupVersion.WithKind(kind))
	app.SetNamespace(namespace)
	app.SetName(name)
	if class != "" {
		setSpec(app, "affinityClass", class)
	}
	return app
}

// setSpec sets a field of the spec.
func setSpec(app *unstructured.Unstructured, field string, value any) {
	GinkgoHelper()
	Expect(unstructured.SetNestedField(app.Object, value, "spec", field)).To(Succeed())
}

// newRelease returns the HelmRelease of a Postgres, with the label of a class unless it is empty.
func newRelease(namespace, name, class string) *unstructured.Unstructured {
	release := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	release.SetGroupVersionKind(affinityclass.ReleaseKind)
	release.SetNamespace(namespace)
	release.SetName(name)
	labels := affinityclass.ReleaseLabels(appsv1alpha1.GroupName, "Postgres", name)
	if class != "" {
		labels[affinityclass.ClassLabel] = class
	}
	release.SetLabels(labels)
	return release
}

// refusedWith matches an error of the API server with this code and parts of its message.
func refusedWith(code int, parts ...string) OmegaMatcher {
	matchers := []OmegaMatcher{WithTransform(func(err error) int {
		if status, ok := err.(apierrors.APIStatus); ok {
			return int(status.Status().Code)
		}
		return 0
	}, Equal(code))}
	for _, part := range parts {
		matchers = append(matchers, MatchError(ContainSubstring(part)))
	}
	return And(matchers...)
}
