// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// notesOn returns the notes of the Events on a policy, with their reasons.
func notesOn(ctx context.Context, g Gomega, policy *unstructured.Unstructured) []string {
	events := &eventsv1.EventList{}
	g.Expect(suite.Client.List(ctx, events)).To(Succeed())
	notes := []string{}
	for _, event := range events.Items {
		if event.Regarding.UID == policy.GetUID() {
			notes = append(notes, event.Type+" "+event.Reason+" "+event.Note)
		}
	}
	return notes
}

var _ = Describe("What policies report", Ordered, func() {
	BeforeAll(func(ctx SpecContext) { serve(ctx) })

	It("K41: a dry run has the warnings of a conflict, and no Event", func(ctx SpecContext) {
		f := newFixture(ctx)
		conflicting := clusterPolicy(ctx, f, "p", "nodeSelector: {pool: etcd, disk: ssd}")
		warning := "ClusterPodSchedulingPolicy " + f.Name("p") + `: nodeSelector[pool]: "web" is kept, not "etcd"`

		user, warnings := listening()
		dry := workload(f, "Deployment", "dry", "etcd", "nodeSelector: {pool: web}")
		Expect(user.Create(ctx, dry, client.DryRunAll)).To(Succeed())
		Expect(warnings.all()).To(Equal([]string{warning}))
		user, warnings = listening()
		wet := workload(f, "Deployment", "wet", "etcd", "nodeSelector: {pool: web}")
		Expect(user.Create(ctx, wet)).To(Succeed())
		Expect(warnings.all()).To(Equal([]string{warning}))
		Expect(podSpec(wet)).To(Equal(podSpec(dry)))

		Eventually(func(g Gomega) {
			g.Expect(notesOn(ctx, g, conflicting)).To(ContainElement(
				"Warning Conflict Deployment " + f.Namespace + `/wet: nodeSelector[pool]: "web" is kept, not "etcd"`))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Expect(notesOn(ctx, Default, conflicting)).NotTo(ContainElement(ContainSubstring("/dry:")))
	})

	It("2.1.6: an Event on a PodSchedulingPolicy is in its namespace, where kubectl describe finds it", func(ctx SpecContext) {
		f := newFixture(ctx)
		policy(ctx, f, "p", "nodeName: n1")
		etcd(ctx, f, "Deployment", "nodeName: n0")
		Eventually(func(g Gomega) {
			g.Expect(suite.Kubectl(ctx, f.Namespace)("describe", "podschedulingpolicies/p")).To(ContainSubstring(`nodeName: "n0" is kept, not "n1"`))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("K23: a ReplicationController without template is refused by the API server", func(ctx SpecContext) {
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", "nodeSelector: {pool: etcd}")
		err := suite.Client.Create(ctx, decode(f,
			"{apiVersion: v1, kind: ReplicationController, metadata: {name: etcd}, spec: {selector: {app: etcd}}}"))
		Expect(err).To(MatchError(ContainSubstring("spec.template: Required value")))
		Expect(tried(ctx, workload(f, "ReplicationController", "etcd", "etcd", ""))).To(HaveKey("nodeSelector"), "the webhook still answers")
	})

	DescribeTable("K27: an invalid policy is refused with its field", func(ctx SpecContext, constraint string, messages ...string) {
		f := newFixture(ctx)
		for kind, selectors := range map[string]string{
			"PodSchedulingPolicy": "podSelector: {}, ", "ClusterPodSchedulingPolicy": "podSelector: {}, namespaceSelector: {}, ",
		} {
			err := suite.Client.Create(ctx, decode(f, "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: "+kind+"\nmetadata: {name: "+f.Name("bad")+
				"}\nspec: {"+selectors+constraint+"}"))
			Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%s: %v", kind, err)
			for _, message := range append(messages, `admission webhook "validate.kupid.gardener.cloud" denied the request`) {
				Expect(err).To(MatchError(ContainSubstring(message)), kind)
			}
		}
	},
		Entry("operator Near", strings.ReplaceAll(required("a", "b"), "In,", "Near,"),
			"nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value", "not a valid selector operator"),
		Entry("weight 0", "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "+
			"[{weight: 0, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}",
			"preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0", "must be in the range 1-100"),
		Entry("an empty key with the operator Equal", "tolerations: [{operator: Equal, value: a}]",
			"spec.tolerations[0].operator: Invalid value", "operator must be Exists when `key` is empty"),
		Entry("In without values", strings.ReplaceAll(required("a", "b"), "values: [b]", "values: []"),
			"matchExpressions[0].values: Required value", "must be specified when `operator` is 'In' or 'NotIn'"),
		Entry("a node name that is none", "nodeName: A_B", `spec.nodeName: Invalid value: "A_B"`),
		Entry("no required term", required("a"), "nodeSelectorTerms: Required value", "must have at least one node selector term"),
		Entry("several at once", "nodeName: A_B, schedulerName: C_D",
			`spec.nodeName: Invalid value: "A_B"`, `spec.schedulerName: Invalid value: "C_D"`),
	)

	It("K37: a policy whose required terms are all empty is accepted with a warning, and its other fields count", func(ctx SpecContext) {
		f := newFixture(ctx)
		user, warnings := listening()
		empty := decode(f, "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: PodSchedulingPolicy\nmetadata: {name: p}\nspec: {podSelector: {}, "+
			"nodeSelector: {pool: etcd}, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}}}")
		Expect(user.Create(ctx, empty)).To(Succeed())
		Expect(warnings.all()).To(ConsistOf(ContainSubstring("has only empty terms, which match no node")))
		awaitPolicies(ctx, f)
		spec := tried(ctx, workload(f, "Pod", "etcd", "etcd", ""))
		Expect(spec).To(HaveKeyWithValue("nodeSelector", map[string]any{"pool": "etcd"}))
		Expect(requiredTerms(spec)).To(BeEmpty())
	})
})

var _ = Describe("A hub that may not read policies", func() {
	It("K29: allows workloads without a patch, says why, and injects policies as soon as it may read them", func(ctx SpecContext) {
		listener := listen(ctx, "")
		stop := serveAt(ctx, listener)
		f := newFixture(ctx)
		clusterPolicy(ctx, f, "p", "nodeSelector: {pool: etcd}")
		stop()

		restore := withhold(ctx, kupidv1alpha1.GroupName)
		restart := startWebhook(ctx, listen(ctx, listener.Addr().String()))
		DeferCleanup(func(ctx SpecContext) {
			restore(ctx) // The manager does not end before its caches have synced.
			restart()
		})
		failures := func() int {
			return suite.CounterSum(Default, "kupid_aggr_requests_total", map[string]string{"type": "error"})
		}
		user, warnings := listening()

		Eventually(func(g Gomega) {
			before := failures()
			deployment := workload(f, "Deployment", "etcd", "etcd", "")
			g.Expect(user.Create(ctx, deployment, client.DryRunAll)).To(Succeed())
			g.Expect(podSpec(deployment)).NotTo(HaveKey("nodeSelector"))
			g.Expect(warnings.all()).To(ContainElement(And(
				ContainSubstring("no pod scheduling policy was injected into Deployment "+f.Namespace+"/etcd"), ContainSubstring("forbidden"))))
			g.Expect(failures()).To(Equal(before + 1))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		restore(ctx)
		Eventually(func() map[string]any { return tried(ctx, workload(f, "Deployment", "etcd", "etcd", "")) }).
			WithContext(ctx).WithTimeout(suite.CollectTimeout).Should(HaveKey("nodeSelector"))
	})
})

// withhold takes the rights on an API group from the hub, and returns when it has lost them. The returned function gives them back.
func withhold(ctx context.Context, group string) (restore func(context.Context)) {
	GinkgoHelper()
	var roles []*rbacv1.ClusterRole
	for _, name := range []string{"podscheduling", "podscheduling-limits"} {
		role := &rbacv1.ClusterRole{}
		Expect(suite.Client.Get(ctx, client.ObjectKey{Name: "open-cluster-management:placement-hub:" + name}, role)).To(Succeed())
		roles = append(roles, role.DeepCopy())
		role.Rules = slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.APIGroups, group) })
		Expect(len(role.Rules)).To(BeNumerically("<", len(roles[len(roles)-1].Rules)))
		Expect(suite.Client.Update(ctx, role)).To(Succeed())
	}

	account, err := client.New(suite.HubConfig(ctx, suite.ControlPlane), client.Options{Scheme: suite.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func() bool { return apierrors.IsForbidden(account.List(ctx, &kupidv1alpha1.PodSchedulingPolicyList{})) }).
		WithContext(ctx).WithTimeout(suite.Timeout).Should(BeTrue())
	return func(ctx context.Context) {
		GinkgoHelper()
		for _, role := range roles {
			rules := role.Rules
			Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(role), role)).To(Succeed())
			role.Rules = rules
			Expect(suite.Client.Update(ctx, role)).To(Succeed())
		}
	}
}
