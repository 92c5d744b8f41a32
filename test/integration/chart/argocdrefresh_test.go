// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/manifests"
)

// The process that refreshes ApplicationSets is in the namespace of Argo CD with an account of its own, whatever the account of the hub is.
func TestArgoCDRefreshElsewhere(t *testing.T) {
	kinds := []string{}
	for _, object := range decode(t, render(t, "argocdRefresh.enabled=true", "argocdRefresh.namespace=gitops", "argocdRefresh.minInterval=30s",
		"serviceAccount.create=false", "serviceAccount.name=existing")) {
		if !strings.HasSuffix(object.GetName(), "argocd-refresh") || object.GetNamespace() == "" {
			continue
		}
		kinds = append(kinds, object.GetKind())
		if object.GetNamespace() != "gitops" {
			t.Errorf("%s is not in the namespace of Argo CD", describe(object))
		}
		switch object.GetKind() {
		case "Deployment":
			containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			if err != nil {
				t.Fatal(err)
			}
			if arguments := containers[0].(map[string]any)["args"].([]any); !slices.Contains(arguments, any("--min-interval=30s")) {
				t.Errorf("the arguments are %v", arguments)
			}
		case "RoleBinding":
			subjects, _, err := unstructured.NestedSlice(object.Object, "subjects")
			if err != nil {
				t.Fatal(err)
			}
			if subject := subjects[0].(map[string]any); subject["namespace"] != "gitops" || subject["name"] != manifests.ArgoCDRefreshAccount {
				t.Errorf("the subject is %v", subject)
			}
		default:
		}
	}
	slices.Sort(kinds)
	if want := []string{"Deployment", "Role", "RoleBinding", "ServiceAccount"}; !slices.Equal(kinds, want) {
		t.Errorf("there are %q, want %q", kinds, want)
	}
}
