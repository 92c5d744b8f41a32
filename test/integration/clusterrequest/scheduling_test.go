// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	vendor     = "infrastructure/vendor/aws"
	compute    = "kubernetes.io/apis/compute"
	workerless = "cluster.openmcp.cloud/workerless"
	remote     = "only/remote"
	// example is the name of the provider of exampleProvider. It sorts before those of all other providers, so that its profiles win where
	// profiles of several providers are equal.
	example = "a-provider"
)

// exampleProvider is the provider of the scenarios in docs/spec/cluster-request.md, with two profiles more for C11 and C48.
func exampleProvider() *openmcpv1alpha1.ClusterProvider {
	profile := func(name openmcpv1alpha1.ProfileName, traits ...string) openmcpv1alpha1.Profile {
		p := openmcpv1alpha1.Profile{Name: name, SupportedVersions: []openmcpv1alpha1.SupportedVersion{
			{Version: "1.19.1", Deprecated: true}, {Version: "1.19.2", Deprecated: true},
			{Version: "1.20.0"}, {Version: "1.20.1"}, {Version: "1.20.3"},
		}}
		for _, trait := range traits {
			p.SupportedTraits = append(p.SupportedTraits, openmcpv1alpha1.SupportedTrait{Trait: trait})
		}
		return p
	}
	return &openmcpv1alpha1.ClusterProvider{
		ObjectMeta: metav1.ObjectMeta{Name: example},
		Status: openmcpv1alpha1.ClusterProviderStatus{Ready: true, Profiles: []openmcpv1alpha1.Profile{
			profile("aws", vendor, compute), profile("aws-workerless", vendor, workerless), profile("c-only", "c", "only/c"),
			profile("remote", remote, workerless),
		}},
	}
}

// newExampleWorld creates a world whose purpose mcp is that of the scenarios. It deletes the requests after the spec, so
// that they are not evaluated again when the provider goes.
func newExampleWorld(ctx context.Context) *world {
	GinkgoHelper()

	w := newWorld(ctx)
	w.mcp = "example-" + w.mcp
	w.purpose(w.mcp, openmcpv1alpha1.PurposeSpec{
		Dedicated: true, Traits: []openmcpv1alpha1.TraitRequirement{{Trait: workerless, Optional: true}},
	})
	DeferCleanup(func(ctx SpecContext) { //nolint:contextcheck // The spec has ended.
		w.ctx = ctx
		requests := &openmcpv1alpha1.ClusterRequestList{}
		Expect(suite.Client.DeleteAllOf(ctx, &openmcpv1alpha1.ClusterRequest{}, client.InNamespace(w.namespace))).To(Succeed())
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.List(ctx, requests, client.InNamespace(w.namespace))).To(Succeed())
			g.Expect(requests.Items).To(BeEmpty())
		})
	})

	return w
}

// equivalent makes names of traits mean the same until the spec ends.
func (w *world) equivalent(name string, traits ...openmcpv1alpha1.TraitName) {
	GinkgoHelper()
	same := &openmcpv1alpha1.TraitEquivalence{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-" + name}}
	same.Spec.Traits = traits
	w.create(same)
	DeferCleanup(func(ctx SpecContext) { Expect(suite.Client.Delete(ctx, same)).To(Succeed()) })
}

// ofPurposes makes a request one for these purposes.
func ofPurposes(names ...string) func(*openmcpv1alpha1.ClusterRequest) {
	return func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.Purposes = purposeNames(names) }
}

// dedicating sets the field dedicated of a request.
func dedicating(dedicated bool) func(*openmcpv1alpha1.ClusterRequest) {
	return func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.Dedicated = ptr.To(dedicated) }
}

// ofVersion sets the version of a request.
func ofVersion(version string) func(*openmcpv1alpha1.ClusterRequest) {
	return func(r *openmcpv1alpha1.ClusterRequest) {
		r.Spec.Kubernetes = &openmcpv1alpha1.Kubernetes{Version: version}
	}
}

// withTraits sets the traits of a request.
func withTraits(traits ...openmcpv1alpha1.TraitRequirement) func(*openmcpv1alpha1.ClusterRequest) {
	return func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.Traits = traits }
}

// anyOf is a group of alternatives.
func anyOf(optional bool, members ...openmcpv1alpha1.TraitAlternative) openmcpv1alpha1.TraitRequirement {
	return openmcpv1alpha1.TraitRequirement{AnyOf: members, Optional: optional}
}

// exampleCluster makes a Cluster one of the profile aws of exampleProvider with an older version.
func exampleCluster(c *openmcpv1alpha1.Cluster) {
	c.Spec.ClusterProviderRef.Name = example
	c.Spec.Kubernetes = &openmcpv1alpha1.Kubernetes{Version: "1.20.1"}
}

// The scenarios about aggregation, traits and versions in docs/spec/cluster-request.md, which pkg/clusterrequest has as unit tests too. Here
// they pass through the definitions, the controller and its caches.
var _ = Describe("profiles and Clusters by the example", Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx SpecContext) {
		provider := exampleProvider()
		Expect(suite.Client.Create(ctx, provider)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(suite.Client.Delete(ctx, provider)).To(Succeed()) })
		provider.Status = exampleProvider().Status
		Expect(suite.Client.Status().Update(ctx, provider)).To(Succeed())
		w := newExampleWorld(ctx)
		w.granted(w.request(w.platform, withTraits(openmcpv1alpha1.TraitRequirement{Trait: remote}))) // The hub knows the profiles.
	})
	type requirement = openmcpv1alpha1.TraitRequirement

	type alternative = openmcpv1alpha1.TraitAlternative
	const (
		workload, mcp  = "workload", "mcp"
		withWorkers    = "a-provider/aws 1.20.3 Shared"
		withoutWorkers = "a-provider/aws-workerless 1.20.3 Shared"
		noProfile      = openmcpv1alpha1.ReasonNoMatchingProfile
	)

	for _, row := range []struct {
		reason string
		// before prepares the world; nil for nothing.
		before func(w *world)
		// purpose is a kind of purpose; empty for platform.
		purpose string
		change  func(*openmcpv1alpha1.ClusterRequest)
		// want is the provider, profile, version and tenancy of the new Cluster; empty if the request is denied.
		want string
		// message is in the status of a request that is denied.
		message string
	}{
		{reason: "cluster-request C5: dedicated by the request", change: dedicating(true), purpose: workload,
			want: "a-provider/aws 1.20.3 Exclusive"},
		{reason: "cluster-request C6: shared by the request", change: dedicating(false), purpose: mcp,
			want: withoutWorkers},
		{reason: "cluster-request C8: a partial version", change: ofVersion("1.20"), want: withWorkers},
		{reason: "cluster-request C8: a full version", change: ofVersion("1.20.1"), want: "a-provider/aws 1.20.1 Shared"},
		{reason: "cluster-request C8: no version", want: withWorkers},
		{reason: "cluster-request C8: a full version that is deprecated", change: ofVersion("1.19.2"), want: "a-provider/aws 1.19.2 Shared"},
		{reason: "cluster-request C8: segments match as a whole", change: ofVersion("1.2"),
			message: "a-provider/aws: version 1.2 is not among 1.19.1, 1.19.2, 1.20.0, 1.20.1, 1.20.3"},
		{reason: "cluster-request C8: a version that no profile has", change: ofVersion("1.21"),
			message: "a-provider/aws-workerless: version 1.21 is not among"},
		{reason: "cluster-request C9: a required trait", change: withTraits(requirement{Trait: workerless}), want: withoutWorkers},
		{reason: "cluster-request C10: a negated trait", change: withTraits(requirement{Trait: workerless, Negated: true}), want: withWorkers},
		{reason: "cluster-request C11: the request negates an optional trait of the purpose, and so requires it",
			purpose: mcp, change: withTraits(requirement{Trait: workerless, Negated: true}),
			want: "a-provider/aws 1.20.3 Exclusive"},
		{reason: "cluster-request C11: and no other profile will do", purpose: mcp,
			change:  withTraits(requirement{Trait: workerless, Negated: true}, requirement{Trait: remote}),
			message: "a-provider/remote: trait not " + workerless + " is required"},
		{reason: "cluster-request C14: an optional trait that no profile has",
			change: withTraits(requirement{Trait: "foo/nowhere", Optional: true}), want: withWorkers},
		{reason: "cluster-request C15: any of several traits",
			change: withTraits(anyOf(false, alternative{Trait: workerless}, alternative{Name: "foo/nodeless"})), want: withoutWorkers},
		{reason: "cluster-request C15: an equivalent trait", change: withTraits(requirement{Trait: "foo/nodeless"}),
			before: func(w *world) { w.equivalent("nodeless", workerless, "foo/nodeless") }, want: withoutWorkers},
		{reason: "cluster-request C47: no member is satisfied",
			change:  withTraits(anyOf(false, alternative{Trait: "foo/x"}, alternative{Trait: vendor, Negated: true}), requirement{Trait: vendor}),
			message: "a-provider/aws: any of the traits foo/x, not " + vendor + " is required"},
		{reason: "cluster-request C47: no member is satisfied, and none has to be", change: withTraits(anyOf(true, alternative{Trait: "foo/x"})),
			want: withWorkers},
		{reason: "cluster-request C47: a negated member",
			change: withTraits(anyOf(false, alternative{Trait: compute, Negated: true}, alternative{Trait: "foo/x"})), want: withoutWorkers},
		{reason: "cluster-request C49: a partial version of which all are deprecated", change: ofVersion("1.19"),
			message: "a-provider/aws: its versions 1.19 are deprecated"},
	} {
		It(row.reason, func(ctx SpecContext) {
			w := newExampleWorld(ctx)
			if row.before != nil {
				row.before(w)
			}
			purpose := map[string]string{"": w.platform, workload: w.workload, mcp: w.mcp}[row.purpose]
			request := w.request(purpose, row.change)

			if row.want == "" {
				w.refused(request, openmcpv1alpha1.RequestDenied, noProfile)
				Expect(request.Status.Message).To(ContainSubstring(row.message))
				Expect(w.clusters(purpose)).To(BeEmpty())
				return
			}
			_, cluster := w.granted(request)
			ref := cluster.Spec.ClusterProviderRef
			Expect(ref.Name + "/" + string(ref.Profile) + " " + cluster.Spec.Kubernetes.Version + " " + string(cluster.Spec.Tenancy)).
				To(Equal(row.want))
		})
	}

	It("cluster-request C5, C6, C7: who shares a Cluster", func(ctx SpecContext) {
		w := newExampleWorld(ctx)
		lands := func(request *openmcpv1alpha1.ClusterRequest) string {
			GinkgoHelper()
			_, cluster := w.granted(request)
			return string(cluster.UID)
		}
		By("a request that is dedicated, between two that share")
		first := lands(w.request(w.workload, nil))
		Expect(lands(w.request(w.workload, dedicating(true)))).NotTo(Equal(first))
		Expect(lands(w.request(w.workload, nil))).To(Equal(first))

		By("two that share although their purpose is dedicated")
		first = lands(w.request(w.mcp, dedicating(false)))
		Expect(lands(w.request(w.mcp, dedicating(false)))).To(Equal(first))

		By("two with a purpose that is dedicated and one that is not")
		both := ofPurposes(w.platform, w.mcp)
		request := w.request(w.platform, both)
		_, cluster := w.granted(request)
		Expect(cluster.Spec.Tenancy).To(Equal(openmcpv1alpha1.TenancyExclusive))
		Expect(lands(w.request(w.platform, both))).NotTo(BeEquivalentTo(cluster.UID))
	})

	It("cluster-request C12: the first purpose that mentions a trait decides whether it is negated", func(ctx SpecContext) {
		w := newExampleWorld(ctx)
		without, with := "without-"+w.namespace, "with-"+w.namespace
		w.purpose(without, openmcpv1alpha1.PurposeSpec{Traits: []requirement{{Trait: workerless, Negated: true}}})
		w.purpose(with, openmcpv1alpha1.PurposeSpec{Traits: []requirement{{Trait: workerless}}})

		for profile, order := range map[openmcpv1alpha1.ProfileName][]string{"aws": {without, with}, "aws-workerless": {with, without}} {
			_, cluster := w.granted(w.request(order[0], func(r *openmcpv1alpha1.ClusterRequest) {
				ofPurposes(order...)(r)
				dedicating(true)(r)
			}))
			Expect(cluster.Spec.ClusterProviderRef.Profile).To(Equal(profile))
		}
	})

	It("cluster-request C48: names mean the same across sets that share a name", func(ctx SpecContext) {
		w := newExampleWorld(ctx)
		w.equivalent("ab", "b", "a")
		w.equivalent("bc", "c", "b")
		lands := func(profile openmcpv1alpha1.ProfileName, traits ...requirement) {
			GinkgoHelper()
			_, cluster := w.granted(w.request(w.platform, func(r *openmcpv1alpha1.ClusterRequest) {
				dedicating(true)(r)
				withTraits(traits...)(r)
			}))
			Expect(cluster.Spec.ClusterProviderRef.Profile).To(Equal(profile))
		}
		preferred := requirement{Trait: "only/c", Optional: true}

		lands("c-only", requirement{Trait: "a"}) // When the hub knows both sets.
		lands("c-only", preferred)
		lands("aws", preferred, requirement{Trait: "a", Negated: true})
	})

	It("cluster-request C49: the version of a shared Cluster", func(ctx SpecContext) {
		w := newExampleWorld(ctx)
		w.sharedByHand("by-hand", exampleCluster, w.platform)
		_, cluster := w.granted(w.request(w.platform, ofVersion("1.20")))
		Expect(cluster.Name).To(Equal("by-hand"))
		_, cluster = w.granted(w.request(w.platform, ofVersion("1.20.3")))
		Expect(cluster.Name).To(Equal(w.platform))
		Expect(cluster.Spec.Kubernetes.Version).To(Equal("1.20.3"))
	})

	It("cluster-request C50: the smallest limit of all purposes of a Cluster, other than 0", func(ctx SpecContext) {
		w := newExampleWorld(ctx)
		build := "build-" + w.namespace
		w.purpose(build, openmcpv1alpha1.PurposeSpec{TenancyLimit: 5})
		w.sharedByHand("by-hand", exampleCluster, w.workload, build, w.platform)
		for range 2 {
			_, cluster := w.granted(w.request(build, nil))
			Expect(cluster.Name).To(Equal("by-hand"))
		}
		_, cluster := w.granted(w.request(build, nil))
		Expect(cluster.Name).To(HavePrefix(build + "-"))
	})
})
