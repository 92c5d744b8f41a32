package integration

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"

	"github.com/placement-hub/placement-hub/test/env"
)

// The placements of placement.open-cluster-management.io/v1alpha1 are called alpha here, to tell them from those of v1beta1.

// alphaOutcome is what a placement of v1alpha1 shows to the world.
type alphaOutcome struct {
	// Selected are the short names of the clusters in all pages, sorted; a cluster that stands in two pages stands here twice.
	Selected []string
	// Available are those that the decisions call available, sorted.
	Available []string
	// Pages are "name: clusters" in the order of their numbers.
	Pages []string
	// Satisfied and Misconfigured are "status reason".
	Satisfied, Misconfigured string
}

// alpha creates a placement of v1alpha1.
func (w *world) alpha(ctx context.Context, name string, spec placementv1alpha1.PlacementSpec) {
	GinkgoHelper()
	w.create(ctx, &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, Spec: spec})
}

// editAlpha changes the spec of a placement of v1alpha1.
func (w *world) editAlpha(ctx context.Context, name string, change func(*placementv1alpha1.PlacementSpec)) {
	GinkgoHelper()
	edit(ctx, &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}},
		func(p *placementv1alpha1.Placement) { change(&p.Spec) })
}

func (w *world) readAlpha(ctx context.Context, g Gomega, name string) *placementv1alpha1.Placement {
	placement := &placementv1alpha1.Placement{}
	g.Expect(hub.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, placement)).To(Succeed())

	return placement
}

// alphaPages are the PlacementDecisions of a placement of v1alpha1 in the order of their numbers.
func (w *world) alphaPages(ctx context.Context, g Gomega, name string) []placementv1alpha1.PlacementDecision {
	list := &placementv1alpha1.PlacementDecisionList{}
	g.Expect(hub.List(ctx, list, client.InNamespace(w.namespace), client.MatchingLabels{placementv1alpha1.PlacementLabel: name})).To(Succeed())
	slices.SortFunc(list.Items, func(a, b placementv1alpha1.PlacementDecision) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})

	return list.Items
}

// lookAlpha reads pages and status of a placement of v1alpha1, and demands what every consumer relies on.
func (w *world) lookAlpha(ctx context.Context, g Gomega, name string) alphaOutcome {
	placement := w.readAlpha(ctx, g, name)
	conditions := placement.Status.Conditions
	g.Expect(len(conditions)).To(BeNumerically(">=", 2), "conditions (A5)")
	g.Expect(conditions[0].Type).To(Equal(placementv1alpha1.ConditionMisconfigured))
	g.Expect(conditions[1].Type).To(Equal(placementv1alpha1.ConditionSatisfied))

	for _, condition := range conditions[:2] {
		g.Expect(condition.ObservedGeneration).To(Equal(placement.Generation), "observedGeneration of %s", condition.Type)
		g.Expect(condition.Message).NotTo(BeEmpty())
	}

	seen := alphaOutcome{
		Selected: []string{}, Available: []string{},
		Misconfigured: conditionText(conditions[0]), Satisfied: conditionText(conditions[1]),
	}

	for _, page := range w.alphaPages(ctx, g, name) {
		expectAlphaPage(g, placement, &page)
		seen.Pages = append(seen.Pages, fmt.Sprintf("%s: %d", page.Name, len(page.Decisions)))

		for _, decision := range page.Decisions {
			seen.Selected = append(seen.Selected, w.short(decision.ClusterName))

			if decision.Available {
				seen.Available = append(seen.Available, w.short(decision.ClusterName))
			}
		}
	}

	g.Expect(seen.Pages).NotTo(BeEmpty(), "there is always a page (B3)")
	slices.Sort(seen.Selected)
	slices.Sort(seen.Available)

	return seen
}

// expectAlphaPage demands of a page what docs/spec/placement-v1alpha1.md P13 says of every PlacementDecision.
func expectAlphaPage(g Gomega, placement *placementv1alpha1.Placement, page *placementv1alpha1.PlacementDecision) {
	g.Expect(page.Name).To(MatchRegexp("^" + regexp.QuoteMeta(placement.Name) + "-decision-[1-9][0-9]*$"))
	g.Expect(page.Labels).To(HaveKeyWithValue("placement.open-cluster-management.io", placement.Name))
	g.Expect(page.OwnerReferences).NotTo(BeEmpty(), "ownerReferences of %s", page.Name)
	g.Expect(page.OwnerReferences[0]).To(Equal(metav1.OwnerReference{
		APIVersion: "placement.open-cluster-management.io/v1alpha1", Kind: "Placement", Name: placement.Name, UID: placement.UID,
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}))
	g.Expect(len(page.Decisions)).To(BeNumerically("<=", pageSize))
	g.Expect(slices.IsSortedFunc(page.Decisions, func(a, b placementv1alpha1.ClusterDecision) int {
		return cmp.Compare(a.ClusterName, b.ClusterName)
	})).To(BeTrue(), "the decisions of %s are sorted by name", page.Name)
}

// expectAlpha waits until a placement of v1alpha1 has selected exactly the clusters of these short names.
func (w *world) expectAlpha(ctx context.Context, name, satisfied string, shorts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		seen := w.lookAlpha(ctx, g, name)
		g.Expect(seen.Selected).To(HaveExactElements(shorts))
		g.Expect(seen.Satisfied).To(Equal(satisfied))
		g.Expect(seen.Misconfigured).To(Equal(configured))
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed(), "Placement %s", name)
}

// expectAvailable waits until the decisions of placement "p" call exactly these clusters available.
func (w *world) expectAvailable(ctx context.Context, shorts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) []string { return w.lookAlpha(ctx, g, "p").Available }).
		WithContext(ctx).WithTimeout(settle).Should(HaveExactElements(shorts))
}

// alphaMessage is the text of a condition.
func (w *world) alphaMessage(ctx context.Context, g Gomega, name, kind string) string {
	condition := meta.FindStatusCondition(w.readAlpha(ctx, g, name).Status.Conditions, kind)
	g.Expect(condition).NotTo(BeNil())

	return condition.Message
}

// alphaWrites are the requests of the hub in the world's namespace that change objects of v1alpha1, as "verb resource/name/subresource".
func (w *world) alphaWrites(g Gomega) []string {
	events, err := controlPlane.Writes(env.By(hubUser))
	g.Expect(err).NotTo(HaveOccurred())

	writes := []string{}

	for _, event := range events {
		if ref := event.ObjectRef; ref != nil && ref.Namespace == w.namespace && ref.APIGroup == placementv1alpha1.GroupName {
			writes = append(writes, event.Verb+" "+path.Join(ref.Resource, ref.Name, ref.Subresource))
		}
	}

	return writes
}

// apart asks for clusters with different values of a label or claim.
func apart(kind placementv1alpha1.TopologyKeyType, key string) placementv1alpha1.PlacementSpec {
	return placementv1alpha1.PlacementSpec{AntiAffinity: placementv1alpha1.AntiAffinity{TopologyKey: key, TopologyKeyType: kind}}
}

// reachable gives a cluster the condition that it is available.
func reachable(c *clusterv1.ManagedCluster) {
	meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "ManagedClusterAvailable",
	})
}

// reach writes the condition of a cluster that says whether it is available, with a message.
func (w *world) reach(ctx context.Context, short string, status metav1.ConditionStatus, message string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		cluster := &clusterv1.ManagedCluster{}
		g.Expect(hub.Get(ctx, client.ObjectKey{Name: w.name(short)}, cluster)).To(Succeed())
		meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: "Reported", Message: message,
		})
		g.Expect(hub.Status().Update(ctx, cluster)).To(Succeed())
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
}
