// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"regexp"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/integration/members"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("the clusters of an object", func() {
	It("federated-selector F14: an invalid selector freezes the copies until it is mended", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.configMap(ctx, "c", selecting(inEurope))
		expectCopies(ctx, object, eu1, eu2)
		frozen := worksOf(ctx, Default, object)
		annotate(ctx, object, selecting(`[{"key":"location"`))
		expectEvent(ctx, object, federation.ReasonClusterSelectorInvalid, "unexpected end of JSON input")
		put(ctx, object, "2")

		// An object that is edited later is delivered; the invalid one would have been, too.
		expectDelivered(ctx, s.configMap(ctx, "later", nil), "eu1", "eu2", "us1")
		Expect(clustersOf(ctx, Default, object)).To(ConsistOf("eu1", "eu2"))
		for cluster, work := range worksOf(ctx, Default, object) {
			Expect(work.Generation).To(Equal(frozen[cluster].Generation), cluster)
		}
		annotate(ctx, object, selecting(inEurope))
		expectDelivered(ctx, object, "eu1", "eu2")
		expectCopies(ctx, object, eu1, eu2)
	})

	It("federated-selector F15: a changed selector moves the copies", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.configMap(ctx, "c", selecting(inEurope))
		expectCopies(ctx, object, eu1, eu2)
		annotate(ctx, object, selecting(inUSA))
		expectCopies(ctx, object, us1)
		expectDelivered(ctx, object, "us1")
		expectEvent(ctx, object, federation.ReasonWithdrawn, "eu1", "eu2")
	})

	It("federated-selector F16: a relabelled cluster gets what selects it now", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.configMap(ctx, "c", selecting(inEurope))
		expectDelivered(ctx, object, "eu1", "eu2")
		relabel(ctx, us1, "location", "europe")
		expectDelivered(ctx, object, "eu1", "eu2", "us1")
		expectCopies(ctx, object, eu1, eu2, us1)
	})

	It("federated-selector F23: a new cluster gets what selects it", func(ctx SpecContext) {
		joining := cluster("eu3")
		joining.Labels["location"] = "europe"
		s := newScene(ctx)
		object := s.configMap(ctx, "c", selecting(inEurope))
		expectDelivered(ctx, object, "eu1", "eu2")
		members.Register(ctx, joining)
		DeferCleanup(func(ctx SpecContext) { Expect(suite.Client.Delete(ctx, cluster("eu3"))).To(Succeed()) })
		expectDelivered(ctx, object, "eu1", "eu2", "eu3")
	})

	It("federated-selector F34: works of an unbound set go after the grace period, and stay if it is bound again within it", func(ctx SpecContext) {
		again, gone := newScene(ctx), newScene(ctx)
		kept, removed := again.configMap(ctx, "c", nil), gone.configMap(ctx, "c", nil)
		expectDelivered(ctx, kept, "eu1", "eu2", "us1")
		expectDelivered(ctx, removed, "eu1", "eu2", "us1")
		uids := uidsOf(ctx, kept)
		unbind(ctx, again)
		again.BindAny(ctx, boundSet)
		begin := time.Now()
		unbind(ctx, gone)
		// When this set has been unbound for the grace period, the other one would have been, too.
		expectWorks(ctx, removed)
		Expect(time.Since(begin)).To(BeNumerically(">=", federation.ScopeGrace))
		expectCopies(ctx, removed)
		Expect(uidsOf(ctx, kept)).To(Equal(uids))
	})

	It("federated-selector F38: a Placement chooses the clusters, and exactly one of the two annotations counts", func(ctx SpecContext) {
		s := newScene(ctx)
		byPlacement := map[string]string{federation.PlacementAnnotation: "p"}
		object := s.configMap(ctx, "c", byPlacement)
		both := s.configMap(ctx, "both", map[string]string{
			federation.PlacementAnnotation: "p", federation.SelectorAnnotation: inEurope,
		})
		expectEvent(ctx, both, federation.ReasonClusterSelectorInvalid, federation.PlacementAnnotation, federation.SelectorAnnotation)

		// Without the Placement the object is held: one that comes later is delivered.
		expectDelivered(ctx, s.configMap(ctx, "later", nil), "eu1", "eu2", "us1")
		Expect(clustersOf(ctx, Default, object)).To(BeEmpty())

		s.Placement(ctx, "p", labelled("location", "usa"))
		expectDelivered(ctx, object, "us1")
		s.EditPlacement(ctx, "p", func(spec *clusterv1beta1.PlacementSpec) { *spec = labelled("load", "3") })
		expectDelivered(ctx, object, "eu1")

		// Without a Placement again nothing is withdrawn: an edit of the object is delivered only when there is one.
		Expect(suite.Client.Delete(ctx, s.Read(ctx, Default, "p"))).To(Succeed())
		put(ctx, object, "2")
		expectDelivered(ctx, s.configMap(ctx, "latest", nil), "eu1", "eu2", "us1")
		Expect(clustersOf(ctx, Default, object)).To(ConsistOf("eu1"))
		Expect(clustersOf(ctx, Default, both)).To(BeEmpty())
	})

	It("federated-selector F38: the annotation of the Namespace is the default, and that of the object wins", func(ctx SpecContext) {
		s := newScene(ctx, func(namespace *corev1.Namespace) {
			namespace.Annotations = map[string]string{federation.PlacementAnnotation: "p"}
		})
		s.Placement(ctx, "p", labelled("location", "usa"))
		expectDelivered(ctx, s.configMap(ctx, "default", nil), "us1")
		expectDelivered(ctx, s.configMap(ctx, "own", selecting(inEurope)), "eu1", "eu2")
	})

	It("federated-selector 3.1.4: a namespace that opts out keeps its copies as they are, and its deleted objects go", func(ctx SpecContext) {
		s := newScene(ctx)
		object, deleted := s.configMap(ctx, "c", nil), s.configMap(ctx, "deleted", nil)
		expectCopies(ctx, object, eu1, eu2, us1)
		expectCopies(ctx, deleted, eu1, eu2, us1)
		s.optOut(ctx)
		expectEvent(ctx, object, federation.ReasonFederationSuspended, s.Namespace)
		annotate(ctx, object, selecting(inUSA))
		Expect(hub.Delete(ctx, deleted)).To(Succeed())
		expectCopies(ctx, deleted)
		Expect(clustersOf(ctx, Default, object)).To(ConsistOf("eu1", "eu2", "us1"))
	})

	It("federated-selector F40: a loss above the removal budget is held until the annotation releases it", func(ctx SpecContext) {
		s := newUnboundScene(ctx)
		s.Set(ctx, "s")
		s.clusters(ctx, "s", 5)
		object := s.configMap(ctx, "c", map[string]string{removalbudget.PercentAnnotation: "30"})
		expectDelivered(ctx, object, s.Names("c1", "c2", "c3", "c4", "c5")...)
		for _, leaving := range []string{"c1", "c2", "c3"} {
			s.EditCluster(ctx, leaving, func(c *clusterv1.ManagedCluster) { c.Labels["away"] = "yes" })
		}
		// The labels are seen before the Namespace is edited.
		fence := s.configMap(ctx, "fence", selecting(`[{"key":"away","operator":"exists"}]`))
		expectDelivered(ctx, fence, s.Names("c1", "c2", "c3")...)

		suite.Edit(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}, func(n *corev1.Namespace) {
			n.Annotations = selecting(`[{"key":"away","operator":"!"}]`)
		})

		expectEvent(ctx, object, federation.ReasonRemovalHeld, "3 of 5 clusters", "30%")
		Expect(clustersOf(ctx, Default, object)).To(HaveLen(5))
		advice := release.FindStringSubmatch(notes(ctx, Default, object, federation.ReasonRemovalHeld)[0])
		Expect(advice).To(HaveLen(2), "the Event says how to release the removals")
		annotate(ctx, object, map[string]string{removalbudget.ReleaseAnnotation: advice[1]})
		expectDelivered(ctx, object, s.Names("c4", "c5")...)
	})
})

// labelled returns the spec of a Placement that selects the clusters with a label.
func labelled(key, value string) clusterv1beta1.PlacementSpec {
	return suite.Matching(suite.ByLabel(key, value))
}

// unbind deletes the binding of the members' set.
func unbind(ctx context.Context, s scene) {
	GinkgoHelper()
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: boundSet}}
	Expect(suite.Client.Delete(ctx, binding)).To(Succeed())
}

// uidsOf returns the UIDs of the works of an object by cluster.
func uidsOf(ctx context.Context, object client.Object) map[string]apitypes.UID {
	GinkgoHelper()
	uids := map[string]apitypes.UID{}
	for cluster, work := range worksOf(ctx, Default, object) {
		uids[cluster] = work.UID
	}
	return uids
}

// optOut removes the label by which the namespace takes part.
func (s scene) optOut(ctx context.Context) {
	GinkgoHelper()
	suite.Edit(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}, func(n *corev1.Namespace) {
		delete(n.Labels, federation.FederatedLabel)
	})
}

// clusters creates n available clusters without agents, c1 and so on, in a set, and their namespaces.
func (s scene) clusters(ctx context.Context, set string, n int) {
	GinkgoHelper()
	for i := range n {
		name := fmt.Sprintf("c%d", i+1)
		s.Cluster(ctx, set, name, suite.IsAvailable(metav1.ConditionTrue))
		s.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Name(name)}})
	}
}

// release matches the annotation that releases removals in the note of an Event.
var release = regexp.MustCompile(regexp.QuoteMeta(removalbudget.ReleaseAnnotation) + "=([^ ]+)")
