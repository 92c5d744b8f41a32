// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

const (
	fewestClusters, mostClusters = 20, 150
	// scoredClusters is how many clusters have scores, each of which takes a namespace.
	scoredClusters = 25
	// exclusiveSets is how many sets hold clusters by the label of the set. One more selects by other labels.
	exclusiveSets = 3
	// placements is how many placements a world has.
	placements = 12
	// worldLabel marks what belongs to a world.
	worldLabel = "world"
	// admissionLabel with the value "off" leaves a namespace out of admission.
	admissionLabel = "placement-hub.open-cluster-management.io/admission"
)

// The values that labels and claims take.
var (
	regions   = []string{"eu", "us", "ap"}
	tiers     = []string{"gold", "silver"}
	platforms = []string{"aws", "gcp", "azure"}
)

// The keys of labels, claims and taints.
const (
	regionLabel, tierLabel, waveLabel = "region", "tier", "wave"
	platformClaim                     = "platform"
	maintenanceTaint, newTaint        = "maintenance", "fresh"
	scoreObject, scoreEntry           = "demo", "size"
)

// arenaHub is a namespace with sets and clusters of its own, which only this test writes.
type arenaHub struct {
	*rand.Rand

	admin     client.Client
	truth     *truth
	namespace string
	clusters  []string
	sets      []string
	labelSet  string
	// placements are the names of those of each API.
	placements map[api.Adapter][]string
	// wave numbers the values of the wave label, none of which is used twice.
	wave int
	// noted takes the steps.
	noted func(format string, arguments ...any)
}

// oneOf picks one at random.
func oneOf[T any](random *rand.Rand, all ...T) T { return all[random.IntN(len(all))] }

// chance is true once in so many times.
func (h *arenaHub) chance(times int) bool { return h.IntN(times) == 0 }

// someClusters are a few clusters, many, or all.
func (h *arenaHub) someClusters() []string {
	count := oneOf(h.Rand, 1, 1, 3, len(h.clusters)/3, len(h.clusters))
	first := h.IntN(len(h.clusters) - count + 1)
	return h.clusters[first : first+count]
}

// newHub makes everything that the steps change later.
func (a *arena) newHub(ctx context.Context, seed uint64) (*arenaHub, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	w := &arenaHub{
		Rand: random, admin: a.admin, truth: newTruth(), namespace: fmt.Sprintf("attack-%d", seed), placements: map[api.Adapter][]string{},
		noted: func(string, ...any) {},
	}

	// Unreadable placements are to get in.
	if err := w.create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: w.namespace, Labels: map[string]string{admissionLabel: "off"},
	}}); err != nil {
		return nil, err
	}

	for i := range exclusiveSets {
		w.sets = append(w.sets, fmt.Sprintf("%s-s%d", w.namespace, i))
		if err := w.create(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: w.sets[i]}}); err != nil {
			return nil, err
		}
		if i == 0 || w.chance(2) {
			if err := w.bind(ctx, w.sets[i]); err != nil {
				return nil, err
			}
		}
	}

	w.labelSet = w.namespace + "-labels"

	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: w.labelSet}}
	w.selectInSet(set, regions[:2]...)
	if err := w.create(ctx, set); err != nil {
		return nil, err
	}
	if err := w.bind(ctx, w.labelSet); err != nil {
		return nil, err
	}

	count := fewestClusters + w.IntN(mostClusters-fewestClusters+1)
	for i := range count {
		w.clusters = append(w.clusters, fmt.Sprintf("%s-c%03d", w.namespace, i))
		if err := w.createCluster(ctx, w.clusters[i]); err != nil {
			return nil, err
		}

		if i < scoredClusters {
			if err := w.create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.clusters[i]}}); err != nil {
				return nil, err
			}
			if err := w.score(ctx, w.clusters[i], int32(w.IntN(100))); err != nil {
				return nil, err
			}
		}
	}

	for i := range placements {
		adapter := oneOf(w.Rand, api.V1beta1, api.V1beta1, api.V1beta1, api.V1alpha1)
		name := fmt.Sprintf("p%02d", i)
		w.placements[adapter] = append(w.placements[adapter], name)
		if err := w.create(ctx, w.newPlacement(adapter, name)); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// destroy deletes the world, the placements first.
func (h *arenaHub) destroy(ctx context.Context) error {
	for _, adapter := range api.Adapters() {
		if err := persist(ctx, func() error { return h.admin.DeleteAllOf(ctx, adapter.Empty(), client.InNamespace(h.namespace)) }); err != nil {
			return fmt.Errorf("deleting the placements of %s: %w", adapter.Name(), err)
		}
	}
	for _, kind := range []client.Object{&clusterv1.ManagedCluster{}, &clusterv1beta2.ManagedClusterSet{}} {
		if err := persist(ctx, func() error { return h.admin.DeleteAllOf(ctx, kind, client.MatchingLabels{worldLabel: h.namespace}) }); err != nil {
			return fmt.Errorf("deleting %T: %w", kind, err)
		}
	}

	for _, name := range append([]string{h.namespace}, h.clusters[:min(scoredClusters, len(h.clusters))]...) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := persist(ctx, func() error { return client.IgnoreNotFound(h.admin.Delete(ctx, namespace)) }); err != nil {
			return fmt.Errorf("deleting the namespace %s: %w", name, err)
		}
	}
	return nil
}

// create makes an object, however often that fails.
func (h *arenaHub) create(ctx context.Context, object client.Object) error {
	if object.GetNamespace() == "" {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[worldLabel] = h.namespace
		object.SetLabels(labels)
	}

	err := persist(ctx, func() error {
		object.SetResourceVersion("")
		err := h.admin.Create(ctx, object)
		if apierrors.IsAlreadyExists(err) { // An attempt whose answer was lost, or what is being deleted.
			err = h.admin.Get(ctx, client.ObjectKeyFromObject(object), object)
			if err == nil && object.GetDeletionTimestamp() != nil {
				err = fmt.Errorf("%s is being deleted", object.GetName())
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
	}

	h.truth.set(object)
	return nil
}

// remove deletes an object, however often that fails.
func (h *arenaHub) remove(ctx context.Context, object client.Object) error {
	err := persist(ctx, func() error {
		if err := h.admin.Delete(ctx, object); !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting it, or waiting until it is gone: %w", err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("deleting %T %s: %w", object, object.GetName(), err)
	}
	h.truth.remove(object)
	return nil
}

// edit changes an object, however often that fails. Part says whether it is the status that changes.
func edit[T any, P interface {
	*T
	client.Object
}](ctx context.Context, w *arenaHub, key client.ObjectKey, part part, change func(P)) error {
	object := P(new(T))

	err := persist(ctx, func() error {
		object = P(new(T))
		if err := w.admin.Get(ctx, key, object); err != nil {
			return err
		}
		change(object)
		if part == status {
			return w.admin.Status().Update(ctx, object)
		}
		return w.admin.Update(ctx, object)
	})
	if err != nil {
		return fmt.Errorf("changing %T %s: %w", object, key.Name, err)
	}

	w.truth.set(object)
	return nil
}

// part is what an edit changes of an object.
type part bool

const (
	spec   part = false
	status part = true
)

func (h *arenaHub) editCluster(ctx context.Context, name string, change func(*clusterv1.ManagedCluster)) error {
	return edit(ctx, h, client.ObjectKey{Name: name}, spec, change)
}

func (h *arenaHub) createCluster(ctx context.Context, name string) error {
	err := h.create(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		clusterv1beta2.ClusterSetLabel: oneOf(h.Rand, h.sets...), regionLabel: oneOf(h.Rand, regions...), tierLabel: oneOf(h.Rand, tiers...),
	}}})
	if err != nil {
		return err
	}
	return h.claim(ctx, name, oneOf(h.Rand, platforms...))
}

// claim reports the platform of a cluster.
func (h *arenaHub) claim(ctx context.Context, cluster, platform string) error {
	return edit(ctx, h, client.ObjectKey{Name: cluster}, status, func(c *clusterv1.ManagedCluster) {
		c.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: platformClaim, Value: platform}}
		if c.Status.Conditions == nil {
			c.Status.Conditions = []metav1.Condition{}
		}
	})
}

// taint puts a taint on a cluster.
func (h *arenaHub) taint(ctx context.Context, cluster, key string, effect clusterv1.TaintEffect) error {
	added := metav1.NewTime(time.Now())
	return h.editCluster(ctx, cluster, func(c *clusterv1.ManagedCluster) {
		c.Spec.Taints = []clusterv1.Taint{{Key: key, Effect: effect, TimeAdded: added}}
	})
}

// score writes the score of a cluster that has a namespace.
func (h *arenaHub) score(ctx context.Context, cluster string, value int32) error {
	err := h.create(ctx, &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: scoreObject}})
	if err != nil {
		return err
	}
	return edit(ctx, h, client.ObjectKey{Namespace: cluster, Name: scoreObject}, status, func(s *clusterv1alpha1.AddOnPlacementScore) {
		s.Status.Scores = []clusterv1alpha1.AddOnPlacementScoreItem{{Name: scoreEntry, Value: value}}
	})
}

func (h *arenaHub) bind(ctx context.Context, set string) error {
	return h.create(ctx, &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: set}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	})
}

func (h *arenaHub) unbind(ctx context.Context, set string) error {
	return h.remove(ctx, &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: set}})
}

// bound reports whether a set is bound.
func (h *arenaHub) bound(ctx context.Context, set string) (bool, error) {
	exists := false
	err := persist(ctx, func() error {
		err := h.admin.Get(ctx, client.ObjectKey{Namespace: h.namespace, Name: set}, &clusterv1beta2.ManagedClusterSetBinding{})
		exists = err == nil
		return client.IgnoreNotFound(err)
	})
	return exists, err
}

// selectInSet has a set hold the clusters of the world in some regions.
func (h *arenaHub) selectInSet(set *clusterv1beta2.ManagedClusterSet, of ...string) {
	set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
		SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{
			MatchLabels:      map[string]string{worldLabel: h.namespace},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: regionLabel, Operator: metav1.LabelSelectorOpIn, Values: of}},
		},
	}
}

// nudge has the placements looked at whose result depends on the time, after the clock has jumped: nothing else tells the hub of that.
func (a *arena) nudge(ctx context.Context, w *arenaHub) error {
	skew := a.clock.skew.Load()
	if skew == a.nudged {
		return nil
	}
	a.nudged = skew

	for key, placement := range w.truth.placements {
		if natureOf(placement) != settled {
			continue
		}
		annotate := func(p *clusterv1beta1.Placement) {
			p.Annotations = map[string]string{"attack/skew": time.Duration(skew).String()}
		}
		if err := edit(ctx, w, key.NamespacedName, spec, annotate); err != nil {
			return err
		}
	}

	return nil
}
