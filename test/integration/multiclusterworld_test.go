package integration

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/pkg/controller/placement"
	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/test/env"
	"github.com/placement-hub/placement-hub/test/film"
)

// moveTo has the suite work on another control plane, with a hub that runs there, until the container or spec that calls it ends.
func moveTo(ctx SpecContext, another *env.Environment, settings ...func(*controller.Options)) {
	GinkgoHelper()

	api, err := client.New(another.AdminConfig(), client.Options{Scheme: controller.Scheme()})
	Expect(err).NotTo(HaveOccurred())

	before, beforeAPI, beforeStop := controlPlane, hub, stopHub
	controlPlane, hub = another, api
	stopHub = startHub(serviceAccount(ctx, another), settings...)

	DeferCleanup(func() {
		stopHub()

		controlPlane, hub, stopHub = before, beforeAPI, beforeStop
	})
}

// The cluster managers of ClusterProfiles: the one of ManagedClusters, and another.
const (
	ourManager   = "open-cluster-management"
	otherManager = "elsewhere"
)

// profile makes a ClusterProfile in a namespace for a cluster of this world, of its name.
func (w *world) profile(ctx context.Context, namespace, manager, short string) *clusterinventory.ClusterProfile {
	GinkgoHelper()

	profile := newProfile(namespace, manager, w.name(short))
	w.create(ctx, profile)

	return profile
}

func newProfile(namespace, manager, name string) *clusterinventory.ClusterProfile {
	return &clusterinventory.ClusterProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       clusterinventory.ClusterProfileSpec{ClusterManager: clusterinventory.ClusterManager{Name: manager}},
	}
}

// fleet makes the clusters from the first number to the last in the set "set", each with a ClusterProfile, several at a time.
func (w *world) fleet(ctx context.Context, first, last int) {
	GinkgoHelper()

	Expect(each(ctx, last-first+1, func(ctx context.Context, i int) error {
		name := w.name(fmt.Sprintf("c%03d", first+i))
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			worldLabel: w.namespace, clusterv1beta2.ClusterSetLabel: w.name("set"),
		}}}

		if err := hub.Create(ctx, newProfile(w.name("fleet"), ourManager, name)); err != nil {
			return fmt.Errorf("creating ClusterProfile %s: %w", name, err)
		}

		if err := hub.Create(ctx, cluster); err != nil {
			return fmt.Errorf("creating ManagedCluster %s: %w", name, err)
		}

		return nil
	})).To(Succeed())
}

// slices are the PlacementDecisions of multicluster.x-k8s.io that the hub has written for a placement, in the order of their indexes.
func (w *world) slices(ctx context.Context, g Gomega, name string) []clusterinventory.PlacementDecision {
	list := &clusterinventory.PlacementDecisionList{}
	g.Expect(hub.List(ctx, list, client.InNamespace(w.namespace), client.MatchingLabels{clusterinventory.PlacementKeyLabel: name})).To(Succeed())

	list.Items = slices.DeleteFunc(list.Items, func(slice clusterinventory.PlacementDecision) bool {
		return slice.SchedulerName != placement.SchedulerName
	})
	slices.SortFunc(list.Items, func(a, b clusterinventory.PlacementDecision) int {
		x, y := a.Labels[clusterinventory.DecisionIndexLabel], b.Labels[clusterinventory.DecisionIndexLabel]

		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	})

	return list.Items
}

// watchSlices starts to watch all slices of the world; their members are "namespace/name" in short.
func (w *world) watchSlices(ctx context.Context) *recording {
	GinkgoHelper()

	return w.watchThrough(ctx, film.Lens{
		List: &clusterinventory.PlacementDecisionList{}, Show: func(object runtime.Object) *clusterv1beta1.PlacementDecision {
			slice, ok := object.(*clusterinventory.PlacementDecision)
			if !ok {
				return nil
			}

			return shown(slice.ObjectMeta, w.references(slice))
		},
	})
}

// shownSlices are the slices of the placement "p" as they are filmed.
func (w *world) shownSlices(ctx context.Context, g Gomega) []clusterv1beta1.PlacementDecision {
	pages := []clusterv1beta1.PlacementDecision{}
	for _, slice := range w.slices(ctx, g, "p") {
		pages = append(pages, *shown(slice.ObjectMeta, w.references(&slice)))
	}

	return pages
}

// references are the ClusterProfiles of a slice as "namespace/name" in short; the namespace of the world itself is ".".
func (w *world) references(slice *clusterinventory.PlacementDecision) []string {
	references := []string{}

	for _, decision := range slice.Decisions {
		namespace := w.short(decision.ClusterProfileRef.Namespace)
		if namespace == w.namespace {
			namespace = "."
		}

		references = append(references, namespace+"/"+w.short(decision.ClusterProfileRef.Name))
	}

	return references
}

// expectSlices waits until the slices of a placement hold exactly these references, each slice in its order, and are as SIG Multicluster
// wants them.
func (w *world) expectSlices(ctx context.Context, name string, want ...[]string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		owner := w.read(ctx, g, name)
		seen := [][]string{}

		for i, slice := range w.slices(ctx, g, name) {
			seen = append(seen, w.references(&slice))
			g.Expect(len(slice.Decisions)).To(BeNumerically("<=", pageSize))
			g.Expect(slice.Name).To(HavePrefix(name + "-decision-"))
			g.Expect(slice.Labels).To(Equal(map[string]string{
				clusterinventory.DecisionKeyLabel: name, clusterinventory.PlacementKeyLabel: name,
				clusterinventory.DecisionIndexLabel: strconv.Itoa(i),
			}))
			g.Expect(slice.OwnerReferences).To(HaveExactElements(metav1.OwnerReference{
				APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "Placement", Name: name, UID: owner.UID,
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
			}))
		}

		g.Expect(seen).To(Equal(want))
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
}

// expectProfilesFound waits until the placement "p" says so about ClusterProfiles.
func (w *world) expectProfilesFound(ctx context.Context, status, words string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		placement := w.read(ctx, g, "p")
		condition := meta.FindStatusCondition(placement.Status.Conditions, decision.ConditionProfilesFound)
		g.Expect(condition).NotTo(BeNil())
		g.Expect(conditionText(*condition)).To(Equal(status))
		g.Expect(condition.Message).To(ContainSubstring(words))
		g.Expect(condition.ObservedGeneration).To(Equal(placement.Generation))
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
}

// inFleet are the ClusterProfiles that fleet makes, as references reads them.
func inFleet(shorts ...string) []string {
	references := []string{}
	for _, short := range shorts {
		references = append(references, "fleet/"+short)
	}

	return references
}
