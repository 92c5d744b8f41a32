package integration

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// worldLabel marks what belongs to a world and lives in no namespace.
const worldLabel = "world"

// admissionLabel with the value "off" leaves a namespace out of admission.
const admissionLabel = "placement-hub.open-cluster-management.io/admission"

var worlds atomic.Int64

// world is a namespace with its own sets and clusters, whose names nothing else uses.
type world struct {
	namespace string
}

// newWorld makes the namespace; all that the world holds is deleted after the spec.
func newWorld(ctx context.Context, edits ...func(*corev1.Namespace)) *world {
	GinkgoHelper()

	w := &world{namespace: fmt.Sprintf("w%d", worlds.Add(1))}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}

	for _, edit := range edits {
		edit(namespace)
	}

	w.create(ctx, namespace)
	DeferCleanup(w.destroy)

	return w
}

// withoutAdmission lets a mistake into the namespace, as it got in before there were policies.
func withoutAdmission(namespace *corev1.Namespace) {
	namespace.Labels = map[string]string{admissionLabel: "off"}
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

// short takes back what name has done.
func (w *world) short(name string) string { return strings.TrimPrefix(name, w.namespace+"-") }

// create makes an object of this world. What has no namespace is found again by its label.
func (w *world) create(ctx context.Context, object client.Object) {
	GinkgoHelper()

	if object.GetNamespace() == "" {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}

		labels[worldLabel] = w.namespace
		object.SetLabels(labels)
	}

	Expect(hub.Create(ctx, object)).To(Succeed())
}

// destroy deletes everything, finalizers or not. The placements go first, so that the rest goes unnoticed.
func (w *world) destroy(ctx SpecContext) {
	mine := client.MatchingLabels{worldLabel: w.namespace}

	for _, api := range record.APIs() {
		Expect(hub.DeleteAllOf(ctx, api.Empty(), client.InNamespace(w.namespace))).To(Succeed())

		pages, ok := api.Form().EmptyList().(client.ObjectList)
		Expect(ok).To(BeTrue())
		Expect(hub.List(ctx, pages, client.InNamespace(w.namespace))).To(Succeed())

		// One by one: the suite counts what others do to decisions.
		Expect(meta.EachListItem(pages, func(page runtime.Object) error {
			return client.IgnoreNotFound(hub.Delete(ctx, page.(client.Object)))
		})).To(Succeed())
	}

	Expect(hub.DeleteAllOf(ctx, &clusterv1beta2.ManagedClusterSetBinding{}, client.InNamespace(w.namespace))).To(Succeed())
	Expect(hub.DeleteAllOf(ctx, &clusterv1.ManagedCluster{}, mine)).To(Succeed())
	Expect(hub.DeleteAllOf(ctx, &clusterv1beta2.ManagedClusterSet{}, mine)).To(Succeed())
	Expect(hub.DeleteAllOf(ctx, &rbacv1.ClusterRoleBinding{}, mine)).To(Succeed())
	Expect(hub.DeleteAllOf(ctx, &rbacv1.ClusterRole{}, mine)).To(Succeed())

	clusters := &clusterv1.ManagedClusterList{}
	Expect(hub.List(ctx, clusters, mine)).To(Succeed())

	for _, cluster := range clusters.Items {
		finish(ctx, &cluster)
	}

	namespaces := &corev1.NamespaceList{}
	Expect(hub.List(ctx, namespaces, mine)).To(Succeed())

	for _, namespace := range namespaces.Items {
		Expect(client.IgnoreNotFound(hub.Delete(ctx, &namespace))).To(Succeed())
	}
}

// finish drops the finalizers of an object that is being deleted.
func finish(ctx context.Context, object client.Object) {
	GinkgoHelper()

	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	Expect(client.IgnoreNotFound(hub.Patch(ctx, object, patch))).To(Succeed())
}

// set makes an exclusive set and binds it.
func (w *world) set(ctx context.Context, short string) *clusterv1beta2.ManagedClusterSet {
	GinkgoHelper()

	set := w.unboundSet(ctx, short)
	w.bind(ctx, short)

	return set
}

func (w *world) unboundSet(ctx context.Context, short string) *clusterv1beta2.ManagedClusterSet {
	GinkgoHelper()

	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: w.name(short)}}
	w.create(ctx, set)

	return set
}

// labelSet makes a set of the clusters of this world that match a selector, and binds it; an empty selector holds every cluster of the
// world.
func (w *world) labelSet(ctx context.Context, short string, selector metav1.LabelSelector) *clusterv1beta2.ManagedClusterSet {
	GinkgoHelper()

	selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
		Key: worldLabel, Operator: metav1.LabelSelectorOpIn, Values: []string{w.namespace},
	})
	set := &clusterv1beta2.ManagedClusterSet{
		ObjectMeta: metav1.ObjectMeta{Name: w.name(short)},
		Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: clusterv1beta2.ManagedClusterSelector{
			SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &selector,
		}},
	}
	w.create(ctx, set)
	w.bind(ctx, short)

	return set
}

// bind binds a set of this world.
func (w *world) bind(ctx context.Context, short string) *clusterv1beta2.ManagedClusterSetBinding {
	GinkgoHelper()

	return w.bindAny(ctx, w.name(short))
}

// bindAny binds a set by its full name.
func (w *world) bindAny(ctx context.Context, set string) *clusterv1beta2.ManagedClusterSetBinding {
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

	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: w.name(short), Labels: map[string]string{}}}
	if set != "" {
		cluster.Labels[clusterv1beta2.ClusterSetLabel] = w.name(set)
	}

	for _, edit := range edits {
		edit(cluster)
	}

	status := cluster.Status.DeepCopy()
	w.create(ctx, cluster)

	if len(status.ClusterClaims)+len(status.Allocatable)+len(status.Conditions) > 0 {
		w.report(ctx, cluster, *status)
	}

	return cluster
}

// seen waits until the hub has seen every cluster that is in a set of this world. Clusters and placements come by separate watches, and
// which groups and pages there are from a clean start is sure only when the clusters are there first.
func (w *world) seen(ctx context.Context) {
	GinkgoHelper()

	sets, clusters := &clusterv1beta2.ManagedClusterSetList{}, &clusterv1.ManagedClusterList{}
	for _, list := range []client.ObjectList{sets, clusters} {
		Expect(hub.List(ctx, list, client.MatchingLabels{worldLabel: w.namespace})).To(Succeed())
	}

	for i := range sets.Items {
		selector := labels.SelectorFromSet(labels.Set{clusterv1beta2.ClusterSetLabel: sets.Items[i].Name})

		if of := sets.Items[i].Spec.ClusterSelector; of.SelectorType == clusterv1beta2.LabelSelector {
			var err error
			selector, err = metav1.LabelSelectorAsSelector(of.LabelSelector)
			Expect(err).NotTo(HaveOccurred())
		}

		count := 0

		for _, cluster := range clusters.Items {
			if selector.Matches(labels.Set(cluster.Labels)) {
				count++
			}
		}

		if count > 0 {
			expectSetCondition(ctx, &sets.Items[i], fmt.Sprintf("False ClustersSelected: %d ManagedClusters selected", count))
		}
	}
}

// report writes the status of a cluster.
func (w *world) report(ctx context.Context, cluster *clusterv1.ManagedCluster, status clusterv1.ManagedClusterStatus) {
	GinkgoHelper()

	before := cluster.DeepCopy()
	cluster.Status = status

	if cluster.Status.Conditions == nil {
		cluster.Status.Conditions = []metav1.Condition{}
	}

	Expect(hub.Status().Patch(ctx, cluster, client.MergeFrom(before))).To(Succeed())
}

// clusters makes c001 and so on in a set, from the first number to the last.
func (w *world) clusters(ctx context.Context, set string, first, last int, edits ...func(*clusterv1.ManagedCluster)) {
	GinkgoHelper()

	for i := first; i <= last; i++ {
		w.cluster(ctx, set, fmt.Sprintf("c%03d", i), edits...)
	}
}

// deleteCluster deletes a cluster of this world.
func (w *world) deleteCluster(ctx context.Context, short string) {
	GinkgoHelper()
	Expect(hub.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: w.name(short)}})).To(Succeed())
}

// placement creates a placement of the given spec.
func (w *world) placement(ctx context.Context, name string, spec clusterv1beta1.PlacementSpec) *clusterv1beta1.Placement {
	GinkgoHelper()

	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, Spec: spec}
	w.create(ctx, placement)

	return placement
}

// foreignPage makes a PlacementDecision that another placement seems to have.
func (w *world) foreignPage(ctx context.Context, owner string, shorts ...string) {
	GinkgoHelper()

	page := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.namespace, Name: owner + "-decision-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: owner},
	}}
	w.create(ctx, page)

	page.Status.Decisions = []clusterv1beta1.ClusterDecision{}
	for _, short := range shorts {
		page.Status.Decisions = append(page.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: w.name(short)})
	}

	Expect(hub.Status().Update(ctx, page)).To(Succeed())
}

// edit changes an object, and tries again when somebody else was faster.
func edit[T any, P interface {
	*T
	client.Object
}](ctx context.Context, object P, change func(P)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		fresh := P(new(T))
		g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(object), fresh)).To(Succeed())
		change(fresh)
		g.Expect(hub.Update(ctx, fresh)).To(Succeed())
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
}

// editCluster changes a cluster of this world.
func (w *world) editCluster(ctx context.Context, short string, change func(*clusterv1.ManagedCluster)) {
	GinkgoHelper()
	edit(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: w.name(short)}}, change)
}

// editPlacement changes a placement of this world.
func (w *world) editPlacement(ctx context.Context, name string, change func(*clusterv1beta1.PlacementSpec)) {
	GinkgoHelper()
	edit(ctx, &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}},
		func(p *clusterv1beta1.Placement) { change(&p.Spec) })
}

// gone waits until an object does not exist any more.
func gone(ctx context.Context, object client.Object) {
	GinkgoHelper()
	goneWithin(ctx, settle, object)
}

func goneWithin(ctx context.Context, timeout time.Duration, object client.Object) {
	GinkgoHelper()
	Eventually(func() bool {
		return apierrors.IsNotFound(hub.Get(ctx, client.ObjectKeyFromObject(object), object))
	}).WithContext(ctx).WithTimeout(timeout).Should(BeTrue(), "%T %s is still there", object, object.GetName())
}
