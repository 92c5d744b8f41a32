// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("a definition of requests that is deleted and comes back", Serial, func() {
	It("T2: takes no Cluster, and nothing that runs in it", func(ctx SpecContext) {
		provide(ctx, nullProvider, nil)
		w := newWorld(ctx)
		w.BindAny(ctx, defaultSet)
		cluster := w.published(w.request("first", w.shared))
		managed := &clusterv1.ManagedCluster{}
		Expect(suite.Client.Get(ctx, client.ObjectKey{Name: cluster.Status.ManagedCluster}, managed)).To(Succeed())

		w.Create(ctx, &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "p"}, Spec: byClaim(w.shared)})
		w.configMap("object", w.shared)
		w.eventually(func(g Gomega) {
			w.selected(g, "p", managed.Name)
			w.delivered(g, managed.Name)
		})
		works, pages := w.works(Default), w.Pages(ctx, Default, "p")
		suite.LoseDefinition(ctx, "clusterrequests", &openmcpv1alpha1.ClusterRequestList{})

		By("asking again")
		again := w.request("again", w.shared)
		Expect(w.published(again).UID).To(Equal(cluster.UID))
		unchanged := func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
			g.Expect(cluster.DeletionTimestamp).To(BeNil())
			g.Expect(clusterrequest.RequestUIDs(cluster)).To(HaveLen(2), "the request that is lost keeps its place")
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(managed), managed)).To(Succeed())
			g.Expect(managed.DeletionTimestamp).To(BeNil())
			g.Expect(managed.Spec.Taints).To(BeEmpty())
			g.Expect(w.works(g)).To(Equal(works))
			g.Expect(w.Pages(ctx, g, "p")).To(Equal(pages))
		}
		Consistently(unchanged).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())

		By("giving the place of the lost request up")
		suite.Edit(ctx, cluster, func(c *openmcpv1alpha1.Cluster) {
			c.Finalizers = slices.DeleteFunc(c.Finalizers, func(finalizer string) bool {
				return strings.HasPrefix(finalizer, openmcpv1alpha1.RequestFinalizerPrefix) && !strings.HasSuffix(finalizer, string(again.UID))
			})
		})
		Expect(suite.Client.Delete(ctx, again)).To(Succeed())
		suite.ExpectGone(ctx, cluster)
	})
})
