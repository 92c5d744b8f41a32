// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// listPage is the number of objects of one list request.
const listPage = 500

// item is an object of a list or of the overview: what the hub has written about it.
type item = lists.Object

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

// eachObject calls visit with the objects of a kind in namespaces, of which "" means all. A kind that is not served has none. After a namespace whose
// objects the caller may not list it goes on with the others, and returns the error Forbidden at the end.
func eachObject(ctx context.Context, from client.Reader, namespaces []string, empty runtime.Object, visit func(runtime.Object) error) error {
	var refused error
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
			if apierrors.IsForbidden(err) {
				refused = err
				break
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
	return refused
}

// namespacesShown returns the namespaces of the page: the one that the caller has chosen, or those whose Placements the caller may list.
func (v *visit) namespacesShown(ctx context.Context) ([]string, error) {
	if chosen := v.namespace(); chosen != "" {
		v.everywhere = true
		return []string{chosen}, nil
	}
	namespaces, all, err := v.hub.Namespaces(ctx, v.caller)
	if err != nil {
		return nil, err
	}
	if v.everywhere = all; all {
		return []string{metav1.NamespaceAll}, nil
	}
	v.tried = namespaces
	return namespaces, nil
}

// placements returns the Placements of namespaces. With the error Forbidden it returns those that the caller may list. Of an API that the caller may
// not list there it returns those of the chosen namespace, if there is one.
func placements(ctx context.Context, from client.Reader, namespaces []string, chosen string) ([]item, error) {
	items, refused := []item{}, error(nil)
	for _, adapter := range api.Adapters() {
		list := func(namespaces []string) error {
			return eachObject(ctx, from, namespaces, adapter.EmptyList(), func(object runtime.Object) error {
				items = append(items, placementItem(api.Read(object)))
				return nil
			})
		}
		err := list(namespaces)
		if apierrors.IsForbidden(err) && adapter != api.V1beta1 && chosen != "" {
			err = list([]string{chosen})
		}
		switch {
		case apierrors.IsForbidden(err) && adapter != api.V1beta1: // A role may have the right on the one API alone.
		case apierrors.IsForbidden(err):
			refused = err
		case err != nil:
			return nil, err
		}
	}
	lists.Sort(items)
	return items, refused
}

// placementStates are the states of Placements by their conditions, the first that holds counts.
var placementStates = []struct {
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
}

// placementItem returns what the hub has written about a Placement.
func placementItem(p *api.Placement) item {
	shown := item{
		Kind: itemPlacement, Namespace: p.Namespace, Name: p.Name, State: stateNew, Link: placementLink(p), Wanted: p.Wanted,
		Sets: p.ClusterSets, Labels: p.Labels,
	}
	shown.Selected = selectedIn(p)
	if p.API != api.V1beta1 {
		shown.API = p.API.Kind().Version
	}
	for _, each := range placementStates {
		condition := meta.FindStatusCondition(p.Status.Conditions, each.condition)
		if condition == nil || condition.Status != each.status {
			continue
		}
		shown.State, shown.Tone, shown.Since = each.state, each.tone, condition.LastTransitionTime.Time
		if shown.NeedsAttention() {
			shown.Message, shown.Cause = condition.Message, placementCause(condition)
		}
		break
	}
	return shown
}

// selectedIn returns the number of selected clusters that the status of a Placement says. That of v1alpha1 has it in the message of a condition, or
// says that all that are wanted are selected; nil if it says neither.
func selectedIn(p *api.Placement) *int {
	if p.API == api.V1beta1 {
		return ptr.To(p.Status.Selected)
	}
	satisfied := meta.FindStatusCondition(p.Status.Conditions, placement.ConditionSatisfied)
	if satisfied == nil {
		return nil
	}
	selected, said := placement.SelectedIn(satisfied.Message)
	switch {
	case said:
		return &selected
	case satisfied.Status == metav1.ConditionTrue && p.Wanted != nil:
		return ptr.To(int(*p.Wanted))
	default:
		return nil
	}
}

// countSelected counts the clusters in the decisions of the Placements that the page shows and whose status does not say their number: the status of
// v1alpha1 has conditions alone, and that of a satisfied Placement without a number of clusters names none. Decisions that the caller may not list
// leave the number unknown. Without such a Placement nothing is read.
func (v *visit) countSelected(ctx context.Context, items []item) error {
	unknown := map[types.NamespacedName]*item{}
	var namespaces []string
	for i := range items {
		each := &items[i]
		if each.Selected != nil || v.namespace() != "" && v.namespace() != each.Namespace {
			continue
		}
		unknown[types.NamespacedName{Namespace: each.Namespace, Name: each.Name}] = each
		namespaces = append(namespaces, each.Namespace)
	}
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	if len(namespaces) > 0 && v.namespace() == "" && v.everywhere {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		decided, err := decisionsV1alpha1(ctx, v.reader(), namespace)
		if apierrors.IsForbidden(err) {
			continue
		}
		if err != nil {
			return err
		}
		for name, each := range unknown {
			if namespace == metav1.NamespaceAll || namespace == name.Namespace {
				each.Selected = new(len(decided[name]))
			}
		}
	}
	return nil
}

// decisionsV1alpha1 returns the clusters in the decisions of each Placement of v1alpha1 in a namespace, or in all if it is empty.
func decisionsV1alpha1(ctx context.Context, from client.Reader, namespace string) (map[types.NamespacedName]map[string]bool, error) {
	codec, decided := api.V1alpha1.Codec(), map[types.NamespacedName]map[string]bool{}
	err := eachObject(ctx, from, []string{namespace}, codec.EmptyList(), func(object runtime.Object) error {
		page := codec.Read(object)
		if page == nil {
			return nil
		}
		of := types.NamespacedName{Namespace: page.Namespace, Name: codec.Placement(page)}
		if decided[of] == nil {
			decided[of] = map[string]bool{}
		}
		for _, decision := range page.Decisions { // A cluster that moves to another page is in both for a moment.
			decided[of][decision.Cluster] = true
		}
		return nil
	})
	return decided, err
}

// valuesOf finds the values of a requirement in a reason.
var valuesOf = regexp.MustCompile(`\[[^\]]*\]`)

// placementCause returns the most frequent reason that a condition names for clusters that are not selected (docs/spec/differences.md E2), or the
// reason of the condition if it names none. Placements that ask for other values of the same label have one cause.
func placementCause(condition *metav1.Condition) string {
	if _, causes, named := strings.Cut(condition.Message, "; not selected: "); named {
		if first, _, counted := strings.Cut(causes, " ("); counted {
			return causeOf(valuesOf.ReplaceAllString(first, "[…]"))
		}
	}
	return condition.Reason
}

// placementLink returns the URL of a Placement.
func placementLink(p *api.Placement) string {
	version := ""
	if p.API != api.V1beta1 {
		version = string(p.API.Name())
	}
	return link([]string{placementsPath, p.Namespace, p.Name}, "api", version)
}

// The states of clusters.
const (
	clusterAvailable   = "Available"
	clusterUnavailable = "Unavailable"
	clusterUnknown     = "Unknown"
	clusterTerminating = "Terminating"
	clusterNotAccepted = "NotAccepted"
)

// The causes of clusters that need attention and have no condition with a reason.
const (
	causeDeleted = "Deleted"
	causeSilent  = "NoReport"
)

// clusters returns the ManagedClusters, with their sets.
func clusters(ctx context.Context, from client.Reader, sets *setIndex) ([]item, error) {
	items := []item{}
	err := eachObject(ctx, from, []string{metav1.NamespaceAll}, &clusterv1.ManagedClusterList{}, func(object runtime.Object) error {
		cluster, is := object.(*clusterv1.ManagedCluster)
		if is {
			shown := clusterItem(cluster)
			shown.Sets = sets.of(cluster.Labels)
			items = append(items, shown)
		}
		return nil
	})
	lists.Sort(items)
	return items, err
}

// clusterItem returns what the hub knows about a cluster.
func clusterItem(cluster *clusterv1.ManagedCluster) item {
	shown := item{
		Kind: itemCluster, Name: cluster.Name, Set: cluster.Labels[clusterv1beta2.ClusterSetLabel], Link: link([]string{clustersPath, cluster.Name}),
		Labels: cluster.Labels, Claims: claimsOf(cluster),
	}
	condition := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
	if condition != nil {
		shown.Since = condition.LastTransitionTime.Time
	}
	switch {
	case !cluster.DeletionTimestamp.IsZero():
		shown.State, shown.Tone, shown.Message, shown.Cause = clusterTerminating, document.Fair, "it is being deleted", causeDeleted
		shown.Since = cluster.DeletionTimestamp.Time
	case condition != nil && condition.Status == metav1.ConditionTrue:
		shown.State, shown.Tone = clusterAvailable, document.Good
	case condition != nil && condition.Status == metav1.ConditionFalse:
		shown.State, shown.Tone, shown.Message, shown.Cause = clusterUnavailable, document.Bad, condition.Message, condition.Reason
	case !cluster.Spec.HubAcceptsClient:
		shown.State, shown.Message = clusterNotAccepted, "spec.hubAcceptsClient is false"
	default:
		shown.State, shown.Tone, shown.Message, shown.Cause = clusterUnknown, document.Fair, "no agent reports whether it is available", causeSilent
	}
	return shown
}

// claimsOf returns the claims of a cluster; nil for none.
func claimsOf(cluster *clusterv1.ManagedCluster) map[string]string {
	if len(cluster.Status.ClusterClaims) == 0 {
		return nil
	}
	claims := make(map[string]string, len(cluster.Status.ClusterClaims))
	for _, claim := range cluster.Status.ClusterClaims {
		claims[claim.Name] = claim.Value
	}
	return claims
}

// requestItems returns the ClusterRequests of namespaces.
func requestItems(ctx context.Context, from client.Reader, namespaces []string) ([]item, error) {
	items := []item{}
	err := eachObject(ctx, from, namespaces, &openmcpv1alpha1.ClusterRequestList{}, func(object runtime.Object) error {
		request, is := object.(*openmcpv1alpha1.ClusterRequest)
		if !is {
			return nil
		}
		items = append(items, requestItem(request))
		return nil
	})
	lists.Sort(items)
	return items, err
}

// requestItem returns what the hub has written about a ClusterRequest.
func requestItem(request *openmcpv1alpha1.ClusterRequest) item {
	shown := item{
		Kind: itemRequest, Namespace: request.Namespace, Name: request.Name, State: string(request.Status.Status),
		Message: request.Status.Message, Labels: request.Labels,
		Link: link([]string{requestsPath, request.Namespace, request.Name}),
	}
	if changed := request.Status.LastReconcileTime; changed != nil { // It is the time of the last change of the status.
		shown.Since = changed.Time
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
	if shown.NeedsAttention() {
		shown.Message = cmp.Or(strings.TrimSpace(shown.Message), noMessage)
		shown.Cause = causeOf(shown.Message)
	}
	return shown
}
