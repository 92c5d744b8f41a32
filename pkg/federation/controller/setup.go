// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/klog/v2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/history/recorder"
	"github.com/placement-hub/placement-hub/pkg/hub/apply"
	"github.com/placement-hub/placement-hub/pkg/hub/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Objects is the name of the controller, as --controllers takes it.
const Objects = "federation/objects"

// component is the name by which the controller sends Events.
const component = "placement-hub-federation"

// Options say what is delivered, and how.
type Options struct {
	// Kinds returns the delivered kinds.
	Kinds func(meta.RESTMapper) ([]federation.FederatedKind, error)
	// Limits are the removal limits of the hub; an annotation of an object wins over the percentage.
	Limits federation.Limits
	// Inventory is shared with the other controllers.
	Inventory *sharedinventory.Shared
	// IndexWorks is IndexWorks, which the controller and the webhook of one manager call once.
	IndexWorks func(manager.Manager, queue.Settings) error
	// History records where objects are delivered; a nil Recorder records nothing.
	History *recorder.Recorder
}

// Setup adds the controller to the manager.
func (o Options) Setup(mgr manager.Manager, settings queue.Settings) error {
	if err := o.Inventory.Connect(mgr); err != nil {
		return fmt.Errorf("preparing proofs: %w", err)
	}
	kinds, err := o.Kinds(mgr.GetRESTMapper())
	if err != nil {
		return err
	}
	shared := newState(o.Inventory, kinds, settings.Clock, settings.FormerRenewal)

	events, err := eventwriter.Add(mgr, component, shared.Queue.Busy)
	if err != nil {
		return fmt.Errorf("preparing events: %w", err)
	}
	delivered, err := objectCache(mgr)
	if err != nil {
		return err
	}

	if err := o.IndexWorks(mgr, settings); err != nil {
		return err
	}
	live, err := objects.NewLiveClient(mgr)
	if err != nil {
		return err
	}
	writes, err := apply.NewClient(mgr, apply.Options{
		FieldManager: federation.FieldManager, Recorder: events,
		Owns: map[string][]fieldpath.Path{workKind.Kind: {fieldpath.MakePathOrDie("spec")}},
	})
	if err != nil {
		return err
	}
	h := &hub{
		state: shared, client: writes, objects: delivered, live: live, clock: settings.Clock, namespaceName: settings.Namespace,
	}

	typed := queue.Options[inventory.Key](settings)
	typed.Reconciler = newReconciler(h, o.Limits, newRetries(), events)
	typed.LogConstructor = queue.Logs(mgr.GetLogger(), Objects, func(key inventory.Key) []any {
		return []any{"kind", key.GroupKind, "object", klog.KRef(key.Namespace, key.Name)}
	})

	controller, err := ctrlcontroller.NewTyped(Objects, mgr, typed)
	if err != nil {
		return fmt.Errorf("creating the controller: %w", err)
	}
	handlers := &eventHandlers{
		state: shared, cache: mgr.GetCache(), objects: delivered, live: live, elected: mgr.Elected(), recorder: events,
		formerRenewal: settings.FormerRenewal, history: o.History,
	}
	systems.OnEnd(mgr, shared.release(o.Inventory.Handle(shared.owns, handlers.state.EnqueueAffected)))
	return controller.Watch(handlers.source()) //nolint:wrapcheck // Named by the caller.
}

// IndexWorks has the ManifestWorks of an object found by their name.
func IndexWorks(mgr manager.Manager, _ queue.Settings) error {
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &workv1.ManifestWork{}, workName, func(object client.Object) []string {
		return []string{object.GetName()}
	})
	if err != nil {
		return fmt.Errorf("indexing ManifestWorks: %w", err)
	}
	return nil
}

// objectCache returns a cache of the metadata of the delivered objects. It is not that of the manager, which has the Secrets and ConfigMaps of
// the hub only.
func objectCache(mgr manager.Manager) (cache.Cache, error) {
	return objects.MetadataCache(mgr, "delivered objects", federation.MetadataAnnotations, cache.Options{})
}
