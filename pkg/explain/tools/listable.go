// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// ListableKinds returns those of the kinds that the hub serves and whose objects in a namespace the user may list.
func ListableKinds(ctx context.Context, hub client.Reader, namespace string, kinds []schema.GroupVersionKind) ([]endpoint.KindRef, error) {
	var listable []endpoint.KindRef
	for _, kind := range kinds {
		page := &metav1.PartialObjectMetadataList{}
		page.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		switch err := hub.List(ctx, page, client.InNamespace(namespace), client.Limit(1)); {
		case err == nil:
			listable = append(listable, endpoint.KindRef{Group: kind.Group, Kind: kind.Kind})
		case !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err):
			return nil, fmt.Errorf("finding out what this user may list: %w", err)
		}
	}
	return listable, nil
}

// AddListable adds to a question about the objects of files what the user may list: the kinds that are delivered, and for policies the workloads.
func AddListable(
	ctx context.Context, hub client.Reader, given *explain.State, delivered []federation.FederatedKind, question *endpoint.Question,
) (err error) {
	kinds, policies := federated.KindsOf(delivered), len(given.Pods.Policies) > 0
	if policies {
		kinds = pods.AddKinds(kinds)
	}
	if question.Kinds, err = ListableKinds(ctx, hub, question.Namespace, kinds); err != nil || !policies {
		return err
	}
	question.Workloads, question.WorkloadsLeftOut, err = workloadsToCompare(ctx, hub, question.Namespace, question.Kinds)
	return err
}

// workloadsToCompare returns the workloads in a namespace of those of the kinds, as many as a question may name, and how many more there are. What
// belongs to another workload is not among them, because policies change it through that.
func workloadsToCompare(
	ctx context.Context, hub client.Reader, namespace string, kinds []endpoint.KindRef,
) (workloads []endpoint.Object, leftOut int, err error) {
	for _, named := range kinds {
		kind, known := pods.KindOfGroup(named.GroupKind())
		if !known {
			continue
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := hub.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, 0, fmt.Errorf("listing the %s of namespace %s: %w", kind.Resource, namespace, err)
		}
		for i := range list.Items {
			switch workload := &list.Items[i]; {
			case !pods.IsAdmitted(workload):
			case len(workloads) == endpoint.MaxWorkloads:
				leftOut++
			default:
				workloads = append(workloads, endpoint.Object{Group: kind.Group, Kind: kind.Kind, Name: workload.Name})
			}
		}
	}
	return workloads, leftOut, nil
}
