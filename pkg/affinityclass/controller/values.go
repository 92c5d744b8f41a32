// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// The reasons of the condition ValuesWritten beside affinityclass.ReasonUnparsableValues.
const (
	reasonWritten              = "Written"
	reasonNamespaceTerminating = "NamespaceTerminating"
	reasonNamespaceTaken       = "NamespaceTaken"
)

// writeValues has the Secret of a Tenant have its effective settings, and creates Secret and namespace if they are missing. It returns the
// condition ValuesWritten.
func (r *tenantReconciler) writeValues(ctx context.Context, tree *affinityclass.Tree, tenant *appsv1alpha1.Tenant) (metav1.Condition, error) {
	namespace := owned(tenant)
	if owner := tree.Owner(namespace); owner == nil || owner.UID != tenant.UID {
		return newCondition(appsv1alpha1.ConditionValuesWritten, false, reasonNamespaceTaken, fmt.Sprintf(
			"namespace %s belongs to another Tenant; delete this Tenant, and create it with another name", namespace)), nil
	}
	found, err := r.namespaceOf(ctx, namespace)
	if err != nil {
		return metav1.Condition{}, err
	}

	if found == nil {
		err = r.createNamespace(ctx, namespace)
	}
	if err != nil {
		return metav1.Condition{}, err
	}
	if found != nil && !found.DeletionTimestamp.IsZero() {
		return newCondition(appsv1alpha1.ConditionValuesWritten, false, reasonNamespaceTerminating, fmt.Sprintf(
			"namespace %s is being deleted; it is created again when it is gone", namespace)), nil
	}

	switch err := r.writeSecret(ctx, namespace, tree.Effective(namespace)); {
	case errors.Is(err, affinityclass.ErrUnparsable):
		return newCondition(appsv1alpha1.ConditionValuesWritten, false, affinityclass.ReasonUnparsableValues, fmt.Sprintf(
			"the key %s of Secret %s/%s is left as it is: %v; make it a YAML mapping",
			affinityclass.ValuesKey, namespace, affinityclass.ValuesSecret, err)), nil
	case err != nil:
		return metav1.Condition{}, err
	default:
		return newCondition(appsv1alpha1.ConditionValuesWritten, true, reasonWritten, fmt.Sprintf(
			"Secret %s/%s has the effective classes", namespace, affinityclass.ValuesSecret)), nil
	}
}

// createNamespace creates the workload namespace of a Tenant with the label, so that its Pods are verified from the first one on.
func (r *tenantReconciler) createNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{affinityclass.VerifyLabel: verified}}}
	if err := r.writer.Create(ctx, namespace); err != nil {
		return fmt.Errorf("creating Namespace %s: %w", name, err)
	}
	klog.FromContext(ctx).V(2).Info("Created the workload namespace of a Tenant", "namespace", name)
	return nil
}

// writeSecret writes the effective settings into the Secret of a namespace. The error is affinityclass.ErrUnparsable if its content is no mapping.
func (r *tenantReconciler) writeSecret(ctx context.Context, namespace string, effective affinityclass.Effective) error {
	key := types.NamespacedName{Namespace: namespace, Name: affinityclass.ValuesSecret}
	secret := &corev1.Secret{}

	err := r.Cached.Get(ctx, key, secret)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading Secret %s: %w", key, err)
	}
	present := string(secret.Data[affinityclass.ValuesKey])

	wanted, unparsable := affinityclass.SetValues(present, effective)
	if unparsable != nil {
		return unparsable
	}

	if apierrors.IsNotFound(err) {
		created := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
			Type:       corev1.SecretTypeOpaque,
			Data:       map[string][]byte{affinityclass.ValuesKey: []byte(wanted)},
		}
		if err := r.writer.Create(ctx, created); err != nil {
			return fmt.Errorf("creating Secret %s: %w", key, err)
		}
		return nil
	}

	if wanted == present {
		return nil
	}
	changed := secret.DeepCopy()
	if changed.Data == nil {
		changed.Data = map[string][]byte{}
	}
	changed.Data[affinityclass.ValuesKey] = []byte(wanted)

	if err := objects.Patch(ctx, r.writer, secret, changed); err != nil {
		return fmt.Errorf("writing Secret %s: %w", key, err)
	}
	return nil
}
