// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// A quota has no effect until a controller has counted what there is.
func TestQuotasCount(t *testing.T) {
	admin, err := kubernetes.NewForConfig(sharedControlPlane(t).AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	namespace, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "quota-"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "secrets"}, Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{"count/secrets": resource.MustParse("0")},
	}}
	if _, err := admin.CoreV1().ResourceQuotas(namespace.Name).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	eventually(t, "a Secret is refused by the quota", func() error {
		_, err := admin.CoreV1().Secrets(namespace.Name).Create(t.Context(), secret, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota") {
			return fmt.Errorf("the answer is %w, want a refusal by the quota", err)
		}
		return nil
	})
}
