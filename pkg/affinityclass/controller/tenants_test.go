// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

func (h *hub) tenants() *tenantReconciler {
	return &tenantReconciler{h.state, queue.NewConflictBackoff[reconcile.Request]()}
}

func requestOf(object client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}
}

func secret(namespace, values string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: affinityclass.ValuesSecret},
		Data:       map[string][]byte{affinityclass.ValuesKey: []byte(values), "other": []byte("kept")},
	}
}

const effective = "_namespace:\n  defaultAffinityClass: \"dc1\"\n  allowedAffinityClasses: [\"dc1\",\"dc2\"]\n"

func TestSecretsOfTenants(t *testing.T) {
	terminating := namespace("tenant-acme")
	terminating.Finalizers = []string{"example.com/a"}
	for _, tc := range []struct {
		reason  string
		tenant  *appsv1alpha1.Tenant
		objects []client.Object
		writes  []string
		values  string
		// written is the reason of ValuesWritten.
		written string
	}{
		{reason: "affinity-class 1.1: no namespace", tenant: tenant("tenant-root", "beta", "dc1", "dc1", "dc2"),
			writes: []string{"create Namespace/tenant-beta", "create Secret/cozystack-values", "patch status Tenant/beta"}, values: effective,
			written: reasonWritten},
		{reason: "affinity-class 1.1: no Secret", tenant: tenant("tenant-root", "acme", "dc1", "dc1", "dc2"),
			writes: []string{"create Secret/cozystack-values", "patch status Tenant/acme"}, values: effective, written: reasonWritten},
		{reason: "affinity-class A38: only the two keys are written", tenant: tenant("tenant-root", "acme", "dc1", "dc1", "dc2"),
			objects: []client.Object{secret("tenant-acme", "_cluster: {a: b}\n")},
			writes:  []string{"patch Secret/cozystack-values", "patch status Tenant/acme"}, values: "_cluster: {a: b}\n" + effective,
			written: reasonWritten},
		{reason: "affinity-class A38: it is right already", tenant: tenant("tenant-root", "acme", "dc1", "dc1", "dc2"),
			objects: []client.Object{secret("tenant-acme", effective)}, writes: []string{"patch status Tenant/acme"}, values: effective,
			written: reasonWritten},
		{reason: "affinity-class A38: content that does not parse is left alone", tenant: tenant("tenant-root", "acme", "dc1", "dc1", "dc2"),
			objects: []client.Object{secret("tenant-acme", "a: [b")}, writes: []string{"patch status Tenant/acme"}, values: "a: [b",
			written: affinityclass.ReasonUnparsableValues},
		{reason: "the namespace is terminating", tenant: tenant("tenant-root", "acme", "dc1", "dc1", "dc2"), objects: []client.Object{terminating},
			writes: []string{"patch status Tenant/acme"}, written: reasonNamespaceTerminating},
		{reason: "another Tenant owns the namespace", tenant: tenant("tenant", "acme", "dc1"), writes: []string{"patch status Tenant/acme"},
			written: reasonNamespaceTaken},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub(t)
			h.given(t, append(tc.objects, tc.tenant)...)
			if tc.written == reasonNamespaceTerminating {
				if err := h.Delete(t.Context(), terminating); err != nil {
					t.Fatal(err)
				}
			}

			for range 2 { // The second reconcile finds nothing to write.
				if _, err := h.tenants().Reconcile(t.Context(), requestOf(tc.tenant)); err != nil {
					t.Fatal(err)
				}
			}
			h.expectWrites(t, tc.writes...)
			read := &corev1.Secret{}

			err := h.Get(t.Context(), client.ObjectKey{Namespace: owned(tc.tenant), Name: affinityclass.ValuesSecret}, read)
			if client.IgnoreNotFound(err) != nil || string(read.Data[affinityclass.ValuesKey]) != tc.values {
				t.Errorf("Secret %q, %v", read.Data, err)
			}
			if len(tc.objects) > 0 && tc.values != "" && string(read.Data["other"]) != "kept" {
				t.Errorf("Secret %q", read.Data)
			}
			if err := h.Get(t.Context(), client.ObjectKeyFromObject(tc.tenant), tc.tenant); err != nil {
				t.Fatal(err)
			}

			condition := meta.FindStatusCondition(tc.tenant.Status.Conditions, appsv1alpha1.ConditionValuesWritten)
			if condition == nil || condition.Reason != tc.written || (condition.Status == metav1.ConditionTrue) != (tc.written == reasonWritten) {
				t.Errorf("condition %+v", condition)
			}
		})
	}
}

// docs/spec/affinity-class.md 1.1: namespace and Secret of a Tenant that is deleted stay.
func TestADeletedTenantWritesNothing(t *testing.T) {
	h := newHub(t)
	dying := tenant("tenant-root", "acme", "dc1", "dc1")
	dying.Finalizers = []string{"example.com/a"}
	h.given(t, dying)
	if err := h.Delete(t.Context(), dying); err != nil {
		t.Fatal(err)
	}

	for _, object := range []client.Object{dying, tenant("tenant-root", "nobody", "")} {
		if _, err := h.tenants().Reconcile(t.Context(), requestOf(object)); err != nil {
			t.Fatal(err)
		}
	}
	h.expectWrites(t)
}

// docs/spec/affinity-class.md A26: applications with a class that is allowed no more are named; A failing Secret does not hide that.
func TestComplianceOfTenants(t *testing.T) {
	classy := release("postgres-main-db", application(postgres, "tenant-acme", "main-db", ""))
	labels := classy.GetLabels()
	labels[affinityclass.ClassLabel] = "gpu"
	classy.SetLabels(labels)

	h := newHub(t, classy)
	h.fails = func(_ string, object client.Object) error {
		if _, isSecret := object.(*corev1.Secret); isSecret {
			return errBroken
		}
		return nil
	}
	acme := tenant("tenant-root", "acme", "")

	if _, err := h.tenants().Reconcile(t.Context(), requestOf(acme)); !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
	h.expectWrites(t, "patch status Tenant/acme")
	if err := h.Get(t.Context(), client.ObjectKeyFromObject(acme), acme); err != nil {
		t.Fatal(err)
	}

	condition := meta.FindStatusCondition(acme.Status.Conditions, appsv1alpha1.ConditionAffinityClassesCompliant)
	if condition == nil || condition.Reason != affinityclass.ReasonApplicationsOutside ||
		!strings.Contains(condition.Message, "Postgres/main-db (gpu)") ||
		len(acme.Status.Conditions) != 1 {
		t.Errorf("conditions %+v", acme.Status.Conditions)
	}
}

// docs/spec/affinity-class.md 1.2: Tenants whose settings may depend on a Tenant that changes are enqueued, also if it is gone.
func TestTenantsThatDependOnATenant(t *testing.T) {
	h := newHub(t, tenant("tenant-acme", "eu", ""), tenant("tenant-acme-eu", "west", ""), tenant("tenant-root", "beta", ""),
		tenant("tenant-root", "root", ""))
	for _, tc := range []struct {
		changed *appsv1alpha1.Tenant
		want    []string
	}{
		{tenant("tenant-root", "acme", ""), []string{"tenant-acme-eu/west", "tenant-acme/eu", "tenant-root/acme"}},
		{tenant("tenant-acme", "eu", ""), []string{"tenant-acme-eu/west", "tenant-acme/eu"}},
		{tenant("tenant-root", "gone", ""), []string{"tenant-root/gone"}},
		{tenant("tenant-root", "root", ""), []string{
			"tenant-acme-eu/west", "tenant-acme/eu", "tenant-root/acme", "tenant-root/beta", "tenant-root/root",
		}},
	} {
		if diff := cmp.Diff(tc.want, sorted(h.tenants().concerned(t.Context(), tc.changed))); diff != "" {
			t.Errorf("%s enqueues (-want +got):\n%s", tc.changed.Name, diff)
		}
	}

	if diff := cmp.Diff([]string{"tenant-acme/eu"}, sorted(h.tenants().ownerOfNamespace(t.Context(), secret("tenant-acme-eu", "")))); diff != "" {
		t.Errorf("a Secret enqueues (-want +got):\n%s", diff)
	}
	if requests := h.tenants().ownerOfName(t.Context(), namespace("apps")); requests != nil {
		t.Errorf("a namespace of no Tenant enqueues %v", requests)
	}
}
