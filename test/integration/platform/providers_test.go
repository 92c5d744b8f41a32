// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"encoding/json"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/integration/providers"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// apiOf returns a client of the ServiceAccount of a provider that is built in.
func apiOf(provider string) client.Client {
	namespace := providers.Namespace(provider)
	return suite.As("system:serviceaccount:"+namespace+":"+manifests.ClusterProviderAccount,
		"system:serviceaccounts", "system:serviceaccounts:"+namespace)
}

// attack is a write of a provider to what is not its own.
type attack struct {
	what   string
	object client.Object
	status bool
	// merge is a merge patch.
	merge string
	// needs is the verb that the refusal names; empty where the roles of providers have no right at all.
	needs string
}

// send sends the patch of an attack.
func (a attack) send(ctx context.Context, api client.Client) error {
	object, is := a.object.DeepCopyObject().(client.Object)
	Expect(is).To(BeTrue())
	patch := client.RawPatch(types.MergePatchType, []byte(a.merge))
	if a.status {
		return api.Status().Patch(ctx, object, patch)
	}
	return api.Patch(ctx, object, patch)
}

// patchOf returns a merge patch of JSON.
func patchOf(content map[string]any) string {
	GinkgoHelper()
	data, err := json.Marshal(content)
	Expect(err).NotTo(HaveOccurred())
	return string(data)
}

// conditions returns the conditions of an object with one of them set to a status.
func conditions(present []metav1.Condition, name string, status metav1.ConditionStatus) []metav1.Condition {
	kept := slices.DeleteFunc(slices.Clone(present), func(c metav1.Condition) bool { return c.Type == name })
	return append(kept, metav1.Condition{Type: name, Status: status, Reason: "Forged", LastTransitionTime: metav1.Now()})
}

// attacksOnCluster are what no provider may do to a Cluster: with the verb of the provider to that of another one, and beyond it to any.
func attacksOnCluster(cluster *openmcpv1alpha1.Cluster, own bool) []attack {
	provide, publish, manage := `"provide" on clusterproviders`, `"publish" on clusters`, `"manage" on clusters`
	of := func(what, merge, needs string, status bool) attack {
		return attack{what: what, object: cluster, status: status, merge: merge, needs: needs}
	}
	attacks := []attack{
		of("spec", `{"spec":{"purposes":["forged"]}}`, manage, false),
		of("spec, by null", `{"spec":{"tenancy":"Exclusive","purposes":null,"kubernetes":null}}`, manage, false),
		of("a label", `{"metadata":{"labels":{"placement.open-cluster-management.io/region":"eu"}}}`, manage, false),
		of("an annotation", `{"metadata":{"annotations":{"cluster.openmcp.cloud/prefixes":"{}"}}}`, manage, false),
		of("all annotations, by null", `{"metadata":{"annotations":null}}`, manage, false),
		of("an owner that does not exist",
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"1"}]}}`, manage, false),
		of("the finalizers of the hub", `{"metadata":{"finalizers":["cluster.openmcp.cloud/provider"]}}`, manage, false),
		of("status.managedCluster", `{"status":{"managedCluster":"forged"}}`, publish, true),
		of("status.managedCluster, by null", `{"status":{"managedCluster":null}}`, publish, true),
		of("the condition Published", patchOf(map[string]any{"status": map[string]any{"conditions": conditions(
			cluster.Status.Conditions, openmcpv1alpha1.ConditionPublished, metav1.ConditionFalse)}}), publish, true),
		of("all conditions, by null", `{"status":{"conditions":null}}`, publish, true),
	}

	if own {
		return attacks
	}
	for i := range attacks {
		if attacks[i].status {
			attacks[i].needs = provide
		}
	}
	return append(attacks,
		of("the finalizer of the provider", `{"metadata":{"finalizers":["cluster.openmcp.cloud/inventory"]}}`, provide, false),
		of("all finalizers, by null", `{"metadata":{"finalizers":null}}`, manage, false),
		of("phase", `{"status":{"phase":"Failed"}}`, provide, true),
		of("phase, by null", `{"status":{"phase":null}}`, provide, true),
		of("the whole status, by null", `{"status":null}`, provide, true),
		of("endpoints", `{"status":{"endpoints":[{"name":"apiserver-external","url":"https://evil"}]}}`, provide, true),
		of("health", patchOf(map[string]any{"status": map[string]any{"conditions": conditions(
			cluster.Status.Conditions, openmcpv1alpha1.ConditionClusterHealthy, metav1.ConditionFalse)}}), provide, true),
	)
}

// attacksOnAccess are what no provider may do to an AccessRequest.
func attacksOnAccess(access *openmcpv1alpha1.AccessRequest, elsewhere *openmcpv1alpha1.Cluster, own bool) []attack {
	provide, resolve, update := `"provide" on clusterproviders`, `"resolve" on accessrequests`, `"update" on accessrequests`
	of := func(what, merge, needs string, status bool) attack {
		return attack{what: what, object: access, status: status, merge: merge, needs: needs}
	}
	attacks := []attack{
		of("spec", `{"spec":{"roleRefs":[{"kind":"ClusterRole","name":"cluster-admin"}]}}`, update, false),
		of("the label of the provider", `{"metadata":{"labels":{"cluster.openmcp.cloud/provider":"forged"}}}`, update, false),
		of("all labels, by null", `{"metadata":{"labels":null}}`, update, false),
		of("an owner that does not exist",
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"1"}]}}`, update, false),
		of("status.clusterRef", patchOf(map[string]any{"status": map[string]any{"clusterRef": map[string]any{
			"namespace": elsewhere.Namespace, "name": elsewhere.Name}}}), resolve, true),
		of("status.clusterRef, by null", `{"status":{"clusterRef":null}}`, resolve, true),
		of("the condition Resolved", patchOf(map[string]any{"status": map[string]any{"conditions": conditions(
			access.Status.Conditions, openmcpv1alpha1.ConditionResolved, metav1.ConditionUnknown)}}), resolve, true),
		of("the condition PurposesUsable", patchOf(map[string]any{"status": map[string]any{"conditions": conditions(
			access.Status.Conditions, openmcpv1alpha1.ConditionPurposesUsable, metav1.ConditionFalse)}}), resolve, true),
		of("all conditions, by null", `{"status":{"conditions":null}}`, resolve, true),
	}

	if own {
		return attacks
	}
	for i := range attacks {
		if attacks[i].status {
			attacks[i].needs = provide
		}
	}
	return append(attacks,
		of("the finalizer", `{"metadata":{"finalizers":null}}`, provide, false),
		of("the outcome", `{"status":{"status":"Granted","secretRef":{"name":"forged"}}}`, provide, true),
		of("the whole status, by null", `{"status":null}`, provide, true),
	)
}

// refused demands that the API server refuses attacks, with a text that names the verb and an example.
func refused(ctx context.Context, api client.Client, attacks []attack) {
	GinkgoHelper()
	for _, attack := range attacks {
		err := attack.send(ctx, api)
		Expect(err).To(Satisfy(apierrors.IsForbidden), "%s of %T: %v", attack.what, attack.object, err)
		if attack.needs != "" {
			Expect(err).To(MatchError(And(ContainSubstring("this needs the verb "+attack.needs), MatchRegexp("(?i)clusterrole"))), attack.what)
		}
	}
}

var _ = Describe("a provider that is taken over", func() {
	It("T4: changes nothing of what is another's, nor of its own what is the hub's, and its own work goes on", func(ctx SpecContext) {
		serveWebhook(ctx)
		provide(ctx, accessProvider, givesAccess)
		provide(ctx, nullProvider, nil)

		w := newWorld(ctx)
		owner := w.admin("owner")
		victim, own := providers.NewCluster(w.Namespace, "victim", accessProvider), providers.NewCluster(w.Namespace, "own", nullProvider)
		w.Create(ctx, victim)
		w.Create(ctx, own)
		w.eventually(func(g Gomega) {
			for _, cluster := range []*openmcpv1alpha1.Cluster{victim, own} {
				g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
				g.Expect(cluster.Status.ManagedCluster).NotTo(BeEmpty())
			}
		})

		access := w.accessRequest("granted", toCluster(victim))
		w.eventually(func(g Gomega) { g.Expect(owner.Create(ctx, access)).To(Succeed()) })
		w.outcome(access, openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess)

		By("attacking as a provider that may also write AccessRequests, with the shipped roles")
		evil := apiOf(nullProvider)
		suite.Bind(ctx, "", "cluster.openmcp.cloud:provider-access",
			"system:serviceaccount:"+providers.Namespace(nullProvider)+":"+manifests.ClusterProviderAccount)
		w.eventually(func(g Gomega) {
			g.Expect(evil.List(ctx, &openmcpv1alpha1.AccessRequestList{})).To(Succeed())
		})

		for _, cluster := range []*openmcpv1alpha1.Cluster{victim, own} { // A patch of null changes only what is there.
			Expect(suite.Client.Patch(ctx, cluster, client.RawPatch(types.MergePatchType,
				[]byte(`{"metadata":{"annotations":{"test":"x"}},"spec":{"purposes":["a"]}}`)))).To(Succeed())
		}
		refused(ctx, evil, attacksOnCluster(victim, false))
		refused(ctx, evil, attacksOnCluster(own, true))
		refused(ctx, evil, attacksOnAccess(access, own, false))
		refused(ctx, apiOf(accessProvider), attacksOnAccess(access, own, true))

		provider := &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: accessProvider}}
		refused(ctx, evil, []attack{
			{what: "the profiles", object: provider, status: true, merge: `{"status":{"ready":false}}`, needs: `"provide" on that object`},
			{what: "the profiles, by null", object: provider, status: true, merge: `{"status":{"profiles":null}}`, needs: `"provide" on that object`},
			{what: "the spec", object: provider, merge: `{"spec":{"package":"forged"}}`},
		})
		refused(ctx, apiOf(accessProvider), []attack{
			{what: "its own spec", object: provider, merge: `{"spec":{"package":"forged"}}`},
		})

		hubs := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: manifests.Namespace, Name: "hub"}}
		hubs.Spec.HolderIdentity = ptr.To("the hub")
		w.Create(ctx, hubs)
		victims := &coordinationv1.Lease{}
		Expect(suite.Client.Get(ctx, clusterrequest.LeaseKey(victim, providers.Namespace(accessProvider)), victims)).To(Succeed())
		for _, lease := range []*coordinationv1.Lease{hubs, victims} {
			refused(ctx, evil, []attack{{what: "a Lease", object: lease, merge: `{"spec":{"leaseDurationSeconds":2147483647}}`}})
			Expect(evil.Delete(ctx, lease.DeepCopy())).To(Satisfy(apierrors.IsForbidden))
		}

		beside := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "cluster-x"}}
		Expect(evil.Create(ctx, beside)).To(Satisfy(apierrors.IsForbidden))

		By("looking at their own work")
		w.outcome(access, openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess)
		Expect(owner.Delete(ctx, access)).To(Succeed())
		suite.ExpectGone(ctx, access)
		later := providers.NewCluster(w.Namespace, "later", accessProvider)
		w.Create(ctx, later)
		w.eventually(func(g Gomega) { g.Expect(providers.Health(ctx, g, later)).To(Equal("True NothingRuns Succeeded")) })

		for _, cluster := range []*openmcpv1alpha1.Cluster{victim, own, later} {
			Expect(suite.Client.Delete(ctx, cluster)).To(Succeed())
			suite.ExpectGone(ctx, cluster)
		}
	})

	It("T4: a platform team writes Clusters with manage, and the garbage collector needs no verb", func(ctx SpecContext) {
		w := newWorld(ctx)
		team, writer := w.Name("team"), w.Name("writer")
		suite.Bind(ctx, "", "open-cluster-management:placement-hub:clusterrequest-admin", team)

		suite.Allow(ctx, "", writer, rbacv1.PolicyRule{
			APIGroups: []string{openmcpv1alpha1.GroupName}, Resources: []string{"clusters", "clusters/status"},
			Verbs: []string{"get", "create", "update", "patch"},
		})

		cluster := providers.NewCluster(w.Namespace, "c", "nobody")
		cluster.Finalizers = []string{"example.com/held"}
		w.eventually(func(g Gomega) {
			g.Expect(suite.As(writer).Create(ctx, cluster.DeepCopy())).To(MatchError(ContainSubstring(
				`user "` + writer + `" is not allowed to create Cluster "` + w.Namespace + `/c": this needs the verb "manage" on clusters`)))
		})
		w.eventually(func(g Gomega) { g.Expect(suite.As(team).Create(ctx, cluster)).To(Succeed()) })
		label := attack{object: cluster, merge: `{"metadata":{"labels":{"a":"b"}}}`, what: "a label", needs: `"manage" on clusters`}
		refused(ctx, suite.As(writer), []attack{label})
		Expect(label.send(ctx, suite.As(team))).To(Succeed())

		touch := attack{object: cluster, merge: `{"metadata":{"labels":{"a":"b"}}}`}
		Expect(touch.send(ctx, suite.As(writer))).To(Succeed(), "it changes nothing")
		foreground := client.PropagationPolicy(metav1.DeletePropagationForeground)
		Expect(suite.Client.Delete(ctx, cluster, foreground)).To(Succeed())
		collector := suite.As("system:serviceaccount:kube-system:generic-garbage-collector", "system:serviceaccounts")
		freed := attack{object: cluster, merge: `{"metadata":{"finalizers":["example.com/held"]}}`}
		Expect(freed.send(ctx, collector)).To(Succeed())

		held := attack{
			object: cluster, merge: `{"metadata":{"finalizers":null}}`, what: "a finalizer", needs: `"provide" on clusterproviders "nobody"`,
		}
		refused(ctx, collector, []attack{held})
		suite.DropFinalizers(ctx, cluster)
		suite.ExpectGone(ctx, cluster)
	})

	It("T4: the Leases of a provider move to its own namespace, and no cluster becomes Unknown by that", func(ctx SpecContext) {
		provider := &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: nullProvider}}
		provide(ctx, nullProvider, nil)
		Expect(suite.Client.Patch(ctx, provider, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"leaseNamespace":null}}`)))).To(Succeed())
		w := newWorld(ctx)
		// The rights of a provider before it had a namespace of its own for Leases.
		suite.Bind(ctx, "", "cluster.openmcp.cloud:provider-leases",
			"system:serviceaccount:"+providers.Namespace(nullProvider)+":"+manifests.ClusterProviderAccount)
		cluster := providers.NewCluster(w.Namespace, "c", nullProvider)
		w.Create(ctx, cluster)

		managed := &clusterv1.ManagedCluster{}
		available := func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
			g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: cluster.Status.ManagedCluster}, managed)).To(Succeed())
			g.Expect(meta.IsStatusConditionTrue(managed.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)).To(BeTrue())
		}
		w.eventually(available)
		Expect(suite.Client.Get(ctx, clusterrequest.LeaseKey(cluster, ""), &coordinationv1.Lease{})).To(Succeed())
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(provider), provider)).To(Succeed())
			g.Expect(provider.Status.Message).To(ContainSubstring("set spec.leaseNamespace"))
		})

		since := meta.FindStatusCondition(managed.Status.Conditions, clusterv1.ManagedClusterConditionAvailable).LastTransitionTime
		Expect(suite.Client.Patch(ctx, provider, client.RawPatch(types.MergePatchType,
			[]byte(`{"spec":{"leaseNamespace":"`+providers.Namespace(nullProvider)+`"}}`)))).To(Succeed())
		w.eventually(func(g Gomega) {
			moved := &coordinationv1.Lease{}
			g.Expect(suite.Client.Get(ctx, clusterrequest.LeaseKey(cluster, providers.Namespace(nullProvider)), moved)).To(Succeed())
			g.Expect(moved.OwnerReferences).To(BeEmpty())
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(provider), provider)).To(Succeed())
			g.Expect(provider.Status.Message).NotTo(ContainSubstring("leaseNamespace"))
		})

		By("deleting the former Lease, as a tenant may")
		Expect(w.admin("tenant").Delete(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: clusterrequest.LeaseName(cluster.UID),
		}})).To(Succeed())
		Consistently(available).WithTimeout(suite.QuietPeriod).Should(Succeed())
		Expect(meta.FindStatusCondition(managed.Status.Conditions, clusterv1.ManagedClusterConditionAvailable).LastTransitionTime).To(Equal(since))

		Expect(suite.Client.Delete(ctx, cluster)).To(Succeed())
		suite.ExpectGone(ctx, cluster)
	})
})
