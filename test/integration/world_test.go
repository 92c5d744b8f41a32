package integration

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var worlds atomic.Int64

// world is a namespace with its own sets and clusters, whose names nothing else uses.
type world struct {
	namespace string
}

// newWorld makes the namespace; all that the world creates is deleted after the spec.
func newWorld(ctx context.Context) *world {
	GinkgoHelper()

	w := &world{namespace: fmt.Sprintf("w%d", worlds.Add(1))}
	w.create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})

	return w
}

// name makes a short name one that only this world has; the order of names stays.
func (w *world) name(short string) string { return w.namespace + "-" + short }

func (w *world) names(shorts ...string) []string {
	names := make([]string, 0, len(shorts))
	for _, short := range shorts {
		names = append(names, w.name(short))
	}

	return names
}

func (w *world) create(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(hub.Create(ctx, object)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { w.remove(ctx, object) })
}

// remove deletes an object, finalizers or not; one that is gone already is fine.
func (w *world) remove(ctx context.Context, object client.Object) {
	GinkgoHelper()

	if err := hub.Get(ctx, client.ObjectKeyFromObject(object), object); client.IgnoreNotFound(err) == nil && err != nil {
		return
	}

	if len(object.GetFinalizers()) > 0 {
		before, ok := object.DeepCopyObject().(client.Object)
		Expect(ok).To(BeTrue())
		object.SetFinalizers(nil)
		Expect(client.IgnoreNotFound(hub.Patch(ctx, object, client.MergeFrom(before)))).To(Succeed())
	}

	Expect(client.IgnoreNotFound(hub.Delete(ctx, object))).To(Succeed())
}

// set makes an exclusive set and binds it.
func (w *world) set(ctx context.Context, short string) {
	GinkgoHelper()
	w.create(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: w.name(short)}})
	w.bind(ctx, w.name(short))
}

// bind binds a set by its full name.
func (w *world) bind(ctx context.Context, set string) *clusterv1beta2.ManagedClusterSetBinding {
	GinkgoHelper()

	binding := &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: set},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	}
	w.create(ctx, binding)

	return binding
}

// cluster makes a member of an exclusive set of this world; set may be empty. The edits may fill spec and status.
func (w *world) cluster(ctx context.Context, set, short string, edits ...func(*clusterv1.ManagedCluster)) *clusterv1.ManagedCluster {
	GinkgoHelper()

	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: w.name(short), Labels: map[string]string{"world": w.namespace}}}
	if set != "" {
		cluster.Labels[clusterv1beta2.ClusterSetLabel] = w.name(set)
	}

	for _, edit := range edits {
		edit(cluster)
	}

	status := cluster.Status.DeepCopy()
	w.create(ctx, cluster)

	if len(status.ClusterClaims)+len(status.Allocatable)+len(status.Conditions) > 0 {
		before := cluster.DeepCopy()
		cluster.Status = *status

		if cluster.Status.Conditions == nil {
			cluster.Status.Conditions = []metav1.Condition{}
		}

		Expect(hub.Status().Patch(ctx, cluster, client.MergeFrom(before))).To(Succeed())
	}

	return cluster
}

// clusters makes c1 to cN in a set.
func (w *world) clusters(ctx context.Context, set string, count int) {
	GinkgoHelper()

	for i := range count {
		w.cluster(ctx, set, fmt.Sprintf("c%03d", i+1))
	}
}

// placement creates a placement of the given spec.
func (w *world) placement(ctx context.Context, name string, spec clusterv1beta1.PlacementSpec) *clusterv1beta1.Placement {
	GinkgoHelper()

	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, Spec: spec}
	w.create(ctx, placement)

	return placement
}

// edit patches an object until it is accepted.
func edit[T client.Object](ctx context.Context, object T, change func(T)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		change(object)
		g.Expect(hub.Update(ctx, object)).To(Succeed())
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
}

// outcome is what a placement shows to the world.
type outcome struct {
	// Selected are the clusters in all pages, sorted; a cluster that stands in two pages stands here twice.
	Selected []string
	// Groups are "index/name: clusters" in the order of the status, with the pages that each one lists.
	Groups []string
	// Satisfied and Misconfigured are "status reason".
	Satisfied, Misconfigured string
}

// look reads pages and status of a placement.
func (w *world) look(ctx context.Context, g Gomega, name string) outcome {
	placement := &clusterv1beta1.Placement{}
	g.Expect(hub.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, placement)).To(Succeed())

	var seen outcome

	for _, page := range w.pages(ctx, g, name) {
		for _, decision := range page.Status.Decisions {
			seen.Selected = append(seen.Selected, decision.ClusterName)
		}
	}

	slices.Sort(seen.Selected)

	for _, group := range placement.Status.DecisionGroups {
		seen.Groups = append(seen.Groups, fmt.Sprintf("%d/%s: %d %v",
			group.DecisionGroupIndex, group.DecisionGroupName, group.ClustersCount, group.Decisions))
	}

	for _, condition := range placement.Status.Conditions {
		text := string(condition.Status) + " " + condition.Reason

		switch condition.Type {
		case clusterv1beta1.PlacementConditionSatisfied:
			seen.Satisfied = text
		case clusterv1beta1.PlacementConditionMisconfigured:
			seen.Misconfigured = text
		}
	}

	g.Expect(placement.Status.NumberOfSelectedClusters).To(BeEquivalentTo(len(seen.Selected)))

	return seen
}

// pages are the PlacementDecisions of a placement by name.
func (w *world) pages(ctx context.Context, g Gomega, name string) []clusterv1beta1.PlacementDecision {
	list := &clusterv1beta1.PlacementDecisionList{}
	g.Expect(hub.List(ctx, list, client.InNamespace(w.namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: name})).To(Succeed())
	slices.SortFunc(list.Items, func(a, b clusterv1beta1.PlacementDecision) int { return cmp.Compare(a.Name, b.Name) })

	return list.Items
}

// expectSelected waits until the placement has selected exactly the clusters of these short names.
func (w *world) expectSelected(ctx context.Context, name string, shorts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(w.look(ctx, g, name).Selected).To(HaveExactElements(w.names(shorts...)))
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
}
