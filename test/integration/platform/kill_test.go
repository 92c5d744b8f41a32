// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/history/works"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// changing are the verbs of writes.
var changing = []string{"create", "update", "patch", "delete"}

// hubWrites are all writes of the hub on the way of a request and back: those of ClusterRequests, of the inventory of Clusters, of sets and
// their roles, of Placements and of federated objects. Events and reviews, which keep nothing, are not among them.
var hubWrites = faults.Match{Verbs: changing, Resources: []string{
	"clusterrequests", "clusterrequests/status", "clusterrequestgrants", "clusters", "clusters/status",
	"managedclusters", "managedclusters/status", "namespaces", "serviceaccounts", "rolebindings",
	"managedclustersets", "managedclustersets/status", "managedclustersetbindings/status", "clusterroles", "configmaps",
	"placements", "placements/status", "placementdecisions", "placementdecisions/status", "manifestworks",
}}

// unkept are the resources of writes that keep nothing.
var unkept = []string{"events", "subjectaccessreviews"}

// records returns the UIDs of what the hub keeps for the world: grants, Clusters, their ManagedClusters, decisions and works. What is being
// deleted is not among them.
func (w *world) records(g Gomega) map[string]types.UID {
	found := map[string]types.UID{}
	add := func(object client.Object) {
		if object.GetDeletionTimestamp() == nil {
			found[fmt.Sprintf("%T %s", object, client.ObjectKeyFromObject(object))] = object.GetUID()
		}
	}

	for _, list := range []client.ObjectList{
		&openmcpv1alpha1.ClusterRequestGrantList{}, &openmcpv1alpha1.ClusterList{}, &clusterv1beta1.PlacementDecisionList{},
	} {
		g.Expect(suite.Client.List(w.ctx, list, client.InNamespace(w.Namespace))).To(Succeed())
		g.Expect(meta.EachListItem(list, func(item runtime.Object) error {
			object, is := item.(client.Object)
			g.Expect(is).To(BeTrue())
			add(object)
			return nil
		})).To(Succeed())
	}

	clusters := &clusterv1.ManagedClusterList{}
	g.Expect(suite.Client.List(w.ctx, clusters)).To(Succeed())
	for i := range clusters.Items {
		if strings.HasPrefix(clusters.Items[i].Annotations[openmcpv1alpha1.ClusterAnnotation], w.Namespace+"/") {
			add(&clusters.Items[i])
		}
	}
	for cluster, uid := range w.works(g) {
		found["ManifestWork in "+cluster] = uid
	}
	return found
}

// without returns the records that are not of a request.
func (w *world) without(request *openmcpv1alpha1.ClusterRequest) map[string]types.UID {
	GinkgoHelper()
	cluster := clusterOf(w.ctx, Default, request)
	Expect(cluster).NotTo(BeNil())
	rest := w.records(Default)
	maps.DeleteFunc(rest, func(name string, uid types.UID) bool {
		return strings.HasSuffix(name, " "+client.ObjectKeyFromObject(request).String()) || uid == cluster.UID ||
			strings.HasSuffix(name, cluster.Status.ManagedCluster)
	})
	return rest
}

// complete demands that each of the requests is granted and ready, that its cluster is selected and has the object of the namespace, and that
// no other cluster has.
func (w *world) complete(g Gomega, requests []*openmcpv1alpha1.ClusterRequest) {
	names := make([]string, 0, len(requests))
	for _, request := range requests {
		g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
		g.Expect(request.Status.Status).To(Equal(openmcpv1alpha1.RequestGranted), request.Status.Message)
		g.Expect(meta.IsStatusConditionTrue(request.Status.Conditions, openmcpv1alpha1.ConditionClusterReady)).To(BeTrue(), request.Name)
		cluster := clusterOf(w.ctx, g, request)
		g.Expect(cluster).NotTo(BeNil(), request.Name)
		g.Expect(meta.IsStatusConditionTrue(cluster.Status.Conditions, openmcpv1alpha1.ConditionPublished)).To(BeTrue(), cluster.Name)
		names = append(names, cluster.Status.ManagedCluster)
	}

	w.selected(g, "p", names...)
	w.delivered(g, names...)
	g.Expect(w.records(g)).To(HaveLen(4*len(requests)+1), "grants, Clusters, ManagedClusters and works, and one page")
}

// isComplete reports whether complete would succeed.
func (w *world) isComplete(requests []*openmcpv1alpha1.ClusterRequest) bool {
	return InterceptGomegaFailure(func() { w.complete(Default, requests) }) == nil
}

var _ = Describe("a hub with all systems that is killed", func() {
	It("cluster-request X6: at any write from a request to its delivery and back, keeps what is wanted and completes the rest",
		func(ctx SpecContext) {
			provide(ctx, "null", nil)
			w := newWorld(ctx)
			proxy := suite.ThroughProxy(ctx)
			w.BindAny(ctx, defaultSet)
			w.Placement(ctx, "p", byClaim(w.dedicated))
			w.configMap("settings", w.dedicated)
			requests := []*openmcpv1alpha1.ClusterRequest{w.request("stays", w.dedicated)}
			w.eventually(func(g Gomega) { w.complete(g, requests) })

			stays, begun := w.records(Default), len(proxy.Requests(faults.Match{Verbs: changing}))
			pages := w.RecordPages(ctx)
			pages.Require(clusterOf(ctx, Default, requests[0]).Status.ManagedCluster)
			deliveries, err := works.Record(ctx, suite.ControlPlane.AdminConfig())
			Expect(err).NotTo(HaveOccurred())
			mark := deliveries.Mark()
			var wanted map[string]types.UID
			By("cluster-request X1, X2: on the way from a request to the decision and the work")

			refused := suite.KillEach(ctx, proxy, suite.Behind(proxy), suite.Passage{
				Writes:  func() faults.Match { return hubWrites },
				Prepare: func(int) {},
				Begin:   func() { requests = append(requests, w.request(fmt.Sprintf("r%02d", len(requests)), w.dedicated)) },
				Done:    func(Gomega) bool { return w.isComplete(requests) },
				Killed:  func() { wanted = w.records(Default) },
				Complete: func() {
					w.eventually(func(g Gomega) { w.complete(g, requests) })
					expectKept(w.records(Default), wanted)
				},
			})[0]
			Expect(refused).To(ContainElements("patch clusterrequests", "create clusters", "create clusterrequestgrants",
				"patch clusterrequests/status", "patch clusters", "create managedclusters", "patch managedclusters/status", "patch clusters/status",
				"patch placementdecisions/status", "patch manifestworks"))

			By("cluster-request X3: on the way from the end of a request to the end of its cluster")
			var leaving *openmcpv1alpha1.ClusterRequest
			refused = suite.KillEach(ctx, proxy, suite.Behind(proxy), suite.Passage{
				Writes: func() faults.Match { return hubWrites },
				Prepare: func(n int) {
					if len(requests) == 1 {
						requests = append(requests, w.request(fmt.Sprintf("s%02d", n), w.dedicated))
						w.eventually(func(g Gomega) { w.complete(g, requests) })
					}
					leaving, requests = requests[len(requests)-1], requests[:len(requests)-1]
					wanted = w.without(leaving)
				},
				Begin: func() { Expect(suite.Client.Delete(ctx, leaving)).To(Succeed()) },
				Done: func(g Gomega) bool {
					err := suite.Client.Get(ctx, client.ObjectKeyFromObject(leaving), &openmcpv1alpha1.ClusterRequest{})
					g.Expect(client.IgnoreNotFound(err)).To(Succeed())
					return err != nil && w.isComplete(requests)
				},
				Killed: func() { expectKept(w.records(Default), wanted) },
				Complete: func() {
					suite.ExpectGone(ctx, leaving)
					w.eventually(func(g Gomega) { w.complete(g, requests) })
					expectKept(w.records(Default), wanted)
				},
			})[0]
			Expect(refused).To(ContainElements("delete clusters", "patch clusters", "patch managedclusters", "patch placementdecisions/status",
				"delete manifestworks", "delete managedclusters", "delete namespaces", "delete clusterrequestgrants", "patch clusterrequests"))

			expectKept(w.records(Default), stays)
			Expect(pages.Drain()).To(Succeed())
			pages.ExpectRequired()
			Expect(deliveries.CatchUp(ctx)).To(Succeed())
			passage := deliveries.Since(mark)
			Expect(passage.Disturbed(mark.Keys())).To(BeEmpty())
			Expect(passage.Doubled()).To(BeEmpty())
			for _, write := range proxy.Requests(faults.Match{Verbs: changing})[begun:] {
				Expect(slices.Concat(hubWrites.Resources, unkept)).To(ContainElement(write.Resource), "%+v", write)
			}
		})
})

// expectKept demands that all records are still the same objects.
func expectKept(present, wanted map[string]types.UID) {
	GinkgoHelper()
	for name, uid := range wanted {
		Expect(present).To(HaveKeyWithValue(name, uid))
	}
}
