// SPDX-License-Identifier: Apache-2.0

package system

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// errNotServed is the error for a kind that the API server does not serve.
var errNotServed = errors.New("the API server does not serve it")

// FederatedResources returns the resources of FederatedKinds, on each of which the hub needs to get, list, watch and patch, and the kinds that
// the API server does not serve: the federation is off until it does. It returns an error for a kind that is malformed, never delivered or
// cluster-scoped.
func (o Options) FederatedResources(mapper meta.RESTMapper) (
	resources []schema.GroupVersionResource, absent []schema.GroupVersionKind, err error,
) {
	parsed, err := federation.ParseKinds(o.FederatedKinds)
	if err != nil {
		return nil, nil, err
	}

	for _, kind := range parsed {
		delivered, err := resolve(mapper, kind)
		switch {
		case errors.Is(err, errNotServed):
			absent = append(absent, kind)
		case err != nil:
			return nil, nil, err
		default:
			resources = append(resources, kind.GroupVersion().WithResource(delivered.Resource))
		}
	}

	return resources, absent, nil
}

// federatedKinds returns federation.DefaultKinds, and after them FederatedKinds with their resources by the mapper.
func (o Options) federatedKinds(mapper meta.RESTMapper) ([]federation.FederatedKind, error) {
	parsed, err := federation.ParseKinds(o.FederatedKinds)
	if err != nil {
		return nil, err
	}
	kinds := slices.Clone(federation.DefaultKinds())

	for _, kind := range parsed {
		delivered, err := resolve(mapper, kind)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, delivered)
	}
	return kinds, nil
}

// resolve returns a kind with its resource by the mapper.
func resolve(mapper meta.RESTMapper, kind schema.GroupVersionKind) (federation.FederatedKind, error) {
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	switch {
	case meta.IsNoMatchError(err):
		return federation.FederatedKind{}, fmt.Errorf("%s of %s: %w; install its CustomResourceDefinition, or leave the kind out",
			kind.Kind, kind.GroupVersion(), errNotServed)
	case err != nil:
		return federation.FederatedKind{}, fmt.Errorf("looking for the resource of %s of %s: %w", kind.Kind, kind.GroupVersion(), err)
	case mapping.Scope.Name() != meta.RESTScopeNameNamespace:
		return federation.FederatedKind{}, fmt.Errorf("%s of %s is cluster-scoped; only objects in namespaces are delivered, so leave the kind out",
			kind.Kind, kind.GroupVersion())
	}

	return federation.FederatedKind{GroupVersionKind: kind, Resource: mapping.Resource.Resource}, nil
}
