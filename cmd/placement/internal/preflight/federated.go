package preflight

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/klog/v2"
)

// federatedHint says where the rights on the kinds of --federated-kinds come from.
const federatedHint = "grant these rights by a ClusterRole with the label federation.kubernetes.io/aggregate-to-federated-kinds=true, which " +
	"manifests/federation binds to the hub, or leave the kinds out of --federated-kinds"

// federatedRights returns the rights on the kinds of --federated-kinds, whose resources the API server knows. It logs the kinds that are not
// served.
func (n need) federatedRights(ctx context.Context, client kubernetes.Interface) ([]right, error) {
	if n.federated == nil {
		return nil, nil
	}
	groups, err := restmapper.GetAPIGroupResources(client.Discovery())
	if err != nil {
		return nil, fmt.Errorf("asking the API server for its resources: %w", err)
	}
	resources, absent, err := n.federated(restmapper.NewDiscoveryRESTMapper(groups))
	if err != nil {
		return nil, fmt.Errorf("--federated-kinds: %w", err)
	}
	for _, kind := range absent {
		klog.FromContext(ctx).Info("The hub does not serve a kind of --federated-kinds; the federation is off until it does",
			"kind", fmt.Sprintf("%s/%s", kind.GroupVersion(), kind.Kind),
			"hint", "install its CustomResourceDefinition, or leave the kind out of --federated-kinds")
	}
	var rights []right
	for _, resource := range resources {
		for _, verb := range []string{"get", "list", "watch", "patch"} {
			rights = append(rights, right{verb: verb, group: resource.Group, resource: resource.Resource})
		}
	}
	return rights, nil
}
