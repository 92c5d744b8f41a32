// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/apply"
	"github.com/placement-hub/placement-hub/pkg/hub/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// DefaultLeaseDuration is the validity of a Lease unless the provider says otherwise.
const DefaultLeaseDuration = time.Minute

// Settings configure the controllers of a provider.
type Settings struct {
	// Queue has the workers, the timeout and the clock.
	Queue queue.Settings
	// Name is the name of the ClusterProvider.
	Name string
	// Provider makes the clusters.
	Provider Provider
	// Config is an object of the kind that Profiles reads; nil if it reads none. Its changes publish the profiles again.
	Config client.Object
	// LeaseDuration is the validity of a Lease, in whole seconds; 0 means DefaultLeaseDuration. A third of it is the interval of renewal.
	LeaseDuration time.Duration
}

// FieldManager returns the field manager of all writes of a provider.
func FieldManager(provider string) string { return "clusterprovider-" + provider }

// Setup adds the controllers of a provider to a manager. It returns an error for a name that cannot be that of a ClusterProvider.
func Setup(mgr manager.Manager, settings Settings) error {
	if problems := validation.IsDNS1123Subdomain(settings.Name); len(problems) > 0 || len(settings.Name) > validation.LabelValueMaxLength {
		return fmt.Errorf("provider %q: it cannot be the name of a ClusterProvider: %w", settings.Name,
			errors.New("use at most 63 lower-case letters, digits, dashes and dots"))
	}
	if settings.LeaseDuration == 0 {
		settings.LeaseDuration = DefaultLeaseDuration
	}
	recorder, err := eventwriter.Add(mgr, FieldManager(settings.Name), func() bool { return false })
	if err != nil {
		return fmt.Errorf("preparing events of %s: %w", settings.Name, err)
	}
	writer, err := apply.NewClient(mgr, apply.Options{
		FieldManager: FieldManager(settings.Name), Recorder: recorder, Stamp: "lastReconcileTime",
		Owns: map[string][]fieldpath.Path{
			"Cluster":         {fieldpath.MakePathOrDie("status", "phase"), fieldpath.MakePathOrDie("status", "endpoints")},
			"ClusterProvider": {fieldpath.MakePathOrDie("status")},
		},
	})
	if err != nil {
		return err
	}
	if err := setupClusters(mgr, settings, writer); err != nil {
		return fmt.Errorf("controller of the Clusters of %s: %w", settings.Name, err)
	}

	if err := setupProfiles(mgr, settings, writer); err != nil {
		return fmt.Errorf("controller of the profiles of %s: %w", settings.Name, err)
	}
	return nil
}

func setupClusters(mgr manager.Manager, settings Settings, writer client.Client) error {
	live, err := objects.NewConfirmed(mgr)
	if err != nil {
		return err
	}
	r := &clusterReconciler{
		name: settings.Name, provider: settings.Provider, cached: mgr.GetCache(), live: live, writer: writer,
		clock: settings.Queue.Clock, conflicts: queue.NewConflictBackoff[reconcile.Request](),
		leases: newLeases(settings, mgr.GetAPIReader(), writer),
	}
	own := predicate.NewPredicateFuncs(func(object client.Object) bool {
		cluster, is := object.(*openmcpv1alpha1.Cluster)
		return is && cluster.Spec.ClusterProviderRef.Name == settings.Name
	})
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named("clusters-"+settings.Name).
							For(&openmcpv1alpha1.Cluster{}, builder.WithPredicates(own)).
							Watches(&openmcpv1alpha1.ClusterProvider{}, movedLeases(mgr.GetCache(), settings.Name)).
							WithOptions(queue.Options[reconcile.Request](settings.Queue)).
							Complete(r)
}

// movedLeases enqueues the Clusters of a provider when its ClusterProvider names another namespace for Leases.
func movedLeases(clusters client.Reader, name string) handler.EventHandler {
	return handler.Funcs{UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		former, isProvider := e.ObjectOld.(*openmcpv1alpha1.ClusterProvider)
		current, isProviderToo := e.ObjectNew.(*openmcpv1alpha1.ClusterProvider)
		if !isProvider || !isProviderToo || current.Name != name || former.Spec.LeaseNamespace == current.Spec.LeaseNamespace {
			return
		}
		list := &openmcpv1alpha1.ClusterList{}
		if err := clusters.List(ctx, list); err != nil {
			klog.FromContext(ctx).Error(err, "Clusters could not be listed") // The cache is stopping.
			return
		}

		for i := range list.Items {
			if list.Items[i].Spec.ClusterProviderRef.Name == name {
				q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
			}
		}
	}}
}

func setupProfiles(mgr manager.Manager, settings Settings, writer client.Client) error {
	r := &profileReconciler{
		provider: settings.Provider, cached: mgr.GetCache(), clock: settings.Queue.Clock,
		writer: writer, conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}
	own := predicate.NewPredicateFuncs(func(object client.Object) bool { return object.GetName() == settings.Name })
	profiles := builder.ControllerManagedBy(mgr).
		Named("profiles-"+settings.Name).
		For(&openmcpv1alpha1.ClusterProvider{}, builder.WithPredicates(own)).
		WithOptions(queue.SingleWorkerOptions[reconcile.Request](settings.Queue))

	if settings.Config != nil {
		profiles = profiles.Watches(settings.Config, handler.EnqueueRequestsFromMapFunc(
			func(context.Context, client.Object) []reconcile.Request {
				return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: settings.Name}}}
			}))
	}
	return profiles.Complete(r) //nolint:wrapcheck // Named by the caller.
}
