// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/federation/controller"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// logLeftWorks logs that there are ManifestWorks of delivered objects although the controller that keeps them is off: nothing removes them, nor
// the finalizers, which keep their objects from being deleted. It asks for one of them, and only if the process still has the right.
func logLeftWorks(ctx context.Context, config *rest.Config, client kubernetes.Interface, controllers system.Options) {
	enabled, err := controllers.Enabled()
	if err != nil || slices.Contains(enabled, controller.Objects) {
		return // That controller logs what is left of kinds.
	}
	left, err := leftWork(ctx, config, client)
	switch {
	case err != nil:
		klog.FromContext(ctx).Error(err, "It is not known whether ManifestWorks of delivered objects are left")
	case left != "":
		klog.FromContext(ctx).Info("The controller is off, but there are ManifestWorks of objects that it delivered; they and their objects keep "+
			"their finalizers. Enable it, or remove both as docs/federation.md says under \"Fewer kinds, or none\" and docs/uninstall.md",
			"controller", controller.Objects, "manifestWork", left, "finalizer", federation.Finalizer)
	}
}

// leftWork returns the name of a ManifestWork of a delivered object; empty if there is none, or if the process may not know.
func leftWork(ctx context.Context, config *rest.Config, client kubernetes.Interface) (string, error) {
	resource := schema.GroupVersion(workv1.GroupVersion).WithResource("manifestworks")
	if allowed, err := mayDo(ctx, client, right{verb: "list", group: resource.Group, resource: resource.Resource}); err != nil || !allowed {
		return "", err
	}
	config = rest.CopyConfig(config)
	config.Timeout = RequestTimeout
	reader, err := metadata.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	list, err := reader.Resource(resource).List(ctx, metav1.ListOptions{LabelSelector: federation.ManagedLabel + "=true", Limit: 1})
	switch {
	case apierrors.IsNotFound(err): // The API server does not serve the resource.
		return "", nil
	case err != nil:
		return "", fmt.Errorf("listing ManifestWorks: %w", err)
	case len(list.Items) == 0:
		return "", nil
	default:
		return klog.KObj(&list.Items[0]).String(), nil
	}
}
