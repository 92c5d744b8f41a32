// SPDX-License-Identifier: Apache-2.0

package multicluster

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("ClusterProfiles of Open Cluster Management", Ordered, ContinueOnFailure, func() {
	withoutProfiles := func(o *system.Options) { o.ProfileDecisions = true }
	takingOver := func(o *system.Options) {
		withProfiles(o)
		o.ClusterProfileFormerWriters = []string{"registration"}
	}
	// identities are the UIDs of the ClusterProfiles of the two clusters, and the UIDs and resource versions of the slices of "p".
	identities := func(ctx context.Context, f *suite.Fixture) []string {
		all := []string{}
		for _, short := range suite.Shorts(1, 2) {
			all = append(all, string(readProfile(ctx, f, Default, short).UID))
		}
		for _, slice := range slicesOf(ctx, f, Default, "p") {
			all = append(all, string(slice.UID)+" "+slice.ResourceVersion)
		}
		return all
	}
	// prepared is a fixture with two clusters, ClusterProfiles that registration has made, and slices that refer to them.
	prepared := func(ctx context.Context, registration registration) *suite.Fixture {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2, suite.Claiming("region", "eu"), suite.IsAvailable(metav1.ConditionTrue), func(c *clusterv1.ManagedCluster) {
			c.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
			c.Status.Version.Kubernetes = "v1.34.0"
		})
		for _, short := range suite.Shorts(1, 2) {
			registration.publish(ctx, f, short)
		}
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		expectSlices(ctx, f, "p", []string{"./c001", "./c002"})
		return f
	}
	// expectOurs waits until the hub alone owns what it says in the ClusterProfile of a cluster.
	expectOurs := func(ctx context.Context, f *suite.Fixture, short string) {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			profile := readProfile(ctx, f, g, short)
			_, left := clusterprofiles.TakeOver(profile.ManagedFields, []string{"registration"})
			g.Expect(left).To(BeFalse(), "%v", profile.ManagedFields)
			wanted, _ := clusterprofiles.Patterns{}.Profile(f.ReadCluster(ctx, g, short))
			g.Expect(profile.Status.Conditions).To(HaveLen(1))
			g.Expect(profile.Status.Conditions[0].LastTransitionTime.Time).To(BeTemporally("==", wanted.Status.Conditions[0].LastTransitionTime.Time))
			g.Expect(profile.Status.Version.Kubernetes).To(Equal(wanted.Status.Version.Kubernetes))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	}
	version := func(value string) func(*clusterinventory.ClusterProfileStatus) {
		return func(status *clusterinventory.ClusterProfileStatus) { status.Version.Kubernetes = value }
	}

	BeforeAll(func(ctx SpecContext) { moveToProfiles(ctx, "/takeover", withoutProfiles) })

	// docs/spec/ecosystem.md E4
	It("CP9: are taken over and given back without a new ClusterProfile and without a write of a slice", func(ctx SpecContext) {
		registration := newRegistration()
		f := prepared(ctx, registration)
		before := identities(ctx, f)

		By("taking them over once registration is off")
		restartHub(ctx, takingOver)
		for _, short := range suite.Shorts(1, 2) {
			expectOurs(ctx, f, short)
		}
		setClaims(ctx, f, "c001", "zone", "a")
		expectProperties(ctx, f, "c001", map[string]string{"zone": "a"})
		Expect(ownedByAnother(ctx, f, Default)).To(BeEmpty())
		Expect(identities(ctx, f)).To(Equal(before))

		By("leaving one to registration that is on again, for which one Event is sent")
		registration.patchStatus(ctx, f, "c002", version("v1.35.0"))
		Eventually(func(g Gomega) { g.Expect(ownedByAnother(ctx, f, g)).To(HaveLen(1)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Expect(ownedByAnother(ctx, f, Default)[0].Regarding.Name).To(Equal(f.Name("c002")))
		Eventually(func(g Gomega) int { return suite.CounterSum(g, "placement_hub_clusterprofiles_owned_by_another", nil) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(1))
		theirs := readProfile(ctx, f, Default, "c002")
		setClaims(ctx, f, "c002", "zone", "b") // A reason to reconcile.
		Consistently(func(g Gomega) {
			g.Expect(readProfile(ctx, f, g, "c002").ResourceVersion).To(Equal(theirs.ResourceVersion))
			g.Expect(ownedByAnother(ctx, f, g)).To(HaveLen(1))
		}).WithContext(ctx).WithTimeout(suite.Timeout / 10).Should(Succeed())
		Expect(theirs.Status.Version.Kubernetes).To(Equal("v1.35.0"))

		By("giving all back to registration with the controller off")
		restartHub(ctx, withoutProfiles)
		setClaims(ctx, f, "c001", "tier", "gold")
		for _, short := range suite.Shorts(1, 2) {
			registration.publish(ctx, f, short)
		}
		expectProperties(ctx, f, "c001", map[string]string{"tier": "gold"})
		expectProperties(ctx, f, "c002", map[string]string{"zone": "b"})
		f.AwaitIdle(ctx)
		Expect(identities(ctx, f)).To(Equal(before))

		By("taking them over again")
		restartHub(ctx, takingOver)
		for _, short := range suite.Shorts(1, 2) {
			expectOurs(ctx, f, short)
		}
		setClaims(ctx, f, "c001", "zone", "c")
		expectProperties(ctx, f, "c001", map[string]string{"zone": "c"})
		f.AwaitIdle(ctx)
		Expect(identities(ctx, f)).To(Equal(before))
	})

	It("CP6, CP9: keep the ways to access a cluster that the former writer owns, and the labels of others", func(ctx SpecContext) {
		registration := newRegistration()
		restartHub(ctx, withoutProfiles)
		f := prepared(ctx, registration)
		registration.patchStatus(ctx, f, "c001", func(status *clusterinventory.ClusterProfileStatus) {
			status.AccessProviders = []clusterinventory.AccessProvider{{Name: "kubeconfig"}}
		})
		suite.Edit(ctx, readProfile(ctx, f, Default, "c001"), func(p *clusterinventory.ClusterProfile) { p.Labels["team"] = "a" })
		restartHub(ctx, takingOver)
		expectOurs(ctx, f, "c001")
		setClaims(ctx, f, "c001", "zone", "a")
		profile := expectProperties(ctx, f, "c001", map[string]string{"zone": "a"})
		Expect(profile.Status.AccessProviders).To(HaveLen(1))
		Expect(profile.Labels).To(HaveKeyWithValue("team", "a"))
	})

	It("CP7, CP9: are left to registration without the flag", func(ctx SpecContext) {
		registration := newRegistration()
		restartHub(ctx, withoutProfiles)
		f := prepared(ctx, registration)
		registration.patchStatus(ctx, f, "c001", version("v1.35.0"))
		theirs := readProfile(ctx, f, Default, "c001")
		restartHub(ctx, withProfiles)
		Eventually(func(g Gomega) {
			events := ownedByAnother(ctx, f, g)
			names := []string{}
			for _, event := range events {
				names = append(names, event.Regarding.Name)
			}
			g.Expect(names).To(ContainElement(f.Name("c001")))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Expect(readProfile(ctx, f, Default, "c001").Status).To(Equal(theirs.Status))
	})

	// docs/spec/ecosystem.md E3
	It("CP6: with equal values are written once, without a change of a value, and not when registration writes equal ones", func(ctx SpecContext) {
		registration := newRegistration()
		restartHub(ctx, withoutProfiles)
		f := prepared(ctx, registration)
		for _, short := range suite.Shorts(1, 2) { // What registration has observed at the moment of the change.
			cluster := f.ReadCluster(ctx, Default, short)
			cluster.Status.Conditions[0].LastTransitionTime = readProfile(ctx, f, Default, short).Status.Conditions[0].LastTransitionTime
			Expect(suite.Client.Status().Update(ctx, cluster)).To(Succeed())
		}
		theirs := readProfile(ctx, f, Default, "c001")
		restartHub(ctx, withProfiles)
		Eventually(func(g Gomega) {
			g.Expect(appliedByHub(readProfile(ctx, f, g, "c001"))).To(HaveLen(2), "of the object and of its status")
			g.Expect(appliedByHub(readProfile(ctx, f, g, "c002"))).To(HaveLen(2), "of the object and of its status")
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		f.AwaitIdle(ctx)
		shared := readProfile(ctx, f, Default, "c001")
		Expect(shared.Status).To(Equal(theirs.Status))
		Expect(shared.Spec).To(Equal(theirs.Spec))
		Expect(shared.Labels).To(Equal(theirs.Labels))

		before := profileWrites(Default, f.Namespace)
		// While the cache has not seen the apply of an object yet, its status may be applied once more, which changes nothing.
		Expect(slices.Compact(slices.Sorted(slices.Values(before)))).To(HaveLen(4), "%v", before)
		registration.publish(ctx, f, "c001")
		suite.Edit(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: f.Name("c001")}},
			func(cluster *clusterv1.ManagedCluster) { cluster.Labels["reason"] = "reconcile" })
		f.AwaitIdle(ctx)
		Expect(profileWrites(Default, f.Namespace)).To(Equal(before))
		Expect(ownedByAnother(ctx, f, Default)).To(BeEmpty())
	})

	It("CP8, CP9: go when the cluster has left while registration was off", func(ctx SpecContext) {
		registration := newRegistration()
		restartHub(ctx, withoutProfiles)
		f := prepared(ctx, registration)
		f.DeleteCluster(ctx, "c001")
		expectSlices(ctx, f, "p", []string{"./c002"})
		Expect(suite.Client.Get(ctx, types.NamespacedName{Namespace: f.Namespace, Name: f.Name("c001")}, &clusterinventory.ClusterProfile{})).
			To(Succeed())
		restartHub(ctx, takingOver)
		suite.ExpectGone(ctx, newProfile(f.Namespace, ourManager, f.Name("c001")))
		readProfile(ctx, f, Default, "c002")
	})
})

// appliedByHub returns the entries of the field manager of the hub.
func appliedByHub(profile *clusterinventory.ClusterProfile) []metav1.ManagedFieldsEntry {
	return slices.DeleteFunc(profile.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager != clusterprofiles.FieldManager
	})
}
