package explain

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Trial puts one placement of a world to the engine again and again, each time with something changed. A run costs what the change
// concerns, and not what the world holds.
type Trial struct {
	key        inventory.PlacementKey
	now        time.Time
	compiler   *selector.Compiler
	known      *inventory.Inventory
	incumbents map[string]bool

	clusters catalogue[*clusterv1.ManagedCluster]
	sets     catalogue[*clusterv1beta2.ManagedClusterSet]
	bindings catalogue[*clusterv1beta2.ManagedClusterSetBinding]
	scores   catalogue[*clusterv1alpha1.AddOnPlacementScore]
}

// NewTrial prepares a world for one of its placements; nil when it has no such placement. The world must not change any more. Decisions are
// those of the world in every run.
func (w *World) NewTrial(key inventory.PlacementKey, now time.Time) *Trial {
	placement := w.placement(key)
	if placement == nil {
		return nil
	}

	t := &Trial{
		key: key, now: now, compiler: selector.NewCompiler(),
		clusters: newCatalogue(w.Clusters), sets: newCatalogue(w.ClusterSets), bindings: newCatalogue(w.EffectiveBindings()),
		scores: newCatalogue(w.Scores),
	}
	t.known = w.inventory(t.compiler)
	t.incumbents = decision.NewPresent(placement.API.Form(), placement, w.pagesByPlacement()[key]).Incumbents()

	return t
}

// Run answers for the placement in another state of the world, as if the placement asked for more prioritizers too. What is the same in
// both worlds must be the same objects. It is nil when that world has no such placement.
func (t *Trial) Run(world *World, more ...scheduling.Prioritizer) *scheduling.Result {
	placement := world.placement(t.key)
	if placement == nil {
		return nil
	}

	undos := []func(){
		visit(t.sets, world.ClusterSets, func(set *clusterv1beta2.ManagedClusterSet) { t.known.SetClusterSet(set) },
			func(key types.NamespacedName) { t.known.DeleteClusterSet(key.Name) }),
		visit(t.bindings, world.EffectiveBindings(), func(binding *clusterv1beta2.ManagedClusterSetBinding) { t.known.SetBinding(binding) },
			func(key types.NamespacedName) { t.known.DeleteBinding(key.Namespace, key.Name) }),
		visit(t.scores, world.Scores, func(scores *clusterv1alpha1.AddOnPlacementScore) { t.known.SetScores(scores) },
			func(key types.NamespacedName) { t.known.DeleteScores(key.Namespace, key.Name) }),
		visit(t.clusters, world.Clusters, func(cluster *clusterv1.ManagedCluster) { t.known.SetCluster(cluster) },
			func(key types.NamespacedName) { t.known.DeleteCluster(key.Name) }),
	}

	defer func() {
		for _, undo := range slices.Backward(undos) {
			undo()
		}
	}()

	request := placement.Request(t.compiler)
	request.Prioritizers = append(request.Prioritizers, more...)

	return scheduling.Schedule(request, t.known.Snapshot(), t.incumbents, t.now)
}

// placement is the placement of a key; nil when there is none.
func (w *World) placement(key inventory.PlacementKey) *record.Placement {
	for _, object := range w.Placements {
		if object.GetName() != key.Name || object.GetNamespace() != key.Namespace {
			continue
		}

		if placement := record.Read(object); placement.Key() == key {
			return placement
		}
	}

	return nil
}

// catalogue has objects of one kind by their names.
type catalogue[T metav1.Object] map[types.NamespacedName]T

func newCatalogue[T metav1.Object](objects []T) catalogue[T] {
	known := make(catalogue[T], len(objects))
	for _, object := range objects {
		known[nameOf(object)] = object
	}

	return known
}

func nameOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// visit takes over what differs from the catalogue, and returns what takes it back.
func visit[T interface {
	metav1.Object
	comparable
}](known catalogue[T], objects []T, set func(T), remove func(types.NamespacedName)) (undo func()) {
	var undos []func()

	same := 0

	for _, object := range objects {
		key := nameOf(object)
		before, existed := known[key]

		switch {
		case existed && before == object:
			same++

			continue
		case existed:
			same++

			undos = append(undos, func() { set(before) })
		default:
			undos = append(undos, func() { remove(key) })
		}

		set(object)
	}

	if same < len(known) {
		left := newCatalogue(objects)
		for key, before := range known {
			if _, stays := left[key]; !stays {
				remove(key)

				undos = append(undos, func() { set(before) })
			}
		}
	}

	return func() {
		for _, undo := range slices.Backward(undos) {
			undo()
		}
	}
}
