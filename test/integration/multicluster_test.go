package integration

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/pkg/controller/placement"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/test/env"
)

var _ = Describe("PlacementDecisions of multicluster.x-k8s.io", Ordered, ContinueOnFailure, Serial, func() {
	const (
		found   = "True AllClusterProfilesFound"
		missing = "False ClusterProfilesMissing"
	)

	profiled := func(o *controller.Options) { o.ProfileDecisions = true }
	// prepared is a world with a bound set, and a namespace for ClusterProfiles.
	prepared := func(ctx context.Context) *world {
		w := newWorld(ctx, withoutAdmission)
		w.create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.name("fleet")}})
		w.set(ctx, "set")

		return w
	}
	// versions are the resource versions of the slices of "p".
	versions := func(ctx context.Context, w *world) []string {
		all := []string{}
		for _, slice := range w.slices(ctx, Default, "p") {
			all = append(all, slice.ResourceVersion)
		}

		return all
	}

	BeforeAll(func(ctx SpecContext) {
		another, err := controlPlane.AnotherAPIServer(ctx, "/multicluster", env.Options{AuditLog: true, Log: GinkgoWriter})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(another.Stop()).To(Succeed()) })
		Expect(manifests.Install(ctx, another.AdminConfig())).To(Succeed())
		Expect(manifests.InstallMulticluster(ctx, another.AdminConfig())).To(Succeed())
		moveTo(ctx, another, profiled)
	})

	It("have one slice with an empty list when nothing is selected", func(ctx SpecContext) {
		w := prepared(ctx)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSlices(ctx, "p", []string{})
		w.expectProfilesFound(ctx, found, "Every selected cluster has a ClusterProfile")
		Expect(w.slices(ctx, Default, "p")[0].Name).To(Equal("p-decision-1"))
	})

	It("name ClusterProfiles that exist, and the status says which do not", func(ctx SpecContext) {
		w := prepared(ctx)
		fleet := w.name("fleet")
		w.clusters(ctx, "set", 1, 4)
		first := w.profile(ctx, fleet, ourManager, "c001")
		w.profile(ctx, fleet, otherManager, "c003")
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSlices(ctx, "p", inFleet("c001"))
		w.expectProfilesFound(ctx, missing, "3 of 4 selected clusters have no ClusterProfile and are left out of the "+
			"PlacementDecisions of multicluster.x-k8s.io: "+w.name("c002")+", "+w.name("c003")+", "+w.name("c004"))
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 4)...)

		ordinary := w.pages(ctx, Default, "p")[0].ResourceVersion

		By("taking in those that are created, under whatever name they stand for a cluster")
		w.profile(ctx, fleet, ourManager, "c002")
		w.expectSlices(ctx, "p", inFleet("c001", "c002"))

		renamed := newProfile(fleet, ourManager, w.name("fourth"))
		renamed.Labels = map[string]string{clusterv1.ClusterNameLabelKey: w.name("c004")}
		w.create(ctx, renamed)
		w.expectSlices(ctx, "p", inFleet("c001", "c002", "fourth"))
		w.expectProfilesFound(ctx, missing, "1 of 4 selected clusters have no ClusterProfile")

		edit(ctx, renamed, func(p *clusterinventory.ClusterProfile) { p.Labels[clusterv1.ClusterNameLabelKey] = w.name("c003") })
		w.expectProfilesFound(ctx, missing, ": "+w.name("c004"))
		w.expectSlices(ctx, "p", inFleet("c001", "c002", "fourth"))
		edit(ctx, renamed, func(p *clusterinventory.ClusterProfile) { p.Labels[clusterv1.ClusterNameLabelKey] = w.name("c004") })
		w.expectProfilesFound(ctx, missing, ": "+w.name("c003"))

		By("preferring the one in the namespace of the placement")
		near := w.profile(ctx, w.namespace, ourManager, "c001")
		w.expectSlices(ctx, "p", []string{"fleet/c002", "fleet/fourth", "./c001"})
		w.profile(ctx, w.namespace, ourManager, "c003")
		w.expectSlices(ctx, "p", []string{"fleet/c002", "fleet/fourth", "./c001", "./c003"})
		w.expectProfilesFound(ctx, found, "Every selected cluster has a ClusterProfile")

		By("letting go those that are deleted")
		Expect(hub.Delete(ctx, near)).To(Succeed())
		w.expectSlices(ctx, "p", []string{"fleet/c001", "fleet/c002", "fleet/fourth", "./c003"})
		Expect(hub.Delete(ctx, first)).To(Succeed())
		w.expectSlices(ctx, "p", []string{"fleet/c002", "fleet/fourth", "./c003"})
		w.expectProfilesFound(ctx, missing, ": "+w.name("c001"))
		Expect(w.pages(ctx, Default, "p")[0].ResourceVersion).To(Equal(ordinary), "the ordinary decisions do not move with it")
	})

	It("B1, B2: are slices of a hundred by name, and keep what stays at every moment, whatever groups and order the placement asks for",
		func(ctx SpecContext) {
			w := prepared(ctx)
			w.fleet(ctx, 1, 230)

			film := w.watchSlices(ctx)
			w.placement(ctx, "p", clusterv1beta1.PlacementSpec{
				SortBy: clusterv1beta1.PlacementSortByScore, ScoreRateLimit: "1s", PrioritizerPolicy: exactly(demoScore(1)),
				DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: clusterv1beta1.GroupStrategy{
					ClustersPerDecisionGroup: intstr.FromInt32(60),
				}},
			})
			w.expectSlices(ctx, "p", inFleet(shorts(1, 100)...), inFleet(shorts(101, 200)...), inFleet(shorts(201, 230)...))
			film.until(ctx, w.shownSlices(ctx, Default))
			film.stays(inFleet(shorts(36, 230)...)...)

			By("taking in one that comes first by name")
			w.fleet(ctx, 0, 0)
			w.expectSlices(ctx, "p", inFleet(shorts(1, 100)...), inFleet(shorts(101, 200)...),
				inFleet(append([]string{"c000"}, shorts(201, 230)...)...))

			By("not following the scores")

			before := versions(ctx, w)

			w.score(ctx, "c230", 90, nil)
			Eventually(func(g Gomega) {
				g.Expect(w.pages(ctx, g, "p")).To(ContainElement(HaveField("Status.Decisions", ContainElement(HaveField("Score", int64(90))))))
			}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
			w.idle(ctx)
			Expect(versions(ctx, w)).To(Equal(before))

			By("moving the last slice into the gaps when many go")
			Expect(each(ctx, 35, func(ctx context.Context, i int) error {
				return hub.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: w.name(shorts(1, 35)[i])}})
			})).To(Succeed())
			w.expectSlices(ctx, "p", inFleet(slices.Concat([]string{"c000"}, shorts(36, 100), shorts(201, 230))...),
				inFleet(shorts(101, 200)...))
			film.until(ctx, w.shownSlices(ctx, Default))
		})

	It("A1: stay while the placement is misconfigured", func(ctx SpecContext) {
		w := prepared(ctx)
		w.fleet(ctx, 1, 2)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSlices(ctx, "p", inFleet(shorts(1, 2)...))
		w.expectProfilesFound(ctx, found, "")

		before := versions(ctx, w)

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
			s.Predicates = []clusterv1beta1.ClusterPredicate{byLabel("group", "not a value!")}
		})
		w.expectMisconfigured(ctx, "p", "not a value!", shorts(1, 2)...)
		w.fleet(ctx, 3, 3)
		w.expectProfilesFound(ctx, found, "")
		w.idle(ctx)
		Expect(versions(ctx, w)).To(Equal(before))

		By("getting one with an empty list when it is new")
		w.placement(ctx, "new", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{byLabel("group", "not a value!")}})
		w.expectSlices(ctx, "new", []string{})
	})

	It("B4: leave a slice of our name that somebody else has written alone", func(ctx SpecContext) {
		w := prepared(ctx)
		w.fleet(ctx, 1, 2)

		theirs := &clusterinventory.PlacementDecision{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "p-decision-1", Labels: map[string]string{
				clusterinventory.DecisionKeyLabel: "p", clusterinventory.PlacementKeyLabel: "p", clusterinventory.DecisionIndexLabel: "0",
			}},
			SchedulerName: "somebody-else",
			Decisions: []clusterinventory.ClusterDecision{
				{ClusterProfileRef: clusterinventory.ClusterProfileReference{Namespace: "there", Name: "theirs"}},
			},
		}
		w.create(ctx, theirs)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSlices(ctx, "p", inFleet(shorts(1, 2)...))
		Expect(w.slices(ctx, Default, "p")[0].Name).To(Equal("p-decision-2"))
		w.fleet(ctx, 3, 3)
		w.expectSlices(ctx, "p", inFleet(shorts(1, 3)...))

		now := &clusterinventory.PlacementDecision{}
		Expect(hub.Get(ctx, client.ObjectKeyFromObject(theirs), now)).To(Succeed())
		Expect(now.ResourceVersion).To(Equal(theirs.ResourceVersion))
	})

	It("B4: are mended when others change them", func(ctx SpecContext) {
		w := prepared(ctx)
		w.fleet(ctx, 1, 2)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSlices(ctx, "p", inFleet(shorts(1, 2)...))

		slice := &w.slices(ctx, Default, "p")[0]
		edit(ctx, slice, func(s *clusterinventory.PlacementDecision) {
			delete(s.Labels, clusterinventory.DecisionKeyLabel)
			s.OwnerReferences = nil
			s.Decisions = s.Decisions[:1]
		})
		w.expectSlices(ctx, "p", inFleet(shorts(1, 2)...))
		Expect(w.slices(ctx, Default, "p")[0].UID).To(Equal(slice.UID))

		By("putting back who it is from, without a second one of the same place")

		renamed := w.watchSlices(ctx)
		renamed.stays(inFleet(shorts(1, 2)...)...)
		edit(ctx, slice, func(s *clusterinventory.PlacementDecision) { s.SchedulerName = "somebody-else" })
		w.expectSlices(ctx, "p", inFleet(shorts(1, 2)...))
		w.idle(ctx)

		all := &clusterinventory.PlacementDecisionList{}
		Expect(hub.List(ctx, all, client.InNamespace(w.namespace))).To(Succeed())
		Expect(all.Items).To(HaveLen(1))
		Expect(all.Items[0].UID).To(Equal(slice.UID))
		Expect(all.Items[0].SchedulerName).To(Equal(placement.SchedulerName))
		renamed.until(ctx, w.shownSlices(ctx, Default))

		By("making one anew whose place in the order cannot be right, without a gap")

		film := w.watchSlices(ctx)
		film.stays(inFleet(shorts(1, 2)...)...)
		edit(ctx, slice, func(s *clusterinventory.PlacementDecision) { s.Labels[clusterinventory.DecisionIndexLabel] = "7" })
		w.expectSlices(ctx, "p", inFleet(shorts(1, 2)...))
		w.idle(ctx)
		film.until(ctx, w.shownSlices(ctx, Default))
	})

	It("A7: that cannot be written hold nothing else up, and are tried again", func(ctx SpecContext) {
		w := prepared(ctx)
		quota := w.forbid(ctx, "placementdecisions.multicluster.x-k8s.io", 0,
			&clusterinventory.PlacementDecision{Decisions: []clusterinventory.ClusterDecision{}})
		w.fleet(ctx, 1, 2)

		errors := w.activity(Default).Errors

		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 2)...)
		w.fleet(ctx, 3, 3)
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 3)...)
		Eventually(func(g Gomega) { g.Expect(w.activity(g).Errors).To(BeNumerically(">=", errors+2)) }).
			WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(Succeed(), "the error is returned and tried again")
		Expect(w.slices(ctx, Default, "p")).To(BeEmpty())

		Expect(hub.Delete(ctx, quota)).To(Succeed())
		w.expectSlices(ctx, "p", inFleet(shorts(1, 3)...))
	})

	It("A7: are not held up by ordinary decisions that cannot be written", func(ctx SpecContext) {
		w := prepared(ctx)
		w.fleet(ctx, 1, 101)
		quota := w.forbidPages(ctx, record.V1beta1.Form(), 0)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSlices(ctx, "p", inFleet(shorts(1, 100)...), inFleet("c101"))
		w.deleteCluster(ctx, "c001")
		w.expectSlices(ctx, "p", inFleet(shorts(2, 101)...))
		w.expectUnwritten(ctx, Default, "p")

		Expect(hub.Delete(ctx, quota)).To(Succeed())
		w.expectSelected(ctx, "p", allScheduled, shorts(2, 101)...)
	})

	It("wake no placement as they come back, however many there are", func(ctx SpecContext) {
		w := prepared(ctx)
		w.fleet(ctx, 1, 330)
		w.expectOwnWritesKnown(ctx, slices.Concat([]func(){func() {
			w.placement(ctx, "p", clusterv1beta1.PlacementSpec{DecisionStrategy: canaryStrategy(50, true)})
			w.placement(ctx, "q", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](250)})
			w.placement(ctx, "r", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](330)})
		}}, w.regroupings(ctx))...)
	})

	It("B6: are not written by a restart", func(ctx SpecContext) {
		w := prepared(ctx)
		w.fleet(ctx, 1, 102)
		w.clusters(ctx, "set", 103, 103)

		for name, spec := range map[string]clusterv1beta1.PlacementSpec{
			"all": {}, "none": {Predicates: []clusterv1beta1.ClusterPredicate{byLabel("cloud", "z")}},
			"wrong": {Predicates: []clusterv1beta1.ClusterPredicate{byLabel("group", "not a value!")}},
		} {
			w.placement(ctx, name, spec)
			Eventually(func(g Gomega) {
				w.look(ctx, g, name)
				g.Expect(w.slices(ctx, g, name)).NotTo(BeEmpty())
			}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
		}

		w.expectSlices(ctx, "all", inFleet(shorts(1, 100)...), inFleet(shorts(101, 102)...))

		evaluations := w.idle(ctx).Evaluations
		before := w.writes(Default)

		stopHub()

		stopHub = startHub(serviceAccount(ctx, controlPlane), profiled)

		Eventually(func(g Gomega) { g.Expect(w.activity(g).Evaluations).To(BeNumerically(">=", evaluations+3)) }).
			WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(Succeed())
		w.expectNoWrite(ctx, before)
	})

	It("stay as they are when the hub runs without the flag, and the condition goes", func(ctx SpecContext) {
		w := prepared(ctx)
		w.fleet(ctx, 1, 2)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSlices(ctx, "p", inFleet(shorts(1, 2)...))
		w.expectProfilesFound(ctx, found, "")

		before := versions(ctx, w)

		stopHub()

		stopHub = startHub(serviceAccount(ctx, controlPlane))

		w.deleteCluster(ctx, "c001")
		w.expectSelected(ctx, "p", allScheduled, "c002")
		Expect(w.read(ctx, Default, "p").Status.Conditions).To(HaveLen(2))
		Expect(versions(ctx, w)).To(Equal(before))
	})
})
