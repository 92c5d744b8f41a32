// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/apply"
	"github.com/placement-hub/placement-hub/pkg/hub/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

const (
	// Name is the name of the controller, as --controllers takes it.
	Name = "clusters-inventory"
	// FieldManager is the field manager of all writes of this controller.
	FieldManager = "placement-hub-clusters-inventory"
	// component is the name by which the controller sends Events.
	component = "placement-hub-clusters-inventory"
)

// Options say how ManagedClusters are made and withdrawn.
type Options struct {
	// DrainTimeout is how long a ManagedCluster waits for its decisions and works before it is deleted. Zero stands for
	// clusterrequest.DefaultDrainTimeout.
	DrainTimeout time.Duration
	// DefaultSet is the ManagedClusterSet of Clusters that name none. Empty stands for clusterrequest.DefaultClusterSet. SetConfigMap has the
	// same name for an admission policy.
	DefaultSet string
}

// Setup adds the controller to the manager.
func (o Options) Setup(mgr manager.Manager, settings queue.Settings) error {
	formats, err := decisionFormats(mgr)
	if err != nil {
		return err
	}
	recorder, err := eventwriter.Add(mgr, component, func() bool { return false })
	if err != nil {
		return fmt.Errorf("preparing events: %w", err)
	}

	objects, err := objectCache(mgr)
	if err != nil {
		return err
	}
	if err := indexClusters(context.Background(), mgr); err != nil {
		return err
	}

	writes, err := apply.NewClient(mgr, apply.Options{
		FieldManager: FieldManager, Recorder: recorder,
		Owns: map[string][]fieldpath.Path{"Cluster": {fieldpath.MakePathOrDie("status", "managedCluster")}},
	})
	if err != nil {
		return err
	}
	r := &reconciler{
		client: writes, live: mgr.GetAPIReader(), objects: objects, heartbeats: newHeartbeats(),
		formats: formats, recorder: recorder, clock: settings.Clock, drainTimeout: cmp.Or(o.DrainTimeout, clusterrequest.DefaultDrainTimeout),
		conflicts: queue.NewConflictBackoff[reconcile.Request](), defaultSet: cmp.Or(o.DefaultSet, clusterrequest.DefaultClusterSet),
	}
	if err := addSetCheck(mgr, settings.Namespace, r.defaultSet); err != nil {
		return err
	}
	handlers := &eventHandlers{cache: mgr.GetCache(), heartbeats: r.heartbeats, clock: settings.Clock}

	blueprint := builder.ControllerManagedBy(mgr).
		Named(Name).
		For(&openmcpv1alpha1.Cluster{}).
		Watches(&openmcpv1alpha1.ClusterProvider{}, handlers.providers()).
		Watches(&clusterv1.ManagedCluster{}, handlers.managedClusters())
	for _, source := range handlers.sources(objects) {
		blueprint = blueprint.WatchesRawSource(source)
	}
	return blueprint.WithOptions(queue.Options[reconcile.Request](settings)).Complete(r) //nolint:wrapcheck // Named by the caller.
}

// managedClusterName indexes Clusters by the names of their ManagedClusters.
const managedClusterName = "managedClusterName"

func indexClusters(ctx context.Context, mgr manager.Manager) error {
	err := mgr.GetFieldIndexer().IndexField(ctx, &openmcpv1alpha1.Cluster{}, managedClusterName, func(object client.Object) []string {
		return []string{clusterrequest.ManagedClusterName(client.ObjectKeyFromObject(object))}
	})
	if err != nil {
		return fmt.Errorf("indexing Clusters: %w", err)
	}
	return nil
}

// decisionFormats returns the formats of the PlacementDecisions of all APIs that the hub serves.
func decisionFormats(mgr manager.Manager) ([]api.Codec, error) {
	var formats []api.Codec
	for _, adapter := range api.Adapters() {
		kind, err := apiutil.GVKForObject(adapter.Codec().Empty(), mgr.GetScheme())
		if err != nil {
			return nil, fmt.Errorf("naming the decisions of %s: %w", adapter.Name(), err)
		}
		_, err = mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		switch {
		case err == nil:
			formats = append(formats, adapter.Codec())
		case !meta.IsNoMatchError(err):
			return nil, fmt.Errorf("looking for %s of %s: %w", kind.Kind, kind.GroupVersion(), err)
		}
	}

	return formats, nil
}
