// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

// rightsOfAdded returns the rights on the kinds that a flag has added to those of a system, whose resources the API server knows. It logs the
// kinds that are not served.
func rightsOfAdded(ctx context.Context, client kubernetes.Interface, added *systems.AddedKinds) ([]right, error) {
	groups, err := restmapper.GetAPIGroupResources(client.Discovery())
	if err != nil {
		return nil, fmt.Errorf("asking the API server for its resources: %w", err)
	}
	resources, absent, err := added.Resources(restmapper.NewDiscoveryRESTMapper(groups))
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", added.Flag, err)
	}
	for _, kind := range absent {
		klog.FromContext(ctx).Info("The hub does not serve a kind of --"+added.Flag+"; its system is off until it does",
			"kind", fmt.Sprintf("%s/%s", kind.GroupVersion(), kind.Kind),
			"hint", "install its CustomResourceDefinition, or leave the kind out of --"+added.Flag)
	}
	var rights []right
	for _, resource := range resources {
		for _, verb := range added.Verbs {
			rights = append(rights, right{verb: verb, group: resource.Group, resource: resource.Resource})
		}
	}
	return rights, nil
}
