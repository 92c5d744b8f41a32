// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// FieldManager is the field manager of server-side apply for the fields that Apply and Install write.
const FieldManager = "placement-hub"

// Requests per second of Apply if the configuration sets no rate. The default of client-go, five per second, would take most of a minute
// for a hundred objects.
const (
	applyQPS   = 100
	applyBurst = 200
)

// Apply brings the API server behind cfg to hold objs by server-side apply, one after the other in the given order. If an object has a
// status and its resource has a status subresource, Apply writes the status through that.
//
// Before the first object that follows a CustomResourceDefinition, and before it returns, Apply waits until every definition it has applied
// is established and served. It does not write the status of a definition, which belongs to the API server.
//
// The managedFields of versions that a definition does not have any more are removed from the objects that are applied: with them, the API server
// applies nothing.
//
// It stops at the first error, which names the object. It may be repeated.
func Apply(ctx context.Context, cfg *rest.Config, objs []*unstructured.Unstructured) error {
	a, err := newApplier(cfg)
	if err != nil {
		return err
	}
	var pending []*unstructured.Unstructured
	for _, obj := range objs {
		definition := obj.GroupVersionKind().GroupKind() == definitionKind
		if !definition {
			if err := a.waitUntilServed(ctx, pending); err != nil {
				return err
			}
			pending = nil
		}
		if err := a.apply(ctx, obj); err != nil {
			return fmt.Errorf("apply %s: %w", describe(obj), err)
		}
		if definition {
			pending = append(pending, obj)
		}
	}
	return a.waitUntilServed(ctx, pending)
}

// applier applies objects to one API server.
//
// It does not use Apply of controller-runtime's client, because the RESTMapper of that client does not know whether a resource has a status
// subresource: discovery, which is most of the code here, would stay.
type applier struct {
	client    dynamic.Interface
	discovery discovery.DiscoveryInterfaceWithContext
	// served has the resources that discovery returned, by group version.
	served map[schema.GroupVersion]*metav1.APIResourceList
}

func newApplier(cfg *rest.Config) (*applier, error) {
	cfg = rest.CopyConfig(cfg)
	if cfg.QPS == 0 && cfg.RateLimiter == nil {
		cfg.QPS, cfg.Burst = applyQPS, applyBurst
	}
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", cfg.Host, err)
	}
	client, err := dynamic.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", cfg.Host, err)
	}
	disco, err := discovery.NewDiscoveryClientForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make a discovery client for %s: %w", cfg.Host, err)
	}
	return &applier{client: client, discovery: disco, served: map[schema.GroupVersion]*metav1.APIResourceList{}}, nil
}

// apply writes obj and its status, if it has one.
func (a *applier) apply(ctx context.Context, obj *unstructured.Unstructured) error {
	res, err := a.resourceOf(ctx, obj)
	if err != nil {
		return err
	}
	client, err := a.clientFor(obj, res)
	if err != nil {
		return err
	}
	options := metav1.ApplyOptions{FieldManager: FieldManager, Force: true}
	main := obj.DeepCopy()
	main.SetManagedFields(nil)
	main.SetResourceVersion("")
	main.SetUID("")
	status, hasStatus := main.Object["status"]
	if res.hasStatus {
		delete(main.Object, "status")
	}
	err = applyCured(ctx, client, obj.GetName(), func() error {
		_, err := client.Apply(ctx, obj.GetName(), main, options)
		return err //nolint:wrapcheck // Named below.
	})
	if err != nil {
		return fmt.Errorf("server-side apply: %w", err)
	}
	if !res.hasStatus || !hasStatus || obj.GroupVersionKind().GroupKind() == definitionKind {
		return nil
	}
	body := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	body.SetGroupVersionKind(obj.GroupVersionKind())
	body.SetNamespace(obj.GetNamespace())
	body.SetName(obj.GetName())
	if _, err := client.ApplyStatus(ctx, obj.GetName(), body, options); err != nil {
		return fmt.Errorf("server-side apply of its status: %w", err)
	}
	return nil
}

// goneVersion finds the version in an answer to an apply to an object whose managedFields have a version that its CustomResourceDefinition does not
// have any more: docs/spec/kubernetes.md V19.
var goneVersion = regexp.MustCompile(`request to convert CR to an invalid group/version: (\S+)`)

// applyCured applies to the object of a name. It first removes the managedFields of versions that keep the API server from it: whoever installs may
// do what docs/troubleshooting.md tells admins to do.
func applyCured(ctx context.Context, client dynamic.ResourceInterface, name string, apply func() error) error {
	for {
		err := apply()
		if err == nil {
			return nil
		}
		found := goneVersion.FindStringSubmatch(err.Error())
		if found == nil {
			return err
		}
		removed, patchErr := removeVersion(ctx, client, name, found[1])
		if patchErr != nil {
			return fmt.Errorf("%w: removing the managedFields of that version: %w", err, patchErr)
		}
		if !removed {
			return err
		}
	}
}

// removeVersion removes the managedFields of a version from the object of a name, and reports whether there were any.
func removeVersion(ctx context.Context, client dynamic.ResourceInterface, name, version string) (removed bool, err error) {
	live, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("read: %w", err)
	}
	kept := slices.DeleteFunc(live.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool { return entry.APIVersion == version })
	if len(kept) == len(live.GetManagedFields()) {
		return false, nil
	}
	if len(kept) == 0 {
		kept = []metav1.ManagedFieldsEntry{{}} // An empty list would leave them as they are.
	}

	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": live.GetResourceVersion(), "managedFields": kept}})
	if err != nil {
		return false, fmt.Errorf("encode: %w", err)
	}
	if _, err := client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager}); err != nil {
		return false, fmt.Errorf("write: %w", err)
	}
	return true, nil
}

// clientFor returns the client for the resource of an object, in its namespace if it has one. It returns an error if the namespace does not
// match the scope of the resource.
func (a *applier) clientFor(obj *unstructured.Unstructured, res resource) (dynamic.ResourceInterface, error) {
	client := a.client.Resource(res.GroupVersionResource)
	switch namespace := obj.GetNamespace(); {
	case res.namespaced && namespace == "":
		return nil, fmt.Errorf("metadata.namespace is missing: a %s lives in a namespace", obj.GetKind())
	case !res.namespaced && namespace != "":
		return nil, fmt.Errorf("metadata.namespace is %q, but a %s lives in no namespace: remove the field", namespace, obj.GetKind())
	case res.namespaced:
		return client.Namespace(namespace), nil
	default:
		return client, nil
	}
}

// resource has what discovery reports of a kind.
type resource struct {
	schema.GroupVersionResource
	namespaced bool
	// hasStatus reports whether the resource has a status subresource.
	hasStatus bool
}

// resourceOf finds the resource of an object in discovery. It returns an error if the API server does not serve the kind.
func (a *applier) resourceOf(ctx context.Context, obj *unstructured.Unstructured) (resource, error) {
	gvk := obj.GroupVersionKind()
	list, cached := a.served[gvk.GroupVersion()]
	if !cached {
		var err error
		list, err = a.discovery.ServerResourcesForGroupVersionWithContext(ctx, gvk.GroupVersion().String())
		if err != nil && !apierrors.IsNotFound(err) {
			return resource{}, fmt.Errorf("ask the API server which resources %s has: %w", gvk.GroupVersion(), err)
		}
		if list == nil {
			list = &metav1.APIResourceList{}
		}
		a.served[gvk.GroupVersion()] = list
	}
	res, found := findResource(list, gvk)
	if !found {
		return resource{}, fmt.Errorf("the API server does not serve kind %s of %s: "+
			"install its CustomResourceDefinition first, or correct apiVersion and kind", gvk.Kind, gvk.GroupVersion())
	}
	return res, nil
}

// findResource finds the kind in the resources of its group version.
func findResource(list *metav1.APIResourceList, gvk schema.GroupVersionKind) (resource, bool) {
	var res resource
	names := map[string]bool{}
	for _, served := range list.APIResources {
		names[served.Name] = true
		// A subresource ("managedclusters/status") has the kind of its parent.
		if served.Kind == gvk.Kind && !isSubresource(served.Name) {
			res.GroupVersionResource = gvk.GroupVersion().WithResource(served.Name)
			res.namespaced = served.Namespaced
		}
	}
	res.hasStatus = names[res.Resource+"/status"]
	return res, res.Resource != ""
}
