// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	ownsLastApplied = `{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}},"f:spec":{}}`
	ownsSpec        = `{"f:spec":{"f:numberOfClusters":{}}}`
)

// entry returns an entry of managedFields, some seconds after the first.
func entry(manager string, operation metav1.ManagedFieldsOperationType, seconds int, fields string) metav1.ManagedFieldsEntry {
	at := metav1.NewTime(time.Date(2026, 1, 31, 12, 0, seconds, 0, time.UTC))
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, Time: &at, APIVersion: "cluster.open-cluster-management.io/v1beta1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func TestOf(t *testing.T) {
	const apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	status := entry("helm", apply, 9, ownsSpec)
	status.Subresource = "status"
	clientSide := entry("kubectl-client-side-apply", update, 5, ownsLastApplied)
	annotated := map[string]string{corev1.LastAppliedConfigAnnotation: "{}"}
	byKubectl := Write{Method: ServerSide, FieldManager: "kubectl"}

	for _, tc := range []struct {
		reason      string
		entries     []metav1.ManagedFieldsEntry
		annotations map[string]string
		want        Write
		unknown     bool
	}{
		{reason: "kubectl apply --server-side", entries: []metav1.ManagedFieldsEntry{entry("kubectl", apply, 1, ownsSpec)}, want: byKubectl},
		{
			reason:  "Helm 4",
			entries: []metav1.ManagedFieldsEntry{entry("helm", apply, 1, ownsSpec)}, want: Write{Method: ServerSide, FieldManager: "helm"},
		},
		{
			reason:  "Argo CD forces its applies",
			entries: []metav1.ManagedFieldsEntry{entry("argocd-controller", apply, 1, ownsSpec)},
			want:    Write{Method: ServerSide, FieldManager: "argocd-controller", Force: true},
		},
		{
			reason:  "Flux forces its applies",
			entries: []metav1.ManagedFieldsEntry{entry("kustomize-controller", apply, 1, ownsSpec)},
			want:    Write{Method: ServerSide, FieldManager: "kustomize-controller", Force: true},
		},
		{
			reason:  "the last one counts",
			entries: []metav1.ManagedFieldsEntry{entry("kubectl", apply, 2, ownsSpec), entry("helm", apply, 1, ownsSpec)}, want: byKubectl,
		},
		{
			reason:  "an apply of the status is another matter",
			entries: []metav1.ManagedFieldsEntry{status, entry("kubectl", apply, 2, ownsSpec)}, want: byKubectl,
		},
		{
			reason:  "a later client-side apply",
			entries: []metav1.ManagedFieldsEntry{entry("kubectl", apply, 2, ownsSpec), clientSide}, want: Write{Method: ClientSide},
		},
		{
			reason:  "a client-side apply of the same second, which would have been taken over by a later server-side one",
			entries: []metav1.ManagedFieldsEntry{entry("kubectl", apply, 5, ownsSpec), clientSide}, want: Write{Method: ClientSide},
		},
		{
			reason:  "server-side apply keeps the annotation of former client-side applies",
			entries: []metav1.ManagedFieldsEntry{entry("kubectl", apply, 1, ownsSpec)}, annotations: annotated, want: byKubectl,
		},
		{
			reason:  "Argo CD with client-side applies",
			entries: []metav1.ManagedFieldsEntry{entry("argocd-controller", update, 1, ownsLastApplied)}, annotations: annotated,
			want: Write{Method: ClientSide},
		},
		{reason: "hidden managedFields, and the annotation", annotations: annotated, want: Write{Method: ClientSide}},
		{reason: "hidden managedFields", unknown: true},
		{
			reason:  "a tool that is not known",
			entries: []metav1.ManagedFieldsEntry{entry("ci", apply, 1, ownsSpec)}, want: Write{FieldManager: "ci"}, unknown: true,
		},
		{
			reason:  "the last one of two that are not known",
			entries: []metav1.ManagedFieldsEntry{entry("ci", apply, 2, ownsSpec), entry("old-ci", apply, 1, ownsSpec), status},
			want:    Write{FieldManager: "ci"}, unknown: true,
		},
		{
			reason:  "an operator beside a known tool",
			entries: []metav1.ManagedFieldsEntry{entry("my-operator", apply, 2, ownsSpec), entry("kubectl", apply, 1, ownsSpec)}, want: byKubectl,
		},
		{
			reason: "an operator beside client-side apply", annotations: annotated,
			entries: []metav1.ManagedFieldsEntry{entry("my-operator", apply, 9, ownsSpec), clientSide}, want: Write{Method: ClientSide},
		},
		{
			reason:  "Helm 3, whose last release is not known",
			entries: []metav1.ManagedFieldsEntry{entry("helm", update, 1, ownsSpec)}, want: Write{FieldManager: "helm"}, unknown: true,
		},
		{reason: "kubectl create", entries: []metav1.ManagedFieldsEntry{entry("kubectl-create", update, 1, ownsSpec)}, unknown: true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, known := Of(&metav1.ObjectMeta{ManagedFields: tc.entries, Annotations: tc.annotations})
			if diff := cmp.Diff(tc.want, got); diff != "" || known == tc.unknown {
				t.Errorf("known is %t, write (-want +got):\n%s", known, diff)
			}
		})
	}
}
