// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
)

// One object that Go cannot decode must not stop the informer of any kind that a CustomResourceDefinition defines.
func TestCovered(t *testing.T) {
	known := scheme.New()
	for kind, tc := range map[string]struct {
		object runtime.Object
		want   bool
	}{
		"ManagedCluster":                 {&clusterv1.ManagedCluster{}, true},
		"ManagedClusterList":             {&clusterv1.ManagedClusterList{}, true},
		"ClusterProfile":                 {&clusterinventory.ClusterProfile{}, true},
		"PodSchedulingPolicy":            {&kupidv1alpha1.PodSchedulingPolicy{}, true},
		"ClusterPodSchedulingPolicyList": {&kupidv1alpha1.ClusterPodSchedulingPolicyList{}, true},
		"AffinityClass":                  {&cozystackv1alpha1.AffinityClass{}, true},
		"TenantList":                     {&appsv1alpha1.TenantList{}, true},
		"ManifestWork":                   {&workv1.ManifestWork{}, true},
		"ManifestWorkList":               {&workv1.ManifestWorkList{}, true},
		"Namespace":                      {&corev1.Namespace{}, false},
		"MutatingWebhookConfiguration":   {&admissionregistrationv1.MutatingWebhookConfiguration{}, false},
		"an object without a Go type": {&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps.cozystack.io/v1alpha1", "kind": "Redis",
		}}, false},
		"metadata of any kind": {&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{
			APIVersion: "helm.toolkit.fluxcd.io/v2", Kind: "HelmRelease",
		}}, false},
	} {
		if _, got := covered(tc.object, known); got != tc.want {
			t.Errorf("%s: covered is %t, want %t", kind, got, tc.want)
		}
	}
}
