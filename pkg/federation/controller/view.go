package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// snapshot subscribes an object with its request, and returns the snapshot for its evaluation.
func (r *reconciler) snapshot(request *scheduling.Request) *inventory.Snapshot {
	r.state.Shared.Inventory.Subscribe(request.Key, request.Dependencies())

	return r.state.Shared.Inventory.SnapshotFor(request.Key)
}

// stored returns the ManifestWorks of the name that the works of an object have, with the last own writes.
func (r *reconciler) stored(ctx context.Context, key inventory.Key) ([]*workv1.ManifestWork, error) {
	cached, err := worksNamed(ctx, r.client, r.state.identity(key))
	if err != nil {
		return nil, err
	}

	return r.state.works.List(key, cached), nil
}

// existing returns what of works counts. A work that the hub has deleted is being deleted, also before the watch shows that.
func (r *reconciler) existing(p *cycle, stored []*workv1.ManifestWork) ([]federation.ExistingWork, error) {
	works, err := federation.ExistingWorksOf(r.state.identity(p.key), stored)
	if err != nil {
		return nil, fmt.Errorf("reading the works of %s: %w", r.state.identity(p.key), err)
	}

	deleted := map[string]types.UID{}

	for i, work := range stored {
		if uid, found := p.memory.deleted[work.Namespace]; found && uid == work.UID {
			works[i].Deleting, deleted[work.Namespace] = true, uid
		}
	}

	p.memory.deleted = deleted

	return works, nil
}

// decided are the decisions that an object follows, with the pages that have them.
type decided struct {
	federation.Decisions

	pages []clusterv1beta1.PlacementDecision
	// missing reports that the Placement does not exist.
	missing bool
	err     error
}

// decisions returns the decisions of the Placement that an object or its Namespace names.
func (r *reconciler) decisions(ctx context.Context, object *federation.Object, namespace *metav1.ObjectMeta) decided {
	if namespace == nil {
		return decided{}
	}

	target, err := federation.Choose(object.Meta.Annotations, namespace.Annotations)
	if err != nil || target.Placement == "" {
		return decided{} // The evaluation returns the error.
	}

	found := decisionsOf(ctx, r.client, types.NamespacedName{Namespace: namespace.Name, Name: target.Placement})
	if found.missing {
		names, err := placementNames(ctx, r.client, namespace.Name)
		found.Decisions, found.err = federation.MissingPlacement(target.Placement, names), err
	}

	return found
}

// decisionsOf returns the decisions of a Placement.
func decisionsOf(ctx context.Context, reader client.Reader, name types.NamespacedName) decided {
	placement := &clusterv1beta1.Placement{}
	list := &clusterv1beta1.PlacementDecisionList{}

	err := reader.Get(ctx, name, placement, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return decided{Decisions: federation.DecisionsOf(nil, nil), missing: true}
	}

	if err != nil {
		return decided{err: fmt.Errorf("reading Placement %s: %w", name, err)}
	}

	err = reader.List(ctx, list, client.InNamespace(name.Namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: name.Name},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		return decided{err: fmt.Errorf("listing the decisions of Placement %s: %w", name, err)}
	}

	pages := make([][]string, len(list.Items))

	for i := range list.Items {
		for _, decision := range list.Items[i].Status.Decisions {
			pages[i] = append(pages[i], decision.ClusterName)
		}
	}

	return decided{Decisions: federation.DecisionsOf(&placement.ObjectMeta, pages), pages: list.Items}
}

// versions returns a text that is equal for equal pages.
func (d decided) versions() string {
	versions := make([]string, 0, len(d.pages))
	for i := range d.pages {
		versions = append(versions, string(d.pages[i].UID)+"/"+d.pages[i].ResourceVersion)
	}

	slices.Sort(versions)

	return d.Problem + strings.Join(versions, " ")
}

// users returns the workloads that propagate an object.
func (r *reconciler) users(ctx context.Context, key inventory.Key, namespace *metav1.ObjectMeta) (federation.Users, error) {
	if namespace == nil || !federation.CanBePropagated(string(key.GroupKind)) {
		return federation.Users{}, nil
	}

	users := federation.Users{Clusters: r.state.links.propagated(key)}

	for of, kind := range r.state.kinds {
		if federation.CanBePropagated(string(of)) {
			continue
		}

		list := objects.MetadataList(kind.GroupVersionKind)
		if err := r.objects.List(ctx, list, client.InNamespace(key.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			return federation.Users{}, fmt.Errorf("listing %s of Namespace %s: %w", kind.Resource, key.Namespace, err)
		}

		for i := range list.Items {
			user := keyOf(of, &list.Items[i])
			if _, known := r.state.links.clusters(user); known || !federation.Propagates(list.Items[i].Annotations, namespace.Annotations) ||
				metav1.GetControllerOf(&list.Items[i]) != nil {
				continue
			}

			users.Pending = r.state.identity(user).String()
		}
	}

	return users, nil
}

// reached returns the clusters to which a dependency is delivered; false if it exists and was not evaluated yet.
func (r *reconciler) reached(ctx context.Context, namespace string, d federation.Dependency) ([]string, bool) {
	key := dependencyKey(namespace, d)
	if clusters, known := r.state.links.clusters(key); known {
		return clusters, true
	}

	kind, delivered := r.state.kinds[key.GroupKind]
	if !delivered {
		return nil, true
	}

	err := r.objects.Get(ctx, key.NamespacedName, objects.Metadata(kind.GroupVersionKind), client.UnsafeDisableDeepCopy)

	return nil, apierrors.IsNotFound(err)
}

// dependencyKey returns the key of a dependency, which is in the core group.
func dependencyKey(namespace string, d federation.Dependency) inventory.Key {
	return inventory.Key{NamespacedName: types.NamespacedName{Namespace: namespace, Name: d.Name}, GroupKind: inventory.GroupKind(d.Kind)}
}

// reachedClusters returns the clusters that get the object, and those that have it, sorted: where its withdrawal is not allowed yet, or fails, its
// dependencies stay with it. What is being deleted counts unless the object is delivered, because no event follows its end then.
func (p *cycle) reachedClusters() []string {
	var clusters []string

	delivered := p.State == federation.Delivering
	if delivered {
		clusters = slices.Clone(p.Selected)
	}

	for _, work := range p.Works {
		gone := delivered && (work.Deleting || slices.Contains(p.writes.withdrawn, work.Cluster))
		if !work.Foreign && !gone {
			clusters = append(clusters, work.Cluster)
		}
	}

	slices.Sort(clusters)

	return slices.Compact(clusters)
}

// link updates what the object has to do with others, and enqueues those that are concerned.
func (r *reconciler) link(p *cycle) {
	of := link{}
	if p.State != federation.NotDelivered {
		of.clusters = p.reachedClusters()
	}

	if p.State != federation.NotDelivered {
		of.propagates = p.Propagates

		for _, dependency := range p.Object.Body.Dependencies {
			of.needs = append(of.needs, dependencyKey(p.key.Namespace, dependency))
		}
	}

	if p.Target.Placement != "" {
		of.placement = types.NamespacedName{Namespace: p.key.Namespace, Name: p.Target.Placement}
	}

	r.enqueueLinked(r.state.links.set(p.key, of))
}
