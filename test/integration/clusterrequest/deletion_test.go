// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"context"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// writes are the requests that change something.
var writes = []string{"create", "update", "patch", "delete"}

var _ = Describe("deletion", func() {
	It("cluster-request C25: the Cluster goes with its last request, also when two leave at once", func(ctx SpecContext) {
		w := newWorld(ctx)
		first, second := w.request(w.workload, nil), w.request(w.workload, nil)
		_, cluster := w.granted(first)
		w.granted(second)

		w.remove(first)
		w.gone(first)
		third := w.request(w.workload, nil)
		_, same := w.granted(third)
		Expect(same.UID).To(Equal(cluster.UID), "the slot is free")

		w.remove(second)
		w.remove(third)
		for _, object := range []client.Object{second, third, same} {
			w.gone(object)
		}
		grants := &openmcpv1alpha1.ClusterRequestGrantList{}
		Expect(suite.Client.List(ctx, grants, client.InNamespace(w.namespace))).To(Succeed())
		Expect(grants.Items).To(BeEmpty())
	})

	It("cluster-request C25: the Cluster stays where its label says so", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request(w.platform, nil)
		_, cluster := w.granted(request)
		patch(w, cluster, func(c *openmcpv1alpha1.Cluster) { c.Labels[openmcpv1alpha1.DeleteWithoutRequestsLabel] = "false" })
		w.remove(request)
		w.gone(request)
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		Expect(cluster.DeletionTimestamp).To(BeNil())
		Expect(cluster.Finalizers).To(BeEmpty())
	})

	It("cluster-request C56: a request waits for its exclusive Cluster", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request(w.mcp, nil)
		_, cluster := w.granted(request)
		patch(w, cluster, func(c *openmcpv1alpha1.Cluster) {
			c.Finalizers = append(c.Finalizers, openmcpv1alpha1.ProviderFinalizer)
		})
		w.remove(request)
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
			g.Expect(cluster.Finalizers).To(ConsistOf(openmcpv1alpha1.ProviderFinalizer))
			g.Expect(cluster.DeletionTimestamp).NotTo(BeNil())
		})
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
		Expect(request.Finalizers).To(ConsistOf(openmcpv1alpha1.RequestFinalizer))

		patch(w, cluster, func(c *openmcpv1alpha1.Cluster) { c.Finalizers = nil })
		w.gone(request)
	})

	It("cluster-request C58: the last request leaves while another one chooses its Cluster", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request(w.platform, nil)
		w.granted(request)
		for range 100 {
			var group sync.WaitGroup
			group.Go(func() {
				defer GinkgoRecover()
				w.remove(request)
			})
			next := w.request(w.platform, nil)
			group.Wait()
			w.gone(request)

			_, chosen := w.granted(next)
			Expect(chosen.DeletionTimestamp).To(BeNil(), "a Cluster that is being deleted was granted")
			Expect(clusterrequest.RequestUIDs(chosen)).To(ConsistOf(next.UID))
			Expect(w.clusters(w.platform)).To(HaveLen(1))
			request = next
		}
	})

	It("cluster-request C20, C57: the hub is killed before each of its writes", func(ctx SpecContext) {
		By("from a request to its Cluster")
		refused := suite.KillEach(ctx, proxy, startHub, granting(ctx))
		Expect(refused[0]).To(ContainElements(
			"patch clusterrequests", "create clusters", "create clusterrequestgrants", "patch clusterrequests/status"))
		By("from the end of a request to the end of its Cluster")
		refused = suite.KillEach(ctx, proxy, startHub, releasing(ctx))
		Expect(refused[0]).To(ContainElements("delete clusters", "patch clusters", "delete clusterrequestgrants", "patch clusterrequests"))
	})

	It("cluster-request C63: a restart over a settled hub writes nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		for _, purpose := range []string{w.platform, w.platform, w.workload, w.mcp} {
			w.granted(w.request(purpose, nil))
		}
		denied := w.request("nosuch-"+w.namespace, nil)
		w.refused(denied, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonPurposeNotFound)
		suite.StopHub()
		before := len(proxy.Requests(faults.Match{Verbs: writes}))
		startHub()

		fence := w.request(w.mcp, nil) // It is granted after the requests of the initial lists are enqueued.
		w.granted(fence)
		suite.StopHub() // Waits for the reconciles that run.
		DeferCleanup(startHub)

		for _, write := range proxy.Requests(faults.Match{Verbs: writes})[before:] {
			if write.Resource == "subjectaccessreviews" { // It changes nothing: AccessRequests of other specs are asked about again.
				continue
			}
			Expect(write.Namespace).To(Equal(w.namespace))
			Expect(write.Name).To(BeElementOf(fence.Name, ""), "%+v", write)
		}
		settled := denied.DeepCopy()
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(denied), settled)).To(Succeed())
		Expect(settled.ResourceVersion).To(Equal(denied.ResourceVersion))
	})

	It("cluster-request C26: a granted Cluster that is deleted by hand stays until its request goes", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request(w.platform, nil)
		_, cluster := w.granted(request)
		w.remove(cluster)
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
			g.Expect(request.Status.Conditions).To(ContainElement(And(HaveField("Type", openmcpv1alpha1.ConditionClusterReady),
				HaveField("Status", metav1.ConditionFalse), HaveField("Reason", openmcpv1alpha1.ReasonClusterTerminating))))
		})
		Expect(request.Status.Status).To(Equal(openmcpv1alpha1.RequestGranted))

		second := w.request(w.platform, nil)
		w.refused(second, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonClusterConflict)
		w.remove(request)
		_, fresh := w.granted(second)
		Expect(fresh.UID).NotTo(Equal(cluster.UID))
		Expect(clusterrequest.RequestUIDs(fresh)).To(ConsistOf(second.UID))
	})
})

// requestWrites are the writes for requests, in whichever namespace their Clusters are; Events do not count.
func requestWrites() faults.Match {
	return faults.Match{Verbs: writes, Resources: []string{"clusters", "clusterrequestgrants", "clusterrequests", "clusterrequests/status"}}
}

// granting is the passage from a request to its Cluster.
func granting(ctx context.Context) suite.Passage {
	var (
		w       *world
		request *openmcpv1alpha1.ClusterRequest
	)
	return suite.Passage{
		Prepare: func(int) { w = newWorld(ctx) },
		Writes:  requestWrites,
		Begin: func() {
			request = w.request(w.platform, func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.Prefix = "foo-" })
		},
		Done: func(g Gomega) bool {
			seen := &openmcpv1alpha1.ClusterRequest{}
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(request), seen)).To(Succeed())
			return seen.Status.Status == openmcpv1alpha1.RequestGranted
		},
		Killed: func() {},
		Complete: func() {
			grant, _ := w.granted(request)
			Expect(grant.Spec.Prefix).To(Equal("foo-"))
			Expect(w.clusters(w.platform)).To(HaveLen(1))
		},
	}
}

// releasing is the passage from the end of a request to the end of its Cluster.
func releasing(ctx context.Context) suite.Passage {
	var (
		w       *world
		request *openmcpv1alpha1.ClusterRequest
		objects []client.Object
	)
	return suite.Passage{
		Prepare: func(int) {
			w = newWorld(ctx)
			request = w.request(w.platform, nil)
			grant, cluster := w.granted(request)
			objects = []client.Object{request, grant, cluster}
		},
		Writes: requestWrites,
		Begin:  func() { w.remove(request) },
		Done: func(g Gomega) bool {
			err := suite.Client.Get(ctx, client.ObjectKeyFromObject(request), &openmcpv1alpha1.ClusterRequest{})
			g.Expect(client.IgnoreNotFound(err)).To(Succeed())
			return err != nil
		},
		Killed: func() {},
		Complete: func() {
			for _, object := range objects {
				w.gone(object)
			}
		},
	}
}
