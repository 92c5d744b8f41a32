// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

const (
	// listPage is the number of objects of one list request.
	listPage = 500
	// maxWorkPages bounds the ManifestWorks that one page of the dashboard reads, of which a large fleet has very many.
	maxWorkPages = 8
)

// item is an object of an overview: what the hub has written about it.
type item struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// API is the version of a Placement that is not v1beta1.
	API     string        `json:"api,omitempty"`
	State   string        `json:"state"`
	Tone    document.Tone `json:"-"`
	Message string        `json:"message,omitempty"`
	Link    string        `json:"-"`
	// Selected is the number of clusters in the decisions of a Placement, if its status has it.
	Selected *int `json:"selected,omitempty"`
	// Set is that of the label of a cluster.
	Set string `json:"set,omitempty"`
}

// The kinds of items.
const (
	itemPlacement = "Placement"
	itemCluster   = "ManagedCluster"
	itemRequest   = "ClusterRequest"
	itemDelivery  = "Delivery"
)

// The states of Placements.
const (
	stateMisconfigured = "Misconfigured"
	stateHeld          = "RemovalHeld"
	statePostponed     = "RemovalPostponed"
	stateUnsatisfied   = "Unsatisfied"
	stateNotable       = "Notable"
	stateSatisfied     = "Satisfied"
	stateNew           = "New"
)

// needsAttention reports whether a person may have something to do.
func (i item) needsAttention() bool { return i.Tone == document.Bad || i.Tone == document.Fair }

// eachObject calls visit with the objects of a kind in namespaces, of which "" means all. A kind that is not served has none.
func eachObject(ctx context.Context, from client.Reader, namespaces []string, empty runtime.Object, visit func(runtime.Object) error) error {
	for _, namespace := range namespaces {
		for next, first := "", true; first || next != ""; first = false {
			list, is := empty.DeepCopyObject().(client.ObjectList)
			if !is {
				return fmt.Errorf("%T is no list", empty)
			}
			err := from.List(ctx, list, client.InNamespace(namespace), client.Limit(listPage), client.Continue(next))
			if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err //nolint:wrapcheck // Its kind decides what the caller is told.
			}
			if err := meta.EachListItem(list, visit); err != nil {
				return fmt.Errorf("reading a list: %w", err)
			}
			next = list.GetContinue()
		}
	}
	return nil
}

// namespacesShown returns the namespaces of the page: the one that the caller has chosen, or those whose Placements the caller may list.
func (v *visit) namespacesShown(ctx context.Context) ([]string, error) {
	if chosen := v.namespace(); chosen != "" {
		return []string{chosen}, nil
	}
	namespaces, all, err := v.hub.Namespaces(ctx, v.caller)
	if err != nil {
		return nil, err
	}
	if all {
		return []string{metav1.NamespaceAll}, nil
	}
	return namespaces, nil
}

// placements returns the Placements of namespaces.
func placements(ctx context.Context, from client.Reader, namespaces []string) ([]item, error) {
	var items []item
	for _, adapter := range api.Adapters() {
		err := eachObject(ctx, from, namespaces, adapter.EmptyList(), func(object runtime.Object) error {
			items = append(items, placementItem(api.Read(object)))
			return nil
		})
		if apierrors.IsForbidden(err) && adapter != api.V1beta1 {
			continue // A role may have the right on the one API alone.
		}
		if err != nil {
			return nil, err
		}
	}
	sortItems(items)
	return items, nil
}

// sortItems sorts items by namespace and name.
func sortItems(items []item) {
	slices.SortFunc(items, func(a, b item) int { return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)) })
}

// placementItem returns what the hub has written about a Placement.
func placementItem(p *api.Placement) item {
	shown := item{
		Kind: itemPlacement, Namespace: p.Namespace, Name: p.Name, State: stateNew, Link: placementLink(p),
	}
	if p.API == api.V1beta1 { // The status of the other API has no number.
		shown.Selected = ptr.To(p.Status.Selected)
	} else {
		shown.API = p.API.Kind().Version
	}
	for _, each := range []struct {
		condition string
		status    metav1.ConditionStatus
		state     string
		tone      document.Tone
	}{
		{placement.ConditionMisconfigured, metav1.ConditionTrue, stateMisconfigured, document.Bad},
		{removalbudget.Condition, metav1.ConditionTrue, stateHeld, document.Fair},
		{placement.ConditionRemovalPostponed, metav1.ConditionTrue, statePostponed, document.Fair},
		{placement.ConditionSatisfied, metav1.ConditionFalse, stateUnsatisfied, document.Bad},
		{placement.ConditionSpreadSatisfied, metav1.ConditionFalse, stateNotable, document.Fair},
		{placement.ConditionGroupsListed, metav1.ConditionFalse, stateNotable, document.Fair},
		{placement.ConditionProfilesFound, metav1.ConditionFalse, stateNotable, document.Fair},
		{placement.ConditionSatisfied, metav1.ConditionTrue, stateSatisfied, document.Good},
	} {
		condition := meta.FindStatusCondition(p.Status.Conditions, each.condition)
		if condition != nil && condition.Status == each.status {
			shown.State, shown.Tone = each.state, each.tone
			if shown.needsAttention() {
				shown.Message = condition.Message
			}
			return shown
		}
	}
	return shown
}

// placementLink returns the URL of a Placement.
func placementLink(p *api.Placement) string {
	version := ""
	if p.API != api.V1beta1 {
		version = string(p.API.Name())
	}
	return link([]string{"placements", p.Namespace, p.Name}, "api", version)
}

// The states of clusters.
const (
	clusterAvailable   = "Available"
	clusterUnavailable = "Unavailable"
	clusterUnknown     = "Unknown"
	clusterTerminating = "Terminating"
	clusterNotAccepted = "NotAccepted"
)

// clusters returns the ManagedClusters.
func clusters(ctx context.Context, from client.Reader) ([]item, error) {
	var items []item
	err := eachObject(ctx, from, []string{metav1.NamespaceAll}, &clusterv1.ManagedClusterList{}, func(object runtime.Object) error {
		cluster, is := object.(*clusterv1.ManagedCluster)
		if is {
			items = append(items, clusterItem(cluster))
		}
		return nil
	})
	sortItems(items)
	return items, err
}

// clusterItem returns what the hub knows about a cluster.
func clusterItem(cluster *clusterv1.ManagedCluster) item {
	shown := item{
		Kind: itemCluster, Name: cluster.Name, Set: cluster.Labels[clusterv1beta2.ClusterSetLabel], Link: link([]string{"clusters", cluster.Name}),
	}
	condition := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
	switch {
	case !cluster.DeletionTimestamp.IsZero():
		shown.State, shown.Tone, shown.Message = clusterTerminating, document.Fair, "it is being deleted"
	case condition != nil && condition.Status == metav1.ConditionTrue:
		shown.State, shown.Tone = clusterAvailable, document.Good
	case condition != nil && condition.Status == metav1.ConditionFalse:
		shown.State, shown.Tone, shown.Message = clusterUnavailable, document.Bad, condition.Message
	case !cluster.Spec.HubAcceptsClient:
		shown.State, shown.Message = clusterNotAccepted, "spec.hubAcceptsClient is false"
	default:
		shown.State, shown.Tone, shown.Message = clusterUnknown, document.Fair, "no agent reports whether it is available"
	}
	return shown
}

// requestItems returns the ClusterRequests of namespaces.
func requestItems(ctx context.Context, from client.Reader, namespaces []string) ([]item, error) {
	var items []item
	err := eachObject(ctx, from, namespaces, &openmcpv1alpha1.ClusterRequestList{}, func(object runtime.Object) error {
		request, is := object.(*openmcpv1alpha1.ClusterRequest)
		if !is {
			return nil
		}
		shown := item{
			Kind: itemRequest, Namespace: request.Namespace, Name: request.Name, State: string(request.Status.Status),
			Message: request.Status.Message,
			Link:    link([]string{"requests", request.Namespace, request.Name}),
		}
		switch request.Status.Status {
		case openmcpv1alpha1.RequestGranted:
			shown.Tone = document.Good
		case openmcpv1alpha1.RequestDenied:
			shown.Tone = document.Bad
		case openmcpv1alpha1.RequestPending:
			shown.Tone = document.Fair
		default:
			shown.State = stateNew
		}
		items = append(items, shown)
		return nil
	})
	sortItems(items)
	return items, err
}

// deliveryFailures returns the copies of delivered objects that an agent could not apply, or that are not available, for users who may list
// ManifestWorks of all clusters. Of a large fleet it reads the first ManifestWorks alone: the pages of namespaces have all objects.
func deliveryFailures(ctx context.Context, from client.Reader, delivered []federation.FederatedKind, namespace string) ([]item, error) {
	var items []item
	list := &workv1.ManifestWorkList{}
	for first, pages := true, 0; (first || list.Continue != "") && pages < maxWorkPages; first, pages = false, pages+1 {
		err := from.List(ctx, list, client.MatchingLabels{federation.ManagedLabel: "true"}, client.Limit(listPage), client.Continue(list.Continue))
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err //nolint:wrapcheck // Its kind decides what the caller is told.
		}
		for i := range list.Items {
			if shown, failed := deliveryItem(&list.Items[i], delivered); failed && (namespace == "" || shown.Namespace == namespace) {
				items = append(items, shown)
			}
		}
	}
	sortItems(items)
	return items, nil
}

// deliveryItem returns the object of a work that the hub has written, and whether the agent has reported a failure.
func deliveryItem(work *workv1.ManifestWork, delivered []federation.FederatedKind) (item, bool) {
	kind, name, valid := federation.ParseObject(work.Annotations[federation.ObjectAnnotation])
	owned := valid && slices.ContainsFunc(delivered, func(known federation.FederatedKind) bool {
		return known.GroupKind().String() == kind && federation.Identity{Kind: known, NamespacedName: name}.Owns(work)
	})
	if !owned {
		return item{}, false
	}
	shown := item{
		Kind: itemDelivery, Namespace: name.Namespace, Name: kind + " " + name.Name + " on " + work.Namespace, Tone: document.Bad,
		Link: link([]string{"objects", name.Namespace, kind, name.Name}, "cluster", work.Namespace),
	}
	for _, each := range []struct{ condition, state string }{{workv1.WorkApplied, "NotApplied"}, {workv1.WorkAvailable, "NotAvailable"}} {
		condition := meta.FindStatusCondition(work.Status.Conditions, each.condition)
		if condition != nil && condition.Status == metav1.ConditionFalse {
			shown.State, shown.Message = each.state, condition.Message
			return shown, true
		}
	}
	return item{}, false
}
