// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// leftObjects is how many objects of a resource are looked at. Tenants create such objects, and must not delay the start of the hub.
const leftObjects = 500

// logLeftFinalizers logs each system of which no controller is enabled and whose finalizers objects still have: nothing removes them, so that these
// objects cannot be deleted. It asks for the resources of the system alone, of which the process still has the right to list.
func logLeftFinalizers(ctx context.Context, config *rest.Config, client kubernetes.Interface, controllers system.Options) {
	enabled, err := controllers.Enabled()
	if err != nil {
		return // The caller has reported it.
	}
	for _, entry := range controllers.Systems() {
		isOn := func(c systems.Controller) bool { return slices.Contains(enabled, c.Name) }
		if entry.Name == "" || slices.ContainsFunc(entry.Controllers, isOn) {
			continue
		}
		objects, finalizers, err := leftFinalizers(ctx, config, client, entry)
		switch {
		case err != nil:
			klog.FromContext(ctx).Error(err, "It is not known whether objects have finalizers of a system that is off", "system", entry.Name)
		case objects > 0:
			klog.FromContext(ctx).Info("The system is off, but objects have its finalizers, and cannot be deleted. Turn it on, or release them with "+
				"`placement uninstall --release-finalizers`: docs/uninstall.md", "system", entry.Name, "objects", objects, "finalizers", finalizers)
		}
	}
}

// leftFinalizers returns the number of objects that have finalizers of a system, among the first of each resource, and these finalizers.
func leftFinalizers(
	ctx context.Context, config *rest.Config, client kubernetes.Interface, entry systems.Entry,
) (objects int, finalizers []string, err error) {
	config = rest.CopyConfig(config)
	config.Timeout = RequestTimeout
	reader, err := metadata.NewForConfig(config)
	if err != nil {
		return 0, nil, fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	found := map[string]bool{}
	for _, resource := range resourcesOf(entry) {
		err := eachListed(ctx, reader, client, resource, func(object *metav1.PartialObjectMetadata) {
			names := finalizersOf(entry, object)
			if len(names) > 0 {
				objects++
			}
			for _, name := range names {
				found[name] = true
			}
		})
		if err != nil {
			return 0, nil, err
		}
	}
	return objects, slices.Sorted(maps.Keys(found)), nil
}

// resourcesOf returns the resources whose objects may have finalizers of a system, as far as they are known.
func resourcesOf(entry systems.Entry) []schema.GroupVersionResource {
	var resources []schema.GroupVersionResource
	for _, finalizer := range entry.Finalizers {
		if !finalizer.Resource.Empty() && !slices.Contains(resources, finalizer.Resource) {
			resources = append(resources, finalizer.Resource)
		}
	}
	return resources
}

// finalizersOf returns the finalizers of a system that an object has.
func finalizersOf(entry systems.Entry, object *metav1.PartialObjectMetadata) []string {
	var names []string
	for _, finalizer := range entry.Finalizers {
		if len(finalizer.In(object.Finalizers)) > 0 {
			names = append(names, finalizer.String())
		}
	}
	return names
}

// eachListed calls a function with the first objects of a resource; with none if the process may not list them.
func eachListed(
	ctx context.Context, reader metadata.Interface, client kubernetes.Interface, resource schema.GroupVersionResource,
	call func(*metav1.PartialObjectMetadata),
) error {
	allowed, err := mayDo(ctx, client, right{verb: "list", group: resource.Group, resource: resource.Resource})
	if err != nil || !allowed {
		return err
	}
	first, err := reader.Resource(resource).List(ctx, metav1.ListOptions{Limit: leftObjects})
	if apierrors.IsNotFound(err) { // The API server does not serve the resource.
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing %s: %w", resource.GroupResource(), err)
	}
	for i := range first.Items {
		call(&first.Items[i])
	}
	return nil
}
