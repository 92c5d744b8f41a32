// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("grants", func() {
	It("cluster-request C1, C2: a dedicated Cluster for each request", func(ctx SpecContext) {
		w := newWorld(ctx)
		first, second := w.request(w.mcp, nil), w.request(w.mcp, nil)
		grant, cluster := w.granted(first)
		_, other := w.granted(second)

		Expect(grant.Spec.Prefix).To(BeEmpty())
		Expect(grant.Status.Request.Spec).To(Equal(first.Spec))
		Expect(cluster.Spec.Tenancy).To(Equal(openmcpv1alpha1.TenancyExclusive))
		Expect(cluster.Spec.Kubernetes.Version).To(Equal("1.20.3"))
		Expect(cluster.Name).NotTo(Equal(other.Name))
		Expect(first.Finalizers).To(ConsistOf(openmcpv1alpha1.RequestFinalizer))
		Expect(first.Status.ObservedGeneration).To(Equal(first.Generation))
	})

	It("cluster-request 4.1.1: the condition ClusterReady follows the health of the Cluster", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request(w.platform, nil)
		_, cluster := w.granted(request)
		for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse} {
			cluster.Status.Conditions = []metav1.Condition{{
				Type: openmcpv1alpha1.ConditionClusterHealthy, Status: status, Reason: "Probed", LastTransitionTime: metav1.Now(),
			}}
			Expect(suite.Client.Status().Update(ctx, cluster)).To(Succeed())
			w.eventually(func(g Gomega) {
				g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
				g.Expect(request.Status.Conditions).To(ContainElement(And(
					HaveField("Type", openmcpv1alpha1.ConditionClusterReady), HaveField("Status", status))))
			})
		}
	})

	It("cluster-request C4: twenty requests share one Cluster", func(ctx SpecContext) {
		w := newWorld(ctx)
		var requests []*openmcpv1alpha1.ClusterRequest
		for range 20 {
			requests = append(requests, w.request(w.platform, nil))
		}
		for _, request := range requests {
			w.granted(request)
		}

		clusters := w.clusters(w.platform)
		Expect(clusters).To(HaveLen(1))
		Expect(clusterrequest.RequestUIDs(&clusters[0])).To(HaveLen(20))
		Expect(prefixes(&clusters[0])).To(HaveLen(20))
	})

	It("cluster-request C19, C3: fifty requests at once never overfill a Cluster, and leave no slot free", func(ctx SpecContext) {
		w := newWorld(ctx)
		var requests []*openmcpv1alpha1.ClusterRequest
		for range 50 {
			requests = append(requests, w.request(w.workload, nil))
		}
		for _, request := range requests {
			w.granted(request)
		}
		clusters := w.clusters(w.workload)
		Expect(clusters).To(HaveLen(25))

		for i := range clusters {
			Expect(clusterrequest.RequestUIDs(&clusters[i])).To(HaveLen(2))
		}
	})

	It("cluster-request C16: an unknown purpose is created later, and C39: is deleted", func(ctx SpecContext) {
		w := newWorld(ctx)
		name := "late-" + w.namespace
		request := w.request(name, nil)
		w.refused(request, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonPurposeNotFound)
		w.purpose(name, openmcpv1alpha1.PurposeSpec{})
		_, cluster := w.granted(request)
		w.remove(&openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: name}})
		// The watch of Purposes shows the deletion before a later Purpose.
		w.purpose("fence-"+w.namespace, openmcpv1alpha1.PurposeSpec{})
		w.granted(w.request("fence-"+w.namespace, nil))
		w.refused(w.request(name, nil), openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonPurposeNotFound)
		_, same := w.granted(request)
		Expect(same.UID).To(Equal(cluster.UID))
	})

	It("cluster-request C13: a provider publishes the trait later", func(ctx SpecContext) {
		w := newWorld(ctx)
		trait := "only-in/" + w.namespace
		request := w.request(w.platform, func(r *openmcpv1alpha1.ClusterRequest) {
			r.Spec.Traits = []openmcpv1alpha1.TraitRequirement{{Trait: trait}}
		})
		w.refused(request, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonNoMatchingProfile)

		provider := gardener()
		provider.Name = w.namespace
		w.create(provider)
		provider.Status = gardener().Status
		provider.Status.Profiles[0].SupportedTraits = []openmcpv1alpha1.SupportedTrait{{Trait: trait}}
		Expect(suite.Client.Status().Update(ctx, provider)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(suite.Client.Delete(ctx, provider)).To(Succeed()) })
		_, cluster := w.granted(request)
		Expect(cluster.Spec.ClusterProviderRef.Name).To(Equal(provider.Name))
	})

	It("cluster-request C52: the annotation stops all work until it is removed", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request(w.platform, func(r *openmcpv1alpha1.ClusterRequest) {
			r.Annotations = map[string]string{openmcpv1alpha1.OperationAnnotation: openmcpv1alpha1.OperationIgnore}
		})
		w.granted(w.request(w.platform, nil)) // It was created later, and is granted before.
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
		Expect(request.Finalizers).To(BeEmpty())
		Expect(request.Status).To(BeZero())
		patch(w, request, func(r *openmcpv1alpha1.ClusterRequest) { r.Annotations = nil })
		w.granted(request)
	})

	It("cluster-request 4.1.3: an error is reported until a retry succeeds", func(ctx SpecContext) {
		w := newWorld(ctx)
		mend := proxy.Break(faults.Rule{
			Match: faults.Match{Verbs: []string{"create"}, Resources: []string{"clusters"}, Namespace: clusterrequest.DefaultSharedNamespace},
			Fault: faults.InternalError,
		})
		DeferCleanup(mend)

		request := w.request(w.platform, nil)
		w.refused(request, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonError)
		Expect(request.Status.Message).To(ContainSubstring("creating Cluster " + clusterrequest.DefaultSharedNamespace + "/" + w.platform))
		mend()
		w.granted(request)
	})

	It("cluster-request 4.1.3: a quota that is exceeded is no error, and is asked again without haste", func(ctx SpecContext) {
		w := newWorld(ctx)
		hard := corev1.ResourceList{"count/clusters.cluster.openmcp.cloud": resource.MustParse("0")}
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "clusters"}, Spec: corev1.ResourceQuotaSpec{Hard: hard},
		}
		w.create(quota)
		quota.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: hard} // No controller fills it in here.
		Expect(suite.Client.Status().Update(ctx, quota)).To(Succeed())

		attempt := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "attempt"}}
		attempt.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws"}
		w.eventually(func(g Gomega) { // The API server knows the quota.
			g.Expect(suite.Client.Create(ctx, attempt.DeepCopy(), client.DryRunAll)).To(MatchError(ContainSubstring("exceeded quota")))
		})
		request := w.request(w.mcp, nil)
		w.refused(request, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonQuotaExceeded)
		Expect(request.Status.Message).To(And(ContainSubstring("exceeded quota: clusters"), ContainSubstring("have the ResourceQuota raised")))

		creates := faults.Match{Verbs: []string{"create"}, Resources: []string{"clusters"}, Namespace: w.namespace}
		before := len(proxy.Requests(creates))
		Consistently(func() int { return len(proxy.Requests(creates)) }).WithContext(ctx).WithTimeout(suite.QuietPeriod).
			Should(BeNumerically("<=", before+3), "the writes of the finalizer and of the status, and the last Cluster of a spec before, "+
				"are each followed by one more try; an error would be tried again eight times")

		w.remove(quota)
		w.eventually(func(g Gomega) { g.Expect(suite.Client.Create(ctx, attempt.DeepCopy(), client.DryRunAll)).To(Succeed()) })
		patch(w, request, func(r *openmcpv1alpha1.ClusterRequest) { r.Labels = map[string]string{"again": "now"} })
		w.granted(request)
	})

	It("cluster-request C54: a Cluster of the wanted name that was made by somebody else", func(ctx SpecContext) {
		w := newWorld(ctx)
		foreign := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: clusterrequest.DefaultSharedNamespace, Name: w.platform}}
		foreign.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws"}
		w.create(foreign)
		request := w.request(w.platform, nil)
		w.refused(request, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonClusterConflict)
		patch(w, request, func(r *openmcpv1alpha1.ClusterRequest) {
			r.Labels = map[string]string{openmcpv1alpha1.RandomizeNameLabel: "true"}
		})

		_, cluster := w.granted(request)
		Expect(cluster.Name).To(HavePrefix(w.platform + "-"))
		version := foreign.ResourceVersion
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(foreign), foreign)).To(Succeed())
		Expect(foreign.ResourceVersion).To(Equal(version))
	})

	It("cluster-request C60: a request that comes again adopts the Grant of the former one", func(ctx SpecContext) {
		w := newWorld(ctx)
		proposal := func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.Prefix = "foo-" }
		former := w.request(w.platform, proposal)
		_, cluster := w.granted(former)

		// A hub that does not run cannot release it, and nobody collects garbage on this control plane.
		suite.StopHub()
		patch(w, former, func(r *openmcpv1alpha1.ClusterRequest) { r.Finalizers = nil })
		w.remove(former)
		w.requests--
		request := w.request(w.platform, proposal)
		startHub()

		grant, same := w.granted(request)
		Expect(same.UID).To(Equal(cluster.UID))
		Expect(grant.Spec.Prefix).To(Equal("foo-"))
		Expect(clusterrequest.RequestUIDs(same)).To(ConsistOf(request.UID))
		Expect(prefixes(same)).To(HaveLen(1))
	})

	It("cluster-request C60: a request of another spec replaces the Grant of the former one", func(ctx SpecContext) {
		w := newWorld(ctx)
		former := w.request(w.mcp, nil)
		_, cluster := w.granted(former)
		suite.StopHub()
		patch(w, former, func(r *openmcpv1alpha1.ClusterRequest) { r.Finalizers = nil })
		w.remove(former)
		w.requests--
		request := w.request(w.platform, func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.Dedicated = ptr.To(false) })
		startHub()

		_, other := w.granted(request)
		Expect(other.Name).NotTo(Equal(cluster.Name))
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		Expect(clusterrequest.RequestUIDs(cluster)).To(BeEmpty())
	})

	type records struct {
		request *openmcpv1alpha1.ClusterRequest
		grant   *openmcpv1alpha1.ClusterRequestGrant
		cluster *openmcpv1alpha1.Cluster
	}

	for reason, lose := range map[string]func(*world, records){
		"cluster-request C21: the Grant is deleted by hand": func(w *world, r records) { w.remove(r.grant) },
		"cluster-request C22: the status is wiped": func(w *world, r records) {
			r.request.Status = openmcpv1alpha1.ClusterRequestStatus{}
			Expect(suite.Client.Status().Update(w.ctx, r.request)).To(Succeed())
		},
		"cluster-request C23: the finalizer is removed by hand": func(w *world, r records) {
			patch(w, r.cluster, func(c *openmcpv1alpha1.Cluster) { c.Finalizers = nil })
		},
		"cluster-request C55: the prefixes are removed by hand": func(w *world, r records) {
			patch(w, r.cluster, func(c *openmcpv1alpha1.Cluster) { c.Annotations = nil })
		},
		"cluster-request C24: the Cluster is deleted with its finalizers stripped": func(w *world, r records) {
			suite.StopHub()
			patch(w, r.cluster, func(c *openmcpv1alpha1.Cluster) { c.Finalizers = nil })
			w.remove(r.cluster)
			startHub()
		},
	} {
		It(reason, func(ctx SpecContext) {
			w := newWorld(ctx)
			other := w.request(w.platform, nil)
			w.granted(other)
			request := w.request(w.platform, func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.Prefix = "foo-" })
			grant, cluster := w.granted(request)
			spec := grant.Spec.DeepCopy()
			given := prefixes(cluster)
			lose(w, records{request, grant, cluster})

			w.eventually(func(g Gomega) {
				again, same := w.granted(request)
				g.Expect(again.Spec).To(Equal(*spec))
				g.Expect(prefixes(same)).To(Equal(given))
				g.Expect(clusterrequest.RequestUIDs(same)).To(ConsistOf(request.UID, other.UID))
				g.Expect(same.Spec).To(Equal(spec.Cluster.ClusterSpec))
			})
		})
	}
})

// prefixes returns the entries of the annotation of a Cluster.
func prefixes(cluster *openmcpv1alpha1.Cluster) map[string]string {
	GinkgoHelper()
	entries := map[string]string{}
	Expect(json.Unmarshal([]byte(cluster.Annotations[openmcpv1alpha1.PrefixesAnnotation]), &entries)).To(Succeed(), fmt.Sprint(cluster))
	return entries
}
