// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// RunArgoCDRefresh reports what the process that refreshes ApplicationSets lacks: a kind that is not served, or rights in the namespace of Argo CD.
func RunArgoCDRefresh(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := newClient(config, RequestTimeout)
	if err != nil {
		return err
	}
	return checkArgoCDRefresh(ctx, client, namespace)
}

func checkArgoCDRefresh(ctx context.Context, client kubernetes.Interface, namespace string) error {
	for _, needed := range []struct {
		resource schema.GroupVersionResource
		hint     string
	}{
		{
			schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applicationsets"},
			"install Argo CD with its ApplicationSet controller on this API server",
		},
		{
			schema.GroupVersion(clusterv1beta1.GroupVersion).WithResource("placementdecisions"),
			system.Hint(clusterv1beta1.GroupName),
		},
	} {
		served, err := servedResources(client, needed.resource.GroupVersion().String())
		if err != nil {
			return err
		}
		if !served[needed.resource.Resource] {
			return fmt.Errorf("the hub does not serve %s.%s/%s; %s, then start again",
				needed.resource.Resource, needed.resource.Group, needed.resource.Version, needed.hint)
		}
	}
	rights, err := rightsOf(namespace, systems.Rules{Role: "argocd-refresh"})
	if err != nil {
		return err
	}
	return checkRights(ctx, client, rights, "run it with the ServiceAccount of manifests/argocdrefresh, whose Role has these rights in the "+
		"namespace of Argo CD, and name that namespace with --argocd-namespace")
}
