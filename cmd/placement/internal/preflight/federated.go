package preflight

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
)

// federatedHint says where the rights on the kinds of --federated-kinds come from.
const federatedHint = "grant these rights by a ClusterRole with the label federation.kubernetes.io/aggregate-to-federated-kinds=true, which " +
	"manifests/federation binds to the hub, or leave the kinds out of --federated-kinds"

// federatedRights returns the rights on the kinds of --federated-kinds, whose resources the API server knows.
func (n need) federatedRights(client kubernetes.Interface) ([]right, error) {
	if n.federated == nil {
		return nil, nil
	}
	groups, err := restmapper.GetAPIGroupResources(client.Discovery())
	if err != nil {
		return nil, fmt.Errorf("asking the API server for its resources: %w", err)
	}
	resources, err := n.federated(restmapper.NewDiscoveryRESTMapper(groups))
	if err != nil {
		return nil, fmt.Errorf("--federated-kinds: %w", err)
	}
	var rights []right
	for _, resource := range resources {
		for _, verb := range []string{"get", "list", "watch", "patch"} {
			rights = append(rights, right{verb: verb, group: resource.Group, resource: resource.Resource})
		}
	}
	return rights, nil
}
