// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

// Requests per second. Every namespaced resource is listed.
const (
	qps   = 50
	burst = 100
)

// Held is an object with a finalizer of the hub.
type Held struct {
	Resource schema.GroupVersionResource
	// Object has the kind and the metadata, and the rest if its resource is one of a system.
	Object *unstructured.Unstructured
	// System is the system of the finalizer, and Names are those of the object that are that finalizer.
	System    string
	Finalizer systems.Finalizer
	Names     []string
	// Remains names what stays of the object without them.
	Remains []string
}

// String returns "deployments.apps shop/web", and of an object without a namespace "affinityclasses.cozystack.io dc1".
func (h *Held) String() string {
	return h.Resource.GroupResource().String() + " " + klog.KObj(h.Object).String()
}

// Hub reads and changes the objects of a hub.
type Hub struct {
	discovery discovery.DiscoveryInterface
	metadata  metadata.Interface
	dynamic   dynamic.Interface
}

// New returns the hub behind a configuration.
func New(config *rest.Config) (*Hub, error) {
	config = rest.CopyConfig(config)
	if config.QPS == 0 && config.RateLimiter == nil {
		config.QPS, config.Burst = qps, burst
	}
	h := &Hub{}
	var err error
	if h.discovery, err = discovery.NewDiscoveryClientForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	if h.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	if h.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	return h, nil
}

// Find returns the objects that have finalizers of systems, by the systems and their finalizers in their order, and then by their names. The
// error says which resources could not be read; what could be is returned with it.
func (h *Hub) Find(ctx context.Context, entries []systems.Entry) ([]*Held, error) {
	var (
		all  []*Held
		errs []error
	)
	list := func(resource schema.GroupVersionResource, selector string) []metav1.PartialObjectMetadata {
		listed, err := h.list(ctx, resource, selector)
		errs = append(errs, err)
		return listed
	}
	for _, entry := range entries {
		for _, finalizer := range entry.Finalizers {
			found, err := h.find(ctx, finalizer)
			errs = append(errs, err)
			slices.SortFunc(found, func(a, b *Held) int { return strings.Compare(a.String(), b.String()) })
			var remains func(*unstructured.Unstructured) []string
			if finalizer.Remains != nil && len(found) > 0 {
				remains = finalizer.Remains(list)
			}
			for _, held := range found {
				held.System = entry.Name
				if remains != nil {
					held.Remains = remains(held.Object)
				}
			}
			all = append(all, found...)
		}
	}
	return all, errors.Join(errs...)
}

// find returns the objects that have a finalizer.
func (h *Hub) find(ctx context.Context, finalizer systems.Finalizer) ([]*Held, error) {
	if !finalizer.Resource.Empty() {
		return h.findIn(ctx, finalizer)
	}
	resources, err := h.namespaced()
	errs := []error{err}
	var (
		found []*Held
		known = map[types.UID]bool{} // An object can be in several groups, as an Event is.
	)
	for _, resource := range resources {
		err := h.eachMetadata(ctx, resource.GroupVersionResource, "", func(object *metav1.PartialObjectMetadata) {
			names := finalizer.In(object.Finalizers)
			if len(names) == 0 || known[object.UID] {
				return
			}
			known[object.UID] = true
			found = append(found, &Held{
				Resource: resource.GroupVersionResource, Object: withKind(object, resource.kind), Finalizer: finalizer, Names: names,
			})
		})
		errs = append(errs, err)
	}
	return found, errors.Join(errs...)
}

// findIn returns the objects of the one resource of a finalizer that have it.
func (h *Hub) findIn(ctx context.Context, finalizer systems.Finalizer) ([]*Held, error) {
	var found []*Held
	list := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return h.dynamic.Resource(finalizer.Resource).List(ctx, options)
	}
	err := each(ctx, finalizer.Resource, list, "", func(object *unstructured.Unstructured) {
		if names := finalizer.In(object.GetFinalizers()); len(names) > 0 {
			found = append(found, &Held{Resource: finalizer.Resource, Object: object, Finalizer: finalizer, Names: names})
		}
	})
	return found, err
}

// served is a resource with its kind.
type served struct {
	schema.GroupVersionResource

	kind schema.GroupVersionKind
}

// namespaced returns the namespaced resources whose objects can be listed and changed, in the versions that the API server prefers. The error names
// groups whose API server does not respond.
func (h *Hub) namespaced() ([]served, error) {
	lists, err := discovery.ServerPreferredNamespacedResources(h.discovery)
	if err != nil {
		err = fmt.Errorf("asking for the resources of the API server: %w", err)
	}
	var resources []served
	for _, list := range lists {
		version, parseErr := schema.ParseGroupVersion(list.GroupVersion)
		if parseErr != nil {
			err = errors.Join(err, fmt.Errorf("asking for the resources of the API server: %w", parseErr))
			continue
		}
		for i := range list.APIResources {
			resource := &list.APIResources[i]
			if slices.Contains(resource.Verbs, "list") && slices.Contains(resource.Verbs, "patch") {
				resources = append(resources, served{
					GroupVersionResource: version.WithResource(resource.Name), kind: version.WithKind(resource.Kind),
				})
			}
		}
	}
	return resources, err
}

// list returns the metadata of the objects of a resource that have a label; none if the resource is not served.
func (h *Hub) list(ctx context.Context, resource schema.GroupVersionResource, selector string) ([]metav1.PartialObjectMetadata, error) {
	var all []metav1.PartialObjectMetadata
	err := h.eachMetadata(ctx, resource, selector, func(object *metav1.PartialObjectMetadata) { all = append(all, *object) })
	return all, err
}

// eachMetadata calls a function with the metadata of each object of a resource that has a label.
func (h *Hub) eachMetadata(
	ctx context.Context, resource schema.GroupVersionResource, selector string, call func(*metav1.PartialObjectMetadata),
) error {
	list := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return h.metadata.Resource(resource).List(ctx, options)
	}
	return each(ctx, resource, list, selector, call)
}

// each calls a function with each object of a list that has a label; with none if the definition of the resource is gone, and its objects with it.
func each[T runtime.Object](
	ctx context.Context, resource schema.GroupVersionResource, list pager.ListPageFunc, selector string, call func(T),
) error {
	err := objects.Each(ctx, list, metav1.ListOptions{LabelSelector: selector}, func(object T) error {
		call(object)
		return nil
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("listing %s: %w", resource.GroupResource(), err)
	}
	return nil
}

// withKind returns metadata as an object of a kind.
func withKind(object *metav1.PartialObjectMetadata, kind schema.GroupVersionKind) *unstructured.Unstructured {
	converted := &unstructured.Unstructured{}
	converted.SetGroupVersionKind(kind)
	converted.SetNamespace(object.Namespace)
	converted.SetName(object.Name)
	converted.SetUID(object.UID)
	converted.SetResourceVersion(object.ResourceVersion)
	converted.SetDeletionTimestamp(object.DeletionTimestamp)
	converted.SetFinalizers(object.Finalizers)
	return converted
}
