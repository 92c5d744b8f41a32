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
	// maxWorkPages bounds the lists of ManifestWorks that a page of the dashboard reads, of which a large fleet has very many.
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
				return err //nolint:wrapcheck // The status code of the response depends on its type.
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
	items := []item{}
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
	items := []item{}
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
	items := []item{}
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

// deliveries are copies of delivered objects.
type deliveries struct {
	// Items are what the agents have reported, the failures first.
	Items []item
	// Cut reports that there are more ManifestWorks than a page reads.
	Cut bool
}

// WorksRead is the number of ManifestWorks that a page reads.
func (deliveries) WorksRead() int { return maxWorkPages * listPage }

// failures returns the copies that an agent could not apply, or that are not available.
func (d deliveries) failures() deliveries {
	d.Items = slices.DeleteFunc(d.Items, func(each item) bool { return !each.needsAttention() })
	return d
}

// deliveriesTo returns the copies of delivered objects on a cluster, or on all if it is empty, of a namespace, or of all if it is empty. The
// caller needs list on ManifestWorks there.
func (v *visit) deliveriesTo(ctx context.Context, cluster, namespace string) (deliveries, error) {
	found, list, from := deliveries{Items: []item{}}, &workv1.ManifestWorkList{}, v.reader()
	for pages := 0; pages == 0 || list.Continue != ""; pages++ {
		if found.Cut = pages == maxWorkPages; found.Cut {
			break
		}
		err := from.List(ctx, list, client.InNamespace(cluster), client.MatchingLabels{federation.ManagedLabel: "true"}, client.Limit(listPage),
			client.Continue(list.Continue))
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return found, nil
		}
		if err != nil {
			return found, err //nolint:wrapcheck // The status code of the response depends on its type.
		}
		for i := range list.Items {
			shown, owned := deliveryItem(&list.Items[i], v.hub.Settings().Delivered)
			if owned && (namespace == "" || shown.Namespace == namespace) {
				found.Items = append(found.Items, shown)
			}
		}
	}
	slices.SortFunc(found.Items, func(a, b item) int {
		return cmp.Or(cmp.Compare(severity(a.Tone), severity(b.Tone)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return found, nil
}

// deliveryItem returns what the agent has reported about the object of a work; false if the hub has not written the work.
func deliveryItem(work *workv1.ManifestWork, delivered []federation.FederatedKind) (item, bool) {
	kind, name, valid := federation.ParseObject(work.Annotations[federation.ObjectAnnotation])
	owned := valid && slices.ContainsFunc(delivered, func(known federation.FederatedKind) bool {
		return known.GroupKind().String() == kind && federation.Identity{Kind: known, NamespacedName: name}.Owns(work)
	})
	if !owned {
		return item{}, false
	}
	shown := item{
		Kind: itemDelivery, Namespace: name.Namespace, Name: kind + " " + name.Name + " on " + work.Namespace, State: "Delivered",
		Link: link([]string{"objects", name.Namespace, kind, name.Name}, "cluster", work.Namespace),
	}
	for _, each := range []struct {
		condition string
		status    metav1.ConditionStatus
		state     string
		tone      document.Tone
	}{
		{workv1.WorkApplied, metav1.ConditionFalse, "NotApplied", document.Bad},
		{workv1.WorkAvailable, metav1.ConditionFalse, "NotAvailable", document.Bad},
		{workv1.WorkAvailable, metav1.ConditionTrue, "Available", document.Good},
		{workv1.WorkApplied, metav1.ConditionTrue, "Applied", document.Good},
	} {
		condition := meta.FindStatusCondition(work.Status.Conditions, each.condition)
		if condition != nil && condition.Status == each.status {
			shown.State, shown.Tone = each.state, each.tone
			if shown.needsAttention() {
				shown.Message = condition.Message
			}
			break
		}
	}
	return shown, true
}
