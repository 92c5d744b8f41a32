// SPDX-License-Identifier: Apache-2.0

package multicluster

import (
	"context"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("PlacementDecisions of multicluster.x-k8s.io", Ordered, ContinueOnFailure, func() {
	const (
		found   = "True AllClusterProfilesFound"
		missing = "False ClusterProfilesMissing"
	)
	profiled := func(o *system.Options) { o.ProfileDecisions = true }
	// prepared is a fixture with a bound set, and a namespace for ClusterProfiles.
	prepared := func(ctx context.Context) *suite.Fixture {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Name("fleet")}})
		f.Set(ctx, "set")
		return f
	}
	// versions are the resource versions of the slices of "p".
	versions := func(ctx context.Context, f *suite.Fixture) []string {
		all := []string{}
		for _, slice := range slicesOf(ctx, f, Default, "p") {
			all = append(all, slice.ResourceVersion)
		}
		return all
	}

	BeforeAll(func(ctx SpecContext) {
		another, err := suite.ControlPlane.AnotherAPIServer(ctx, "/multicluster", localplane.Options{AuditLog: true, Log: GinkgoWriter})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(another.Stop()).To(Succeed()) })
		Expect(manifests.Install(ctx, another.AdminConfig())).To(Succeed())
		Expect(manifests.InstallMulticluster(ctx, another.AdminConfig())).To(Succeed())
		moveTo(ctx, another, profiled)
	})

	// docs/spec/ecosystem.md E6
	It("T18: nobody makes a ClusterProfile of the real producer without publish", func(ctx SpecContext) {
		f := prepared(ctx)
		eve := suite.As("eve")
		suite.Bind(ctx, f.Namespace, "edit", "eve")
		suite.Allow(ctx, f.Namespace, "eve", rbacv1.PolicyRule{
			APIGroups: []string{clusterinventory.Group}, Resources: []string{"clusterprofiles", "clusterprofiles/status"},
			Verbs: []string{"create", "update", "patch"},
		})
		refused := And(Satisfy(apierrors.IsForbidden), MatchError(ContainSubstring(`this needs the verb "publish" on clusterprofiles`)))
		// Nothing is created before the API server has learned of the policy.
		Eventually(func() error {
			return eve.Create(ctx, newProfile(f.Namespace, ourManager, f.Name("c001")), client.DryRunAll)
		}).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(refused)

		Expect(eve.Create(ctx, newProfile(f.Namespace, otherManager, f.Name("c001")))).To(Succeed(), "of another cluster manager")
		genuine := createProfile(ctx, f, f.Namespace, ourManager, "c002")
		Expect(eve.Patch(ctx, genuine.DeepCopy(), client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"open-cluster-management.io/cluster-name":"prod"}}}`)))).To(refused)
		Expect(eve.Status().Patch(ctx, genuine.DeepCopy(), client.RawPatch(types.MergePatchType,
			[]byte(`{"status":{"properties":[{"name":"a","value":"b"}]}}`)))).To(refused)
		Expect(eve.Patch(ctx, genuine.DeepCopy(), client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":["example.com/held"]}}`)))).To(Succeed(), "finalizers ask for nothing")
		Expect(eve.Patch(ctx, genuine.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())

		suite.Bind(ctx, f.Namespace, "multicluster.x-k8s.io:clusterprofile-publisher", "eve")
		Expect(eve.Create(ctx, newProfile(f.Namespace, ourManager, f.Name("c003")))).To(Succeed())
	})

	It("T18: name no ClusterProfile whose labels disagree with the ManagedCluster, and explain says which", func(ctx SpecContext) {
		f := prepared(ctx)
		f.Clusters(ctx, "set", 1, 2)
		createProfile(ctx, f, f.Namespace, ourManager, "c001")
		fake := newProfile(f.Namespace, ourManager, f.Name("a-fake"))
		fake.Labels = map[string]string{clusterv1.ClusterNameLabelKey: f.Name("c001")}
		f.Create(ctx, fake)

		wrong := createProfile(ctx, f, f.Namespace, ourManager, "c002")
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		expectSlices(ctx, f, "p", []string{"./c001", "./c002"})
		expectProfilesFound(ctx, f, found, fmt.Sprintf("; not believed: ClusterProfile %s/%s of cluster %s (its label "+
			"open-cluster-management.io/cluster-name is %[3]q, and its name, which is that of the ManagedCluster, %[2]q)",
			f.Namespace, fake.Name, f.Name("c001")))
		Expect(explained(ctx, f)).To(ContainSubstring("not believed: ClusterProfile " + f.Namespace + "/" + fake.Name))

		By("leaving a cluster out whose only profile says that another manager has it")
		suite.Edit(ctx, wrong, func(p *clusterinventory.ClusterProfile) {
			p.Labels = map[string]string{clusterinventory.LabelClusterManagerKey: otherManager}
		})
		expectSlices(ctx, f, "p", []string{"./c001"})
		expectProfilesFound(ctx, f, missing, "ClusterProfile "+f.Namespace+"/"+wrong.Name+" of cluster "+wrong.Name)
		Expect(explained(ctx, f)).To(ContainSubstring(`its label x-k8s.io/cluster-manager is "elsewhere"`))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)

		By("keeping one whose label of the cluster set has not followed its ManagedCluster yet")
		suite.Edit(ctx, wrong, func(p *clusterinventory.ClusterProfile) {
			p.Labels = map[string]string{
				clusterinventory.LabelClusterManagerKey: ourManager, clusterv1.ClusterNameLabelKey: wrong.Name,
				clusterinventory.LabelClusterSetKey: "the-set-before",
			}
		})
		expectSlices(ctx, f, "p", []string{"./c001", "./c002"})
		Expect(suite.Client.Delete(ctx, fake)).To(Succeed())
		expectProfilesFound(ctx, f, found, "Every selected cluster has a ClusterProfile")
		Eventually(func() string { return explained(ctx, f) }).WithContext(ctx).WithTimeout(suite.Timeout).
			ShouldNot(ContainSubstring("not believed"))
	})

	It("have one slice with an empty list when nothing is selected", func(ctx SpecContext) {
		f := prepared(ctx)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		expectSlices(ctx, f, "p", []string{})
		expectProfilesFound(ctx, f, found, "Every selected cluster has a ClusterProfile")
		Expect(slicesOf(ctx, f, Default, "p")[0].Name).To(Equal("p-decision-1"))
	})

	It("name ClusterProfiles that exist, and the status says which do not", func(ctx SpecContext) {
		f := prepared(ctx)
		fleet := f.Name("fleet")
		f.Clusters(ctx, "set", 1, 4)
		first := createProfile(ctx, f, fleet, ourManager, "c001")
		createProfile(ctx, f, fleet, otherManager, "c003")
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		expectSlices(ctx, f, "p", inFleet("c001"))
		expectProfilesFound(ctx, f, missing, "3 of 4 selected clusters have no ClusterProfile and are left out of the "+
			"PlacementDecisions of multicluster.x-k8s.io: "+f.Name("c002")+", "+f.Name("c003")+", "+f.Name("c004"))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 4)...)

		ordinary := f.Pages(ctx, Default, "p")[0].ResourceVersion
		By("taking in those that are created")
		createProfile(ctx, f, fleet, ourManager, "c002")
		expectSlices(ctx, f, "p", inFleet("c001", "c002"))
		labelled := newProfile(fleet, ourManager, f.Name("c004"))
		labelled.Labels = map[string]string{clusterv1.ClusterNameLabelKey: f.Name("c004")}
		f.Create(ctx, labelled)
		expectSlices(ctx, f, "p", inFleet("c001", "c002", "c004"))
		expectProfilesFound(ctx, f, missing, "1 of 4 selected clusters have no ClusterProfile")

		By("preferring the one in the namespace of the placement")
		near := createProfile(ctx, f, f.Namespace, ourManager, "c001")
		expectSlices(ctx, f, "p", []string{"fleet/c002", "fleet/c004", "./c001"})
		createProfile(ctx, f, f.Namespace, ourManager, "c003")
		expectSlices(ctx, f, "p", []string{"fleet/c002", "fleet/c004", "./c001", "./c003"})
		expectProfilesFound(ctx, f, found, "Every selected cluster has a ClusterProfile")

		By("letting go those that are deleted")
		Expect(suite.Client.Delete(ctx, near)).To(Succeed())
		expectSlices(ctx, f, "p", []string{"fleet/c001", "fleet/c002", "fleet/c004", "./c003"})
		Expect(suite.Client.Delete(ctx, first)).To(Succeed())
		expectSlices(ctx, f, "p", []string{"fleet/c002", "fleet/c004", "./c003"})
		expectProfilesFound(ctx, f, missing, ": "+f.Name("c001"))
		Expect(f.Pages(ctx, Default, "p")[0].ResourceVersion).To(Equal(ordinary), "the ordinary decisions do not move with it")
	})

	It("B1, B2: are slices of a hundred by name, and keep what stays at every moment, whatever groups and order the placement asks for",
		func(ctx SpecContext) {
			f := prepared(ctx)
			createFleet(ctx, f, 1, 230)

			recording := watchSlices(ctx, f)
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{
				SortBy: clusterv1beta1.PlacementSortByScore, ScoreRateLimit: "1s", PrioritizerPolicy: suite.Exactly(suite.DemoScore(1)),
				DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: clusterv1beta1.GroupStrategy{
					ClustersPerDecisionGroup: intstr.FromInt32(60),
				}},
			})
			expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 100)...), inFleet(suite.Shorts(101, 200)...), inFleet(suite.Shorts(201, 230)...))
			recording.PlayUntil(ctx, shownSlices(ctx, f, Default))
			recording.Require(inFleet(suite.Shorts(36, 230)...)...)

			By("taking in one that comes first by name")
			createFleet(ctx, f, 0, 0)
			expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 100)...), inFleet(suite.Shorts(101, 200)...),
				inFleet(append([]string{"c000"}, suite.Shorts(201, 230)...)...))

			By("not following the scores")
			before := versions(ctx, f)
			f.Score(ctx, "c230", 90, nil)
			Eventually(func(g Gomega) {
				g.Expect(f.Pages(ctx, g, "p")).To(ContainElement(HaveField("Status.Decisions", ContainElement(HaveField("Score", int64(90))))))
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			f.AwaitIdle(ctx)
			Expect(versions(ctx, f)).To(Equal(before))

			By("moving the last slice into the gaps when many go")
			Expect(suite.Each(ctx, 35, func(ctx context.Context, i int) error {
				return suite.Client.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: f.Name(suite.Shorts(1, 35)[i])}})
			})).To(Succeed())
			expectSlices(ctx, f, "p", inFleet(slices.Concat([]string{"c000"}, suite.Shorts(36, 100), suite.Shorts(201, 230))...),
				inFleet(suite.Shorts(101, 200)...))
			recording.PlayUntil(ctx, shownSlices(ctx, f, Default))
		})

	It("A1: stay while the placement is misconfigured", func(ctx SpecContext) {
		f := prepared(ctx)
		createFleet(ctx, f, 1, 2)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 2)...))
		expectProfilesFound(ctx, f, found, "")
		before := versions(ctx, f)

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) {
			s.Predicates = []clusterv1beta1.ClusterPredicate{suite.ByLabel("group", "not a value!")}
		})
		f.ExpectMisconfigured(ctx, "p", "not a value!", suite.Shorts(1, 2)...)
		createFleet(ctx, f, 3, 3)
		expectProfilesFound(ctx, f, found, "")
		f.AwaitIdle(ctx)
		Expect(versions(ctx, f)).To(Equal(before))

		By("getting one with an empty list when it is new")
		f.Placement(ctx, "new", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("group", "not a value!")}})
		expectSlices(ctx, f, "new", []string{})
	})

	It("B4: leave a slice of our name that somebody else has written alone", func(ctx SpecContext) {
		f := prepared(ctx)
		createFleet(ctx, f, 1, 2)
		theirs := &clusterinventory.PlacementDecision{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "p-decision-1", Labels: map[string]string{
				clusterinventory.DecisionKeyLabel: "p", clusterinventory.PlacementKeyLabel: "p", clusterinventory.DecisionIndexLabel: "0",
			}},
			SchedulerName: "somebody-else",
			Decisions: []clusterinventory.ClusterDecision{
				{ClusterProfileRef: clusterinventory.ClusterProfileReference{Namespace: "there", Name: "theirs"}},
			},
		}
		f.Create(ctx, theirs)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 2)...))
		Expect(slicesOf(ctx, f, Default, "p")[0].Name).To(Equal("p-decision-2"))
		createFleet(ctx, f, 3, 3)
		expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 3)...))
		const left = "; written by another, and left alone: "
		expectProfilesFound(ctx, f, found,
			left+`p-decision-1 (schedulerName "somebody-else"); leave --sig-placement-decisions or the other writer off`)

		By("leaving the mirrors of Open Cluster Management alone, also those that the placement owns")
		mirror := theirs.DeepCopy()
		mirror.ObjectMeta = metav1.ObjectMeta{Namespace: f.Namespace, Name: "p-decision-3", Labels: theirs.Labels}
		mirror.Labels[clusterinventory.LabelClusterManagerKey] = ourManager
		mirror.SchedulerName = ""
		mirror.OwnerReferences = slicesOf(ctx, f, Default, "p")[0].OwnerReferences
		f.Create(ctx, mirror)
		expectProfilesFound(ctx, f, found, left+`p-decision-1 (schedulerName "somebody-else"), p-decision-3 (schedulerName "")`)
		createFleet(ctx, f, 4, 4)
		expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 4)...))

		for _, of := range []*clusterinventory.PlacementDecision{theirs, mirror} {
			now := &clusterinventory.PlacementDecision{}
			Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(of), now)).To(Succeed())
			Expect(now.ResourceVersion).To(Equal(of.ResourceVersion))
		}
		Expect(suite.Client.Delete(ctx, mirror)).To(Succeed())
		Expect(suite.Client.Delete(ctx, theirs)).To(Succeed())
		expectProfilesFound(ctx, f, found, "Every selected cluster has a ClusterProfile")
		Eventually(func(g Gomega) {
			condition := meta.FindStatusCondition(f.Read(ctx, g, "p").Status.Conditions, placement.ConditionProfilesFound)
			g.Expect(condition.Message).NotTo(ContainSubstring(left))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("B4: are mended when others change them", func(ctx SpecContext) {
		f := prepared(ctx)
		createFleet(ctx, f, 1, 2)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 2)...))

		slice := &slicesOf(ctx, f, Default, "p")[0]
		suite.Edit(ctx, slice, func(s *clusterinventory.PlacementDecision) {
			delete(s.Labels, clusterinventory.DecisionKeyLabel)
			s.OwnerReferences = nil
			s.Decisions = s.Decisions[:1]
		})
		expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 2)...))
		Expect(slicesOf(ctx, f, Default, "p")[0].UID).To(Equal(slice.UID))

		By("putting back who it is from, without a second one of the same place")
		renamed := watchSlices(ctx, f)
		renamed.Require(inFleet(suite.Shorts(1, 2)...)...)
		suite.Edit(ctx, slice, func(s *clusterinventory.PlacementDecision) { s.SchedulerName = "somebody-else" })
		expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 2)...))
		f.AwaitIdle(ctx)

		all := &clusterinventory.PlacementDecisionList{}
		Expect(suite.Client.List(ctx, all, client.InNamespace(f.Namespace))).To(Succeed())
		Expect(all.Items).To(HaveLen(1))
		Expect(all.Items[0].UID).To(Equal(slice.UID))
		Expect(all.Items[0].SchedulerName).To(Equal(controller.SchedulerName))
		renamed.PlayUntil(ctx, shownSlices(ctx, f, Default))

		By("making one anew whose place in the order cannot be right, without a gap")
		recording := watchSlices(ctx, f)
		recording.Require(inFleet(suite.Shorts(1, 2)...)...)
		suite.Edit(ctx, slice, func(s *clusterinventory.PlacementDecision) { s.Labels[clusterinventory.DecisionIndexLabel] = "7" })
		expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 2)...))
		f.AwaitIdle(ctx)
		recording.PlayUntil(ctx, shownSlices(ctx, f, Default))
	})

	It("A7: that cannot be written hold nothing else up, and are tried again", func(ctx SpecContext) {
		f := prepared(ctx)
		quota := f.Forbid(ctx, "placementdecisions.multicluster.x-k8s.io", 0,
			&clusterinventory.PlacementDecision{Decisions: []clusterinventory.ClusterDecision{}})
		createFleet(ctx, f, 1, 2)
		errors := f.Activity(Default).Errors

		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
		createFleet(ctx, f, 3, 3)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 3)...)
		Eventually(func(g Gomega) { g.Expect(f.Activity(g).Errors).To(BeNumerically(">=", errors+2)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(suite.AuditInterval).Should(Succeed(), "the error is returned and tried again")
		Expect(slicesOf(ctx, f, Default, "p")).To(BeEmpty())

		Expect(suite.Client.Delete(ctx, quota)).To(Succeed())
		expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 3)...))
	})

	It("A7: are not held up by ordinary decisions that cannot be written", func(ctx SpecContext) {
		f := prepared(ctx)
		createFleet(ctx, f, 1, 101)
		quota := f.ForbidPages(ctx, api.V1beta1.Codec(), 0)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 100)...), inFleet("c101"))
		f.DeleteCluster(ctx, "c001")
		expectSlices(ctx, f, "p", inFleet(suite.Shorts(2, 101)...))
		f.ExpectUnwritten(ctx, Default, "p")
		Expect(suite.Client.Delete(ctx, quota)).To(Succeed())
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(2, 101)...)
	})

	It("wake no placement as they come back, however many there are", func(ctx SpecContext) {
		f := prepared(ctx)
		createFleet(ctx, f, 1, 330)
		f.ExpectOwnWritesKnown(ctx, slices.Concat([]func(){func() {
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{DecisionStrategy: suite.CanaryStrategy(50, true)})
			f.Placement(ctx, "q", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](250)})
			f.Placement(ctx, "r", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](330)})
		}}, f.Regroupings(ctx))...)
	})

	It("B6: are not written by a restart", func(ctx SpecContext) {
		f := prepared(ctx)
		createFleet(ctx, f, 1, 102)
		f.Clusters(ctx, "set", 103, 103)
		for name, spec := range map[string]clusterv1beta1.PlacementSpec{
			"all": {}, "none": {Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("cloud", "z")}},
			"wrong": {Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("group", "not a value!")}},
		} {
			f.Placement(ctx, name, spec)
			Eventually(func(g Gomega) {
				f.Look(ctx, g, name)
				g.Expect(slicesOf(ctx, f, g, name)).NotTo(BeEmpty())
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		}

		expectSlices(ctx, f, "all", inFleet(suite.Shorts(1, 100)...), inFleet(suite.Shorts(101, 102)...))
		evaluations := f.AwaitIdle(ctx).Evaluations
		before := f.Writes(Default)
		suite.StopHub()
		suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), profiled)
		Eventually(func(g Gomega) { g.Expect(f.Activity(g).Evaluations).To(BeNumerically(">=", evaluations+3)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(suite.AuditInterval).Should(Succeed())
		f.ExpectNoWrite(ctx, before)
	})

	It("stay as they are when the hub runs without the flag, and the condition goes", func(ctx SpecContext) {
		f := prepared(ctx)
		createFleet(ctx, f, 1, 2)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		expectSlices(ctx, f, "p", inFleet(suite.Shorts(1, 2)...))
		expectProfilesFound(ctx, f, found, "")
		before := versions(ctx, f)
		suite.StopHub()
		suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))

		f.DeleteCluster(ctx, "c001")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002")
		Expect(f.Read(ctx, Default, "p").Status.Conditions).To(HaveLen(2))
		Expect(versions(ctx, f)).To(Equal(before))
	})
})
