// SPDX-License-Identifier: Apache-2.0

package multicluster

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("ClusterProfiles of a hub without Open Cluster Management", Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx SpecContext) { moveToProfiles(ctx, "/clusterprofiles", withProfiles) })

	// docs/spec/ecosystem.md E1
	It("CP1, CP3, CP4: profiles of a bound set come, slices name them, and they go after the slices", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Claiming("region", "eu"), suite.IsAvailable(metav1.ConditionTrue))
		f.Cluster(ctx, "set", "c002", suite.Claiming("region", "us"))
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		expectSlices(ctx, f, "p", []string{"./c001", "./c002"})
		expectProfilesFound(ctx, f, "True AllClusterProfilesFound", "")

		profile := expectProperties(ctx, f, "c001", map[string]string{"region": "eu"})
		Expect(profile.Spec.ClusterManager.Name).To(Equal(ourManager))
		Expect(profile.Labels).To(HaveKeyWithValue(clusterv1.ClusterNameLabelKey, f.Name("c001")))
		Expect(profile.Labels).To(HaveKeyWithValue(clusterinventory.LabelClusterManagerKey, ourManager))
		Expect(profile.Status.Conditions).To(HaveLen(1))
		Expect(profile.Status.Conditions[0].Type).To(Equal(clusterinventory.ClusterConditionControlPlaneHealthy))

		f.EditCluster(ctx, "c002", func(cluster *clusterv1.ManagedCluster) { delete(cluster.Labels, clusterv1beta2.ClusterSetLabel) })
		expectSlices(ctx, f, "p", []string{"./c001"})
		suite.ExpectGone(ctx, newProfile(f.Namespace, ourManager, f.Name("c002")))
	})

	// docs/spec/ecosystem.md E5 and E7
	It("CP4, CP5, CP6: a doubled claim keeps no other from the profile, and accessProviders of others stay", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		longest := strings.Repeat("é", clusterprofiles.MaxValueLength) // The API server counts characters.
		f.Cluster(ctx, "set", "c001", suite.Claiming("region", "eu"), suite.Claiming("long", longest), suite.Claiming("region", "us"))
		profile := expectProperties(ctx, f, "c001", map[string]string{"region": "eu", "long": longest})
		Eventually(func(g Gomega) int {
			return suite.CounterSum(g, "placement_hub_clusterprofile_claims_left_out", map[string]string{"reason": "Doubled"})
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(1))

		changed := profile.DeepCopy()
		changed.Status.AccessProviders = []clusterinventory.AccessProvider{{
			Name: "kubeconfig", Cluster: clientcmdv1.Cluster{Server: "https://c001.example"},
		}}
		Expect(suite.Client.Status().Patch(ctx, changed, client.MergeFrom(profile))).To(Succeed())
		setClaims(ctx, f, "c001", "zone", "a")
		after := expectProperties(ctx, f, "c001", map[string]string{"zone": "a"})
		Eventually(func(g Gomega) int { return suite.CounterSum(g, "placement_hub_clusterprofile_claims_left_out", nil) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(BeZero())
		Expect(after.Status.AccessProviders).To(HaveLen(1))
		Expect(after.UID).To(Equal(profile.UID))

		restartHub(ctx, withProfiles)
		Consistently(func(g Gomega) {
			g.Expect(readProfile(ctx, f, g, "c001").ResourceVersion).To(Equal(after.ResourceVersion))
		}).
			WithContext(ctx).WithTimeout(suite.Timeout / 10).Should(Succeed())
	})

	// docs/spec/ecosystem.md E6
	It("T18: status is written with publish, and the ways to access a cluster with provide-access", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Claiming("region", "eu"))
		profile := expectProperties(ctx, f, "c001", map[string]string{"region": "eu"})
		suite.Allow(ctx, f.Namespace, "eve", rbacv1.PolicyRule{
			APIGroups: []string{clusterinventory.Group}, Resources: []string{"clusterprofiles", "clusterprofiles/status"},
			Verbs: []string{"create", "update", "patch"},
		})
		patch := func(user, status string) error {
			return suite.As(user).Status().Patch(ctx, profile.DeepCopy(),
				client.RawPatch(types.MergePatchType, []byte(`{"status":`+status+`}`)), client.DryRunAll)
		}
		const access = `{"accessProviders":[{"name":"kubeconfig","cluster":{"server":"https://evil.example"}}]}`
		const credentials = `{"credentialProviders":[{"name":"kubeconfig","cluster":{"server":"https://evil.example"}}]}`
		const version = `{"version":{"kubernetes":"v0.0.1"}}`
		const properties = `{"properties":[{"name":"region","value":"us"}]}`
		const conditions = `{"conditions":[]}`
		const both = `{"version":{"kubernetes":"v0.0.1"},"accessProviders":[{"name":"kubeconfig"}]}`
		refused := func(verb string) OmegaMatcher {
			return And(Satisfy(apierrors.IsForbidden), MatchError(ContainSubstring(`this needs the verb "`+verb+`" on clusterprofiles`)))
		}

		Eventually(func() error { return patch("eve", access) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(refused("provide-access"))
		Expect(patch("eve", credentials)).To(refused("provide-access"))
		for _, status := range []string{version, properties} {
			Expect(patch("eve", status)).To(refused("publish"), status)
		}

		allow := func(user, verb string) {
			suite.Allow(ctx, f.Namespace, user, rbacv1.PolicyRule{
				APIGroups: []string{clusterinventory.Group}, Resources: []string{"clusterprofiles", "clusterprofiles/status"},
				Verbs: []string{"patch", verb},
			})
		}
		allow("accessor", "provide-access")
		allow("publisher", "publish")
		Eventually(func() error { return patch("accessor", access) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Expect(patch("accessor", credentials)).To(Succeed())
		Eventually(func() error { return patch("publisher", version) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Expect(patch("publisher", conditions)).To(Succeed())
		Expect(patch("publisher", access)).To(refused("provide-access"))
		Expect(patch("accessor", properties)).To(refused("publish"))
		Expect(patch("accessor", both)).To(refused("publish"))
		Expect(patch("publisher", both)).To(refused("provide-access"))
	})

	// docs/spec/ecosystem.md E3
	It("CP7: a profile whose values another writer owns is left to that writer, with one Event", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Cluster(ctx, "set", "c001", suite.Claiming("region", "eu"))
		other := newProfile(f.Namespace, ourManager, f.Name("c001"))
		other.Spec.DisplayName = "by another"
		f.Create(ctx, other)
		f.Set(ctx, "set")
		Eventually(func(g Gomega) { g.Expect(ownedByAnother(ctx, f, g)).To(HaveLen(1)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		profile := readProfile(ctx, f, Default, "c001")
		Expect(profile.Spec.DisplayName).To(Equal("by another"))

		setClaims(ctx, f, "c001", "zone", "a")
		Consistently(func(g Gomega) {
			g.Expect(readProfile(ctx, f, g, "c001").ResourceVersion).To(Equal(profile.ResourceVersion))
			g.Expect(ownedByAnother(ctx, f, g)).To(HaveLen(1))
		}).WithContext(ctx).WithTimeout(suite.Timeout / 10).Should(Succeed())
	})

	It("CP1: a binding with the label has no profiles", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Claiming("region", "eu"))
		expectProperties(ctx, f, "c001", map[string]string{"region": "eu"})
		binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name("set")}}
		Expect(suite.Client.Patch(ctx, binding, client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"`+clusterprofiles.OptOutLabel+`":"false"}}}`)))).To(Succeed())
		suite.ExpectGone(ctx, newProfile(f.Namespace, ourManager, f.Name("c001")))
	})
})
