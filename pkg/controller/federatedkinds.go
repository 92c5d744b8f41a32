package controller

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// FederatedResources returns the resources of FederatedKinds, on each of which the hub needs to get, list, watch and patch. It returns an
// error for a kind that is malformed or never delivered, that the API server does not serve, or that is cluster-scoped.
func (o Options) FederatedResources(mapper meta.RESTMapper) ([]schema.GroupVersionResource, error) {
	kinds, err := o.federatedKinds(mapper)
	if err != nil {
		return nil, err
	}

	var resources []schema.GroupVersionResource
	for _, kind := range kinds[len(federation.DefaultKinds()):] {
		resources = append(resources, kind.GroupVersion().WithResource(kind.Resource))
	}

	return resources, nil
}

// federatedKinds returns federation.DefaultKinds, and after them FederatedKinds with their resources by the mapper.
func (o Options) federatedKinds(mapper meta.RESTMapper) ([]federation.Kind, error) {
	parsed, err := federation.ParseKinds(o.FederatedKinds)
	if err != nil {
		return nil, err
	}

	kinds := slices.Clone(federation.DefaultKinds())

	for _, kind := range parsed {
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)

		switch {
		case meta.IsNoMatchError(err):
			return nil, fmt.Errorf("the API server does not serve %s of %s; install its CustomResourceDefinition, or leave the kind out",
				kind.Kind, kind.GroupVersion())
		case err != nil:
			return nil, fmt.Errorf("looking for the resource of %s of %s: %w", kind.Kind, kind.GroupVersion(), err)
		case mapping.Scope.Name() != meta.RESTScopeNameNamespace:
			return nil, fmt.Errorf("%s of %s is cluster-scoped; only objects in namespaces are delivered, so leave the kind out",
				kind.Kind, kind.GroupVersion())
		}

		kinds = append(kinds, federation.Kind{GroupVersionKind: kind, Resource: mapping.Resource.Resource})
	}

	return kinds, nil
}
