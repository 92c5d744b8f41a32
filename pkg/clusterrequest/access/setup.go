// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

const (
	// Name is the name of the controller.
	Name = "clusterrequest/access"
	// FieldManager is the field manager of all writes of this controller.
	FieldManager = "placement-hub"

	// requestIndex and clusterIndex find AccessRequests by the <namespace>/<name> of their ClusterRequest and of their Cluster.
	requestIndex = "access.request"
	clusterIndex = "access.cluster"
)

// Setup adds the controller to a manager.
func Setup(mgr manager.Manager, settings queue.Settings) error {
	for index, keys := range indexes {
		extract := func(object client.Object) []string {
			access, isAccess := object.(*openmcpv1alpha1.AccessRequest)
			if !isAccess {
				return nil
			}
			return keys(access)
		}
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), &openmcpv1alpha1.AccessRequest{}, index, extract); err != nil {
			return fmt.Errorf("index AccessRequests by %s: %w", index, err)
		}
	}

	recorder, err := eventwriter.Add(mgr, Name, func() bool { return false })
	if err != nil {
		return fmt.Errorf("writing events of AccessRequests: %w", err)
	}
	live, err := objects.NewConfirmed(mgr)
	if err != nil {
		return err
	}

	r := &reconciler{
		cached: mgr.GetCache(), live: live, writer: client.WithFieldOwner(mgr.GetClient(), FieldManager), recorder: recorder,
		clock: settings.Clock, rights: newRecentRights(settings.Clock),
		reviews: newReviews(settings.Clock), conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}

	by := func(index string) handler.EventHandler {
		return queue.Indexed[openmcpv1alpha1.AccessRequestList](r.cached, index)
	}

	rights, err := rightsSources(mgr, rightsChanges(r.cached, r.rights, r.reviews))
	if err != nil {
		return err
	}

	blueprint := builder.ControllerManagedBy(mgr).
		Named(Name).
		For(&openmcpv1alpha1.AccessRequest{}). // With its status and labels, which others may change.
		Watches(&openmcpv1alpha1.ClusterRequest{}, by(requestIndex)).
		Watches(&openmcpv1alpha1.ClusterRequestGrant{}, by(requestIndex)). // It has the name of its request.
		Watches(&openmcpv1alpha1.Cluster{}, by(clusterIndex)).
		Watches(&openmcpv1alpha1.ClusterProvider{}, accessChanges(r.cached))
	for _, source := range rights {
		blueprint = blueprint.WatchesRawSource(source)
	}
	return blueprint.WithOptions(queue.Options[reconcile.Request](settings)).Complete(r) //nolint:wrapcheck // Named by the caller.
}

// indexes are the indexes of AccessRequests.
var indexes = map[string]func(*openmcpv1alpha1.AccessRequest) []string{
	requestIndex: requestKeys, clusterIndex: clusterKeys, rightsIndex: rightsKeys,
}

// accessChanges enqueues all AccessRequests when a ClusterProvider begins or ends to give access.
func accessChanges(cached client.Reader) handler.EventHandler {
	all := func(ctx context.Context) []reconcile.Request {
		list := &openmcpv1alpha1.AccessRequestList{}
		if err := cached.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			klog.FromContext(ctx).Error(err, "AccessRequests could not be listed") // The cache is stopping.
			return nil
		}
		requests := make([]reconcile.Request, len(list.Items))
		for i := range list.Items {
			requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
		}
		return requests
	}

	return objects.Handler(func(ctx context.Context, before, after *openmcpv1alpha1.ClusterProvider, _ bool) []reconcile.Request {
		if gave := before != nil && before.Spec.Access; gave == after.Spec.Access {
			return nil
		}
		return all(ctx)
	}, func(ctx context.Context, last *openmcpv1alpha1.ClusterProvider) []reconcile.Request {
		if !last.Spec.Access {
			return nil
		}
		return all(ctx)
	})
}

func requestKeys(access *openmcpv1alpha1.AccessRequest) []string {
	if key, isRequest := clusterrequest.AccessReference(access); isRequest {
		return []string{key.String()}
	}
	return nil
}

func clusterKeys(access *openmcpv1alpha1.AccessRequest) []string {
	var keys []string
	if key, isRequest := clusterrequest.AccessReference(access); !isRequest {
		keys = append(keys, key.String())
	}
	if ref := access.Status.ClusterRef; ref != nil {
		keys = append(keys, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}.String())
	}
	return keys
}
