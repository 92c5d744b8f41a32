// SPDX-License-Identifier: Apache-2.0

package federationattack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/history/works"
)

// truth is what the API server holds, evaluated without the hub.
type truth struct {
	compiler   *selector.Compiler
	inventory  *inventory.Inventory
	namespaces map[string]*metav1.ObjectMeta
	placements map[types.NamespacedName]*metav1.ObjectMeta
	pages      map[types.NamespacedName][][]string
	works      map[string][]workv1.ManifestWork // by the object
	objects    map[string]*unstructured.Unstructured
}

// newTruth reads the API server.
func (a *arena) newTruth(ctx context.Context) (*truth, error) {
	compiler := selector.NewCompiler()
	t := &truth{
		compiler: compiler, inventory: inventory.New(compiler), namespaces: map[string]*metav1.ObjectMeta{},
		placements: map[types.NamespacedName]*metav1.ObjectMeta{}, pages: map[types.NamespacedName][][]string{},
		works: map[string][]workv1.ManifestWork{}, objects: map[string]*unstructured.Unstructured{},
	}
	return t, errors.Join(t.readFleet(ctx, a.api), t.readPlacements(ctx, a.api), t.readObjects(ctx, a.api))
}

func (t *truth) readFleet(ctx context.Context, api client.Client) error {
	var (
		clusters   clusterv1.ManagedClusterList
		sets       clusterv1beta2.ManagedClusterSetList
		bindings   clusterv1beta2.ManagedClusterSetBindingList
		namespaces corev1.NamespaceList
	)

	for _, list := range []client.ObjectList{&clusters, &sets, &bindings, &namespaces} {
		if err := api.List(ctx, list); err != nil {
			return fmt.Errorf("listing %T: %w", list, err)
		}
	}
	for i := range clusters.Items {
		t.inventory.SetCluster(&clusters.Items[i])
	}

	for i := range sets.Items {
		t.inventory.SetClusterSet(&sets.Items[i])
	}
	for i := range bindings.Items {
		t.inventory.SetBinding(&bindings.Items[i])
	}
	for i := range namespaces.Items {
		t.namespaces[namespaces.Items[i].Name] = &namespaces.Items[i].ObjectMeta
	}
	return nil
}

func (t *truth) readPlacements(ctx context.Context, api client.Client) error {
	var (
		placements clusterv1beta1.PlacementList
		pages      clusterv1beta1.PlacementDecisionList
	)
	if err := errors.Join(api.List(ctx, &placements), api.List(ctx, &pages)); err != nil {
		return fmt.Errorf("listing Placements and their decisions: %w", err)
	}
	for i := range placements.Items {
		t.placements[client.ObjectKeyFromObject(&placements.Items[i])] = &placements.Items[i].ObjectMeta
	}

	for i := range pages.Items {
		page := &pages.Items[i]
		of := types.NamespacedName{Namespace: page.Namespace, Name: page.Labels[clusterv1beta1.PlacementLabel]}
		clusters := []string{}
		for _, decision := range page.Status.Decisions {
			clusters = append(clusters, decision.ClusterName)
		}
		t.pages[of] = append(t.pages[of], clusters)
	}
	return nil
}

// readObjects reads the ConfigMaps of the tenants, and all works.
func (t *truth) readObjects(ctx context.Context, api client.Client) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(configMaps.GroupVersion().WithKind(configMaps.Kind + "List"))
	var all workv1.ManifestWorkList
	if err := errors.Join(api.List(ctx, list), api.List(ctx, &all)); err != nil {
		return fmt.Errorf("listing ConfigMaps and ManifestWorks: %w", err)
	}

	for i := range list.Items {
		if object := &list.Items[i]; slices.Contains(tenants, object.GetNamespace()) {
			t.objects[identityOf(object).String()] = object
		}
	}
	for i := range all.Items {
		object := all.Items[i].Annotations[federation.ObjectAnnotation]
		t.works[object] = append(t.works[object], all.Items[i])
	}
	return nil
}

func identityOf(object *unstructured.Unstructured) federation.Identity {
	return federation.Identity{
		NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}, Kind: configMaps,
	}
}

// evaluate runs the pipeline for an object.
func (t *truth) evaluate(object *unstructured.Unstructured) (*federation.Evaluation, *federation.Payload, error) {
	identity := identityOf(object)

	body, payload := federation.BodyOf(configMaps, object)

	view := federation.View{
		Compiler: t.compiler, HubNamespace: manifests.Namespace, Namespace: t.namespaces[object.GetNamespace()],
		Snapshot: func(request *scheduling.Request) *inventory.Snapshot {
			t.inventory.Subscribe(request.Key, request.Dependencies())
			return t.inventory.SnapshotFor(request.Key)
		},
		Decisions: func(placement string) federation.Decisions {
			of := types.NamespacedName{Namespace: object.GetNamespace(), Name: placement}
			return federation.DecisionsOf(t.placements[of], t.pages[of])
		},
		Reached: func(federation.Dependency) ([]string, bool) { return nil, false },
	}

	for i := range t.works[identity.String()] {
		work, err := federation.ExistingWorkOf(identity, &t.works[identity.String()][i])
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", identity, err)
		}
		view.Works = append(view.Works, work)
	}

	meta := metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), DeletionTimestamp: object.GetDeletionTimestamp(),
		Finalizers: object.GetFinalizers(), Annotations: object.GetAnnotations(), OwnerReferences: object.GetOwnerReferences(),
	}
	return federation.Evaluate(federation.Object{Kind: configMaps, Meta: meta, Body: body}, view, time.Now()), payload, nil
}

// unsettled returns what is left to do for the objects; nil if nothing is.
func (t *truth) unsettled() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(t.works)) {
		if t.objects[name] == nil {
			errs = append(errs, fmt.Errorf("%d works of %s, which does not exist", len(t.works[name]), name))
		}
	}

	for _, name := range slices.Sorted(maps.Keys(t.objects)) {
		evaluation, payload, err := t.evaluate(t.objects[name])
		if err != nil {
			return err
		}

		switch evaluation.State {
		case federation.Delivering:
			plan, err := evaluation.Plan(func(variant federation.Variant) (string, error) {
				work, err := payload.Work("", variant)
				if err != nil {
					return "", err
				}
				return work.Annotations[federation.HashAnnotation], nil
			})
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}

			change, err := evaluation.ChangeFrom(nil, federation.Budget{}, time.Now())
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if change.MatchesNone { // federated-selector 3.1.4: nothing is withdrawn until that is released.
				plan.Lose = nil
			}
			if !plan.Empty() || len(plan.Waiting)+len(plan.Conflicts) > 0 {
				errs = append(errs, fmt.Errorf("%s leaves to do: %+v", name, plan))
			}
		case federation.Deleting:
			errs = append(errs, fmt.Errorf("%s is still being deleted", name))
		case federation.NotDelivered, federation.Held, federation.Suspended: // Works in clusters that left the scope may wait for their hold.
		}
	}

	return errors.Join(errs...)
}

// stay are the clusters by object whose deliveries none of the states since the begin of a batch would end.
type stay map[string]map[string]bool

// narrow takes the deliveries away that the present state ends.
func (s stay) narrow(t *truth) error {
	for name := range s {
		if t.objects[name] == nil {
			s[name] = map[string]bool{}
		}
	}

	for name, object := range t.objects {
		evaluation, _, err := t.evaluate(object)
		if err != nil {
			return err
		}

		switch {
		case evaluation.State == federation.Held || evaluation.State == federation.Suspended:
			s.keep(name, t.scope(object.GetNamespace()))
		case evaluation.State != federation.Delivering || evaluation.Target.Placement != "":
			s[name] = map[string]bool{}
		default:
			s.keep(name, setOf(evaluation.Selected))
		}
	}

	return nil
}

// keep takes all clusters but the given ones away from an object. The first of the states has no others to take away.
func (s stay) keep(object string, clusters map[string]bool) {
	if s[object] == nil {
		s[object] = clusters
	}
	maps.DeleteFunc(s[object], func(cluster string, _ bool) bool { return !clusters[cluster] })
}

// scope returns the clusters of the sets that are bound to a namespace.
func (t *truth) scope(namespace string) map[string]bool {
	snapshot := t.inventory.Snapshot()
	members, _ := snapshot.Candidates(snapshot.Scope(namespace, nil))
	names := map[string]bool{}
	for id := range members.EachSet() {
		names[snapshot.ClusterInfo(id).Name] = true
	}
	return names
}

func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// of returns those of the keys that stay.
func (s stay) of(keys map[works.Key]bool) map[works.Key]bool {
	staying := map[works.Key]bool{}
	for key := range keys {
		if s[key.Object][key.Cluster] {
			staying[key] = true
		}
	}
	return staying
}
