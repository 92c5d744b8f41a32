// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"context"
	"fmt"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	// bombPolicies, bombProducts and bombExpressions make policies of 165 kB together: the first ones have two required terms each, which
	// multiply, and the others one term with many expressions.
	bombPolicies    = 31
	bombProducts    = 8
	bombExpressions = 170
	// bombReviews is how many workloads of the namespace are reviewed at once.
	bombReviews = 250
)

// bomb returns the constraints of one of the policies.
func bomb(number int) string {
	term := func(expressions int, prefix string) string {
		list := make([]string, expressions)
		for i := range list {
			list[i] = fmt.Sprintf("{key: %s-%d-%d, operator: Exists}", prefix, number, i)
		}
		return "{matchExpressions: [" + strings.Join(list, ", ") + "]}"
	}

	terms := term(bombExpressions, "e")
	if number < bombProducts {
		terms = term(1, "a") + ", " + term(1, "b")
	}
	return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + terms + "]}}}"
}

// namespaceAdmin returns a client with the ClusterRole admin in the namespace of the fixture, and where it keeps warnings.
func namespaceAdmin(ctx context.Context, f *suite.Fixture) (client.Client, *heard) {
	GinkgoHelper()
	user, warnings := f.Name("admin"), &heard{}
	suite.Bind(ctx, f.Namespace, "admin", user)
	config := suite.Impersonating(user)
	config.WarningHandler = warnings
	return suite.ClientOf(config), warnings
}

var _ = Describe("Limits of the policies of a namespace", Ordered, func() {
	BeforeAll(func(ctx SpecContext) { serve(ctx) })

	It("T12: 31 policies of one namespace keep no workload from its cluster policies, and are skipped by name", func(ctx SpecContext) {
		f := newFixture(ctx)
		admin, warnings := namespaceAdmin(ctx, f)
		clusterPolicy(ctx, f, "pool", "nodeSelector: {pool: etcd}")
		for i := range bombPolicies {
			Eventually(admin.Create).WithContext(ctx).WithArguments(decode(f, fmt.Sprintf("apiVersion: kupid.gardener.cloud/v1alpha1\n"+
				"kind: PodSchedulingPolicy\nmetadata: {name: p%02d}\nspec: {podSelector: {matchLabels: {app: etcd}}, %s}", i, bomb(i)))).
				WithTimeout(suite.Timeout).Should(Succeed())
		}
		awaitPolicies(ctx, f)
		var reviews sync.WaitGroup

		specs := make([]map[string]any, bombReviews)
		for i := range bombReviews {
			reviews.Go(func() {
				defer GinkgoRecover()
				pod := workload(f, "Pod", fmt.Sprintf("etcd-%d", i), "etcd", "")
				Expect(admin.Create(ctx, pod, client.DryRunAll)).To(Succeed())
				specs[i] = podSpec(pod)
			})
		}
		reviews.Wait()

		for _, spec := range specs {
			Expect(spec).To(HaveKeyWithValue("nodeSelector", HaveKeyWithValue("pool", "etcd")))
		}
		Expect(warnings.all()).To(ContainElement(And(
			HavePrefix("PodSchedulingPolicy "+f.Namespace+"/p07: the policy is skipped"), ContainSubstring("2000 expressions"))))
		first := workload(f, "Pod", "etcd", "etcd", "")
		Expect(admin.Create(ctx, first, client.DryRunAll)).To(Succeed())
		Expect(requiredTerms(podSpec(first))).To(HaveLen(1 << (bombProducts - 1)))

		again := workload(f, "Pod", "etcd", "etcd", "")
		Expect(admin.Create(ctx, again, client.DryRunAll)).To(Succeed())
		Expect(requiredTerms(podSpec(again))).To(Equal(requiredTerms(podSpec(first))), "always the same policies are skipped")
	})

	It("T12: a policy beyond the limits has a condition, until it fits again, and nothing else is written", func(ctx SpecContext) {
		f := newFixture(ctx)
		admin, _ := namespaceAdmin(ctx, f)
		tolerations := func(prefix string, count int) string {
			list := make([]string, count)
			for i := range list {
				list[i] = fmt.Sprintf("{key: %s-%d, operator: Exists}", prefix, i)
			}
			return "tolerations: [" + strings.Join(list, ", ") + "]"
		}
		conditions := func(g Gomega, name string) []metav1.Condition {
			found := &kupidv1alpha1.PodSchedulingPolicy{}
			g.Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: f.Namespace, Name: name}, found)).To(Succeed())
			return found.Status.Conditions
		}
		beyond := HaveExactElements(And(
			HaveField("Type", "WithinLimits"), HaveField("Status", metav1.ConditionFalse), HaveField("Reason", "TooManyTerms"),
			HaveField("Message", ContainSubstring("with the policy b the node selector")), HaveField("ObservedGeneration", int64(1))))

		policy(ctx, f, "a", tolerations("a", 1500))
		policy(ctx, f, "b", tolerations("b", 501))
		policy(ctx, f, "c", "nodeName: n1")
		Eventually(func(g Gomega) {
			g.Expect(conditions(g, "a")).To(BeEmpty())
			g.Expect(conditions(g, "b")).To(beyond)
			g.Expect(conditions(g, "c")).To(beyond)
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		By("refusing a status that the namespace's administrator writes")
		Expect(admin.Status().Patch(ctx, decode(f, "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: PodSchedulingPolicy\nmetadata: {name: b}"),
			client.RawPatch(types.MergePatchType, []byte(`{"status":null}`)))).To(Satisfy(apierrors.IsForbidden))

		By("removing the condition where the policies fit again")
		first := &kupidv1alpha1.PodSchedulingPolicy{}
		Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: f.Namespace, Name: "a"}, first)).To(Succeed())
		untouched := first.ResourceVersion
		Expect(suite.Client.Delete(ctx, &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "b"}})).
			To(Succeed())
		Eventually(func(g Gomega) { g.Expect(conditions(g, "c")).To(BeEmpty()) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: f.Namespace, Name: "a"}, first)).To(Succeed())
		Expect(first.ResourceVersion).To(Equal(untouched))
	})
})
