// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("orphans", func() {
	It("cluster-request C61: finalizers of requests that do not exist are removed, and the Cluster stays", func(ctx SpecContext) {
		w := newWorld(ctx)
		request := w.request(w.platform, nil)
		grant, cluster := w.granted(request)

		// A hub that cannot ask the API server removes nothing.
		lists := faults.Match{Verbs: []string{"list"}, Resources: []string{"clusterrequestgrants"}}
		mend := proxy.Break(faults.Rule{Match: lists, Fault: faults.InternalError})
		DeferCleanup(mend)

		orphans := []types.UID{"9ad2fc4e-1", "9ad2fc4e-2"}
		patch(w, cluster, func(c *openmcpv1alpha1.Cluster) {
			entries := prefixes(c)
			for i, orphan := range orphans {
				entries[string(orphan)] = []string{"gone-", "lost-"}[i]
				c.Finalizers = append([]string{openmcpv1alpha1.RequestFinalizerPrefix + string(orphan)}, c.Finalizers...)
			}
			text, err := json.Marshal(entries)
			Expect(err).NotTo(HaveOccurred())
			c.Annotations[openmcpv1alpha1.PrefixesAnnotation] = string(text)
		})

		const tried = 3
		before := len(proxy.Requests(lists))
		w.eventually(func(g Gomega) { g.Expect(len(proxy.Requests(lists))).To(BeNumerically(">=", before+tried)) })
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		Expect(clusterrequest.RequestUIDs(cluster)).To(ConsistOf(request.UID, orphans[0], orphans[1]))

		mend()
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
			g.Expect(clusterrequest.RequestUIDs(cluster)).To(ConsistOf(request.UID))
		})
		Expect(prefixes(cluster)).To(Equal(map[string]string{string(request.UID): grant.Spec.Prefix}))
		Expect(cluster.DeletionTimestamp).To(BeNil())
		w.eventually(func(g Gomega) {
			g.Expect(w.events(cluster)).To(ContainElement("OrphanedRequestsRemoved: Removed the finalizers of 2 ClusterRequests that do not exist"))
		})
	})

	It("cluster-request C61: a request that is lost with its Grant frees its slot, and leaves its Cluster", func(ctx SpecContext) {
		w := newWorld(ctx)
		lost := w.request(w.workload, nil)
		grant, cluster := w.granted(lost)
		suite.StopHub()
		patch(w, lost, func(r *openmcpv1alpha1.ClusterRequest) { r.Finalizers = nil })
		w.remove(lost)
		startHub()

		other := w.request(w.workload, nil)
		w.granted(other)
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		Expect(clusterrequest.RequestUIDs(cluster)).To(ConsistOf(lost.UID, other.UID), "a Grant without its request may be adopted")

		w.remove(grant)
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
			g.Expect(clusterrequest.RequestUIDs(cluster)).To(ConsistOf(other.UID))
		})
	})

	It("cluster-request 4.1.3: outcomes are told in Events", func(ctx SpecContext) {
		w := newWorld(ctx)
		name := "late-" + w.namespace
		request := w.request(name, nil)
		w.refused(request, openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonPurposeNotFound)
		message := request.Status.Message
		w.purpose(name, openmcpv1alpha1.PurposeSpec{})
		w.granted(request)
		w.eventually(func(g Gomega) {
			g.Expect(w.events(request)).To(ConsistOf("PurposeNotFound: "+message, "Granted: "+request.Status.Message))
		})
	})
})

// events returns the reasons and notes of the Events about an object.
func (w *world) events(object client.Object) []string {
	GinkgoHelper()
	list := &eventsv1.EventList{}
	Expect(suite.Client.List(w.ctx, list, client.InNamespace(object.GetNamespace()))).To(Succeed())
	var told []string
	for i := range list.Items {
		if event := &list.Items[i]; event.Regarding.UID == object.GetUID() {
			told = append(told, event.Reason+": "+event.Note)
		}
	}
	return told
}
