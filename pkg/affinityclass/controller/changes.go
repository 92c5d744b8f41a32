// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

// updated returns a predicate that passes every creation and deletion, and the updates that a function reports as changes.
func updated(changed func(before, after client.Object) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return changed(e.ObjectOld, e.ObjectNew) }}
}

// differs reports whether two states of an object with a generation differ in more than the status.
func differs(before, after client.Object) bool {
	return before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!slices.Equal(before.GetFinalizers(), after.GetFinalizers()) ||
		!reflect.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences())
}

// namespaceDiffers reports whether two states of a Namespace differ in what the controllers read.
func namespaceDiffers(before, after client.Object) bool {
	return before.GetUID() != after.GetUID() || before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		before.GetAnnotations()[affinityclass.AllowedAnnotation] != after.GetAnnotations()[affinityclass.AllowedAnnotation]
}

// classDiffers reports whether two states of a HelmRelease differ in the class or in the application.
func classDiffers(before, after client.Object) bool {
	return !maps.Equal(before.GetLabels(), after.GetLabels())
}

// secretDiffers reports whether two states of a Secret differ in the content.
func secretDiffers(before, after client.Object) bool {
	old, isSecret := before.(*corev1.Secret)
	now, areSecrets := after.(*corev1.Secret)
	return !isSecret || !areSecrets || !reflect.DeepEqual(old.Data, now.Data)
}

// owned returns the workload namespace of a Tenant.
func owned(tenant client.Object) string {
	return affinityclass.WorkloadNamespace(tenant.GetNamespace(), tenant.GetName())
}

// concerns reports whether the settings of a Tenant, or its place, may depend on the Tenant that owns a namespace: it is that Tenant, wants
// the same namespace, or lives in that namespace or below it.
func concerns(tenant *appsv1alpha1.Tenant, namespace string) bool {
	return namespace == affinityclass.RootNamespace || owned(tenant) == namespace || tenant.Namespace == namespace ||
		strings.HasPrefix(tenant.Namespace, namespace+"-")
}
