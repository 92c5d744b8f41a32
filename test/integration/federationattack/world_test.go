// SPDX-License-Identifier: Apache-2.0

package federationattack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/history/works"
)

// configMaps is the kind of the objects.
var configMaps = federation.DefaultKinds()[0]

// The names of the world.
var (
	members    = []string{"m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"}
	sets       = []string{"set-1", "set-2"}
	tenants    = []string{"tenant-1", "tenant-2"}
	names      = []string{"a", "b", "c"}
	tiers      = []string{"gold", "silver", "bronze"}
	placements = []string{"p"}
)

const tier = "tier"

// arena is a world, the hub that is attacked, and what is counted.
type arena struct {
	api     client.Client
	hub     *hub
	history *works.History
	random  *rand.Rand

	batches, steps, judged int
	struck                 map[string]int
}

func newRandom(seed uint64) *arena {
	return &arena{random: rand.New(rand.NewPCG(seed, 0)), struck: map[string]int{}}
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

// create creates the world: all clusters in sets that all tenants have bound, and no object.
func (a *arena) create(ctx context.Context) error {
	var errs []error
	for _, set := range sets {
		errs = append(errs, a.api.Create(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: set}}))
	}
	for _, member := range members {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: member}}
		errs = append(errs, a.api.Create(ctx, namespace), a.join(ctx, member))
	}

	for _, tenant := range tenants {
		errs = append(errs, a.api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: tenant, Labels: map[string]string{federation.FederatedLabel: "true"},
		}}))
		for _, set := range sets {
			errs = append(errs, a.bind(ctx, tenant, set))
		}

		for _, placement := range placements {
			errs = append(errs, a.api.Create(ctx, &clusterv1beta1.Placement{
				ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: placement}, Spec: clusterv1beta1.PlacementSpec{
					Predicates: []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
						LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{tier: tiers[0]}},
					}}},
				},
			}))
		}
	}

	return errors.Join(errs...)
}

func (a *arena) join(ctx context.Context, member string) error {
	return a.api.Create(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: member, Labels: map[string]string{
		clusterv1beta2.ClusterSetLabel: pick(a.random, sets), tier: pick(a.random, tiers),
	}}})
}

func (a *arena) bind(ctx context.Context, tenant, set string) error {
	return a.api.Create(ctx, &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: set},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	})
}

// merge sends a merge patch of metadata or data.
func (a *arena) merge(ctx context.Context, object client.Object, patch map[string]any) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encoding a patch: %w", err)
	}
	return a.api.Patch(ctx, object, client.RawPatch(types.MergePatchType, data))
}

func metadata(field, name string, value any) map[string]any {
	return map[string]any{"metadata": map[string]any{field: map[string]any{name: value}}}
}

// annotations are values of a patch of the annotations of an object: selectors, mistakes, a Placement, nothing.
func (a *arena) annotations() map[string]any {
	selects := func(value string) map[string]any {
		return map[string]any{federation.SelectorAnnotation: value, federation.PlacementAnnotation: nil}
	}
	return pick(a.random, []map[string]any{
		selects(`[{"key":"tier","operator":"in","values":["gold"]}]`), selects(`[{"key":"tier","operator":"notin","values":["gold"]}]`),
		selects(`[{"key":"tier","operator":"in","values":["gold","silver"]}]`), selects(`[]`), selects(`[{"key":"tier"`),
		selects(federation.ControlPlaneOnly),
		{federation.SelectorAnnotation: nil, federation.PlacementAnnotation: pick(a.random, placements)},
		{federation.SelectorAnnotation: nil, federation.PlacementAnnotation: nil},
	})
}

// step makes one change of the world by one request. A change of what does not exist, or exists already, changes nothing.
func (a *arena) step(ctx context.Context) error {
	a.steps++

	tenant, member := pick(a.random, tenants), pick(a.random, members)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: pick(a.random, names)}}
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: member}}
	var err error

	switch n := a.random.IntN(40); {
	case n < 12:
		err = a.merge(ctx, cluster, metadata("labels", tier, pick(a.random, tiers)))
	case n < 18:
		object.Data = map[string]string{"key": "value"}
		err = a.api.Create(ctx, object)
	case n < 26:
		err = a.merge(ctx, object, map[string]any{"metadata": map[string]any{"annotations": a.annotations()}})
	case n < 30:
		err = a.merge(ctx, object, map[string]any{"data": map[string]any{"key": strconv.Itoa(a.steps)}})
	case n < 32:
		err = a.api.Delete(ctx, object)
	case n < 34:
		err = a.namespaceStep(ctx, tenant)
	case n < 35:
		err = a.merge(ctx, cluster, metadata("labels", clusterv1beta2.ClusterSetLabel, pick(a.random, sets)))
	case n < 36:
		err = a.scopeStep(ctx, tenant, cluster)
	default:
		err = a.workStep(ctx, object, member)
	}

	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// namespaceStep changes whether a tenant takes part, or the default of its objects.
func (a *arena) namespaceStep(ctx context.Context, tenant string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenant}}
	return a.merge(ctx, namespace, pick(a.random, []map[string]any{
		metadata("labels", federation.FederatedLabel, "true"), metadata("labels", federation.FederatedLabel, nil),
		metadata("labels", federation.FederatedLabel, "true"),
		metadata("annotations", federation.SelectorAnnotation, `[{"key":"tier","operator":"exists"}]`),
		metadata("annotations", federation.SelectorAnnotation, `[{"key":"tier","operator":"!=","values":["bronze"]}]`),
		metadata("annotations", federation.SelectorAnnotation, nil),
	}))
}

// scopeStep changes the scope of a tenant: a binding or a cluster comes or goes.
func (a *arena) scopeStep(ctx context.Context, tenant string, cluster *clusterv1.ManagedCluster) error {
	set := pick(a.random, sets)
	switch a.random.IntN(4) {
	case 0:
		return a.api.Delete(ctx, &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: set}})
	case 1:
		return a.bind(ctx, tenant, set)
	case 2:
		return a.api.Delete(ctx, cluster)
	default:
		return a.join(ctx, cluster.Name)
	}
}

// workStep edits a work, which keeps its UID.
func (a *arena) workStep(ctx context.Context, object *corev1.ConfigMap, member string) error {
	identity := federation.Identity{NamespacedName: client.ObjectKeyFromObject(object), Kind: configMaps}
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: member, Name: identity.WorkName()}}
	return a.merge(ctx, work, pick(a.random, []map[string]any{
		metadata("annotations", federation.HashAnnotation, nil), metadata("labels", federation.KindLabel, "Other"),
		{"spec": map[string]any{"deleteOption": map[string]any{"propagationPolicy": "Orphan", "selectivelyOrphans": nil}}},
	}))
}

// stepsOfBatch is how many steps a batch has at most.
const stepsOfBatch = 25

// batch changes the world while faults last, waits until it is settled, and judges what happened.
func (a *arena) batch(ctx context.Context) error {
	a.batches++

	mark := a.history.Mark()
	keeping := stay{}
	if err := a.note(ctx, keeping); err != nil {
		return err
	}
	mends := a.strike()

	for range 1 + a.random.IntN(stepsOfBatch) {
		if err := a.step(ctx); err != nil {
			return fmt.Errorf("step %d: %w", a.steps, err)
		}
		if err := a.note(ctx, keeping); err != nil {
			return err
		}

		if a.random.IntN(stepsOfBatch) == 0 {
			a.struck["kill"]++
			if err := a.hub.kill(ctx); err != nil {
				return fmt.Errorf("killing the hub: %w", err)
			}
		}
	}

	for _, mend := range mends {
		mend()
	}
	if err := a.settle(ctx); err != nil {
		return err
	}
	return a.judge(ctx, mark, keeping)
}

// note narrows the deliveries that stay by the present state.
func (a *arena) note(ctx context.Context, keeping stay) error {
	t, err := a.newTruth(ctx)
	if err != nil {
		return err
	}
	return keeping.narrow(t)
}

// settle waits until the works are what the objects ask for and the hub writes nothing any more.
func (a *arena) settle(ctx context.Context) error {
	var last error
	quiet, before := time.Now(), a.hub.writes()
	for end := time.Now().Add(settleTimeout); time.Now().Before(end); {
		t, err := a.newTruth(ctx)
		if err != nil {
			return err
		}
		last = t.unsettled()
		if now := a.hub.writes(); last != nil || now != before {
			quiet, before = time.Now(), now
		}

		if time.Since(quiet) > quietFor {
			return nil
		}
		timer := time.NewTimer(quietFor / 10)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for a settled world: %w", ctx.Err())
		}
	}

	if last == nil {
		last = errors.New("the hub goes on writing")
	}
	return fmt.Errorf("not settled after %s: %w", settleTimeout, last)
}

// judge demands that the batch broke no rule.
func (a *arena) judge(ctx context.Context, mark works.Mark, keeping stay) error {
	if err := a.history.CatchUp(ctx); err != nil {
		return fmt.Errorf("the record of works: %w", err)
	}
	passage := a.history.Since(mark)
	a.judged += len(passage.Events)
	for _, finding := range append(passage.Disturbed(keeping.of(passage.Before.Keys())), passage.Doubled()...) {
		return errors.New(finding)
	}
	return nil
}
