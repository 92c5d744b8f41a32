// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"fmt"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// spoiltFor is how long an object stays unreadable.
const spoiltFor = 300 * time.Millisecond

// admitUnreadable takes the policies away that refuse unreadable objects.
func (a *arena) admitUnreadable(ctx context.Context) error {
	policies := &admissionregistrationv1.ValidatingAdmissionPolicyBindingList{}
	if err := a.admin.List(ctx, policies); err != nil {
		return fmt.Errorf("listing the policies: %w", err)
	}

	for i := range policies.Items {
		if !strings.Contains(policies.Items[i].Name, "readable") {
			continue
		}
		if err := a.admin.Delete(ctx, &policies.Items[i]); err != nil {
			return fmt.Errorf("taking the policy %s away: %w", policies.Items[i].Name, err)
		}
	}
	return nil
}

// spoil makes an object unreadable for a moment, by a merge patch of which another one takes the effect back.
func (h *arenaHub) spoil(ctx context.Context, object *unstructured.Unstructured, part part, patch, mend string) error {
	h.noted("%s %s cannot be read for a moment", object.GetKind(), object.GetName())
	for _, text := range []string{patch, mend} {
		merge := client.RawPatch("application/merge-patch+json", []byte(text))

		err := persist(ctx, func() error {
			if part == status {
				return h.admin.Status().Patch(ctx, object.DeepCopy(), merge)
			}
			return h.admin.Patch(ctx, object.DeepCopy(), merge)
		})
		if err != nil {
			return fmt.Errorf("patching %s %s: %w", object.GetKind(), object.GetName(), err)
		}

		if err := wait(ctx, spoiltFor); err != nil {
			return err
		}
	}

	return nil
}

func unstructuredOf(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

func (h *arenaHub) spoilCluster(ctx context.Context) error {
	object := unstructuredOf(schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster"), "", oneOf(h.Rand, h.clusters...))
	return h.spoil(ctx, object, status, `{"status":{"allocatable":{"cpu":"1e1.5"}}}`, `{"status":{"allocatable":null}}`)
}

func (h *arenaHub) spoilScore(ctx context.Context) error {
	cluster := h.clusters[h.IntN(min(scoredClusters, len(h.clusters)))]
	object := unstructuredOf(schema.GroupVersion(clusterv1alpha1.GroupVersion).WithKind("AddOnPlacementScore"), cluster, scoreObject)
	return h.spoil(ctx, object, status, `{"status":{"validUntil":"2037-01-01t00:00:00z"}}`, `{"status":{"validUntil":null}}`)
}

func (h *arenaHub) spoilPlacement(ctx context.Context) error {
	name, found := h.pick()
	if !found {
		return nil
	}
	object := unstructuredOf(schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind("Placement"), h.namespace, name)
	groups := `{"spec":{"decisionStrategy":{"groupStrategy":{"clustersPerDecisionGroup":%s}}}}`
	if err := h.spoil(ctx, object, spec, fmt.Sprintf(groups, "4294967296"), fmt.Sprintf(groups, `"100%"`)); err != nil {
		return err
	}
	return h.editPlacement(ctx, name, func(*clusterv1beta1.PlacementSpec) {}) // The truth takes it in.
}
