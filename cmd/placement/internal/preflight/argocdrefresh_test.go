// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"slices"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/placement-hub/placement-hub/test/expect"
)

// docs/spec/argocd-refresh.md AR9: what is missing is named, with what to do.
func TestCheckArgoCDRefresh(t *testing.T) {
	sets := &metav1.APIResourceList{GroupVersion: "argoproj.io/v1alpha1", APIResources: []metav1.APIResource{{Name: "applicationsets"}}}
	decisions := &metav1.APIResourceList{
		GroupVersion: "cluster.open-cluster-management.io/v1beta1", APIResources: []metav1.APIResource{{Name: "placementdecisions"}},
	}
	all := []string{
		"get applicationsets", "list applicationsets", "list placementdecisions", "watch applicationsets", "watch placementdecisions",
		"get configmaps", "patch applicationsets",
	}
	for _, tc := range []struct {
		reason string
		served []*metav1.APIResourceList
		denied []string
		want   []string
	}{
		{reason: "everything is there", served: []*metav1.APIResourceList{sets, decisions}},
		{reason: "no Argo CD", served: []*metav1.APIResourceList{decisions},
			want: []string{"does not serve applicationsets.argoproj.io/v1alpha1; install Argo CD", "then start again"}},
		{reason: "Argo CD without the controller", served: []*metav1.APIResourceList{decisions, {GroupVersion: "argoproj.io/v1alpha1"}},
			want: []string{"does not serve applicationsets.argoproj.io/v1alpha1"}},
		{reason: "no hub", served: []*metav1.APIResourceList{sets},
			want: []string{"does not serve placementdecisions.cluster.open-cluster-management.io/v1beta1; ", "CustomResourceDefinitions"}},
		{reason: "one right is missing", served: []*metav1.APIResourceList{sets, decisions}, denied: []string{"patch applicationsets"},
			want: []string{"patch applicationsets.argoproj.io in namespace gitops\n", "manifests/argocdrefresh", "--argocd-namespace"}},
		{reason: "all are missing", served: []*metav1.APIResourceList{sets, decisions}, denied: all, want: all},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			client := fake.NewClientset()
			client.Resources = tc.served
			client.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
				review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
				r := review.Spec.ResourceAttributes
				if asked := r.Verb + " " + r.Resource; !slices.Contains(all, asked) || r.Namespace != "gitops" || r.Name != "" {
					t.Errorf("the process asks for %+v", r)
				}
				review.Status.Allowed = !slices.Contains(tc.denied, r.Verb+" "+r.Resource)
				return true, review, nil
			})
			expect.Error(t, checkArgoCDRefresh(t.Context(), client, "gitops"), tc.want)
		})
	}
}
