package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/test/env/faults"
)

var _ = Describe("Bindings that follow from RBAC on an API server that fails", Ordered, ContinueOnFailure, Serial, func() {
	var proxy *faults.Proxy

	BeforeAll(func(ctx SpecContext) { proxy = throughProxy(ctx, manyHands) })

	DescribeTable("law 6: are not deleted at the start until everything was seen",
		func(ctx SpecContext, resource string, fault faults.Fault) {
			w := newRBACWorld(ctx)
			w.unboundSet(ctx, "blue")
			w.unboundSet(ctx, "red")
			w.role(ctx, "blue", bindRule(w.name("blue")))
			w.grant(ctx, "blue", accountOf(w.namespace))
			w.expectBound(ctx, w.namespace, "blue")
			stopHub()

			w.role(ctx, "red", bindRule(w.name("red")))
			w.grant(ctx, "red", accountOf(w.namespace))

			here := func(g Gomega) []string {
				return bindingWrites(g, func(namespace string) bool { return namespace == w.namespace })
			}
			before := here(Default)
			read := len(proxy.Requests(reads(resource)))
			mend := proxy.Break(faults.Rule{Match: reads(resource), Fault: fault})
			DeferCleanup(mend)

			stopHub = startHub(proxy.Config(), manyHands)

			Eventually(func() int { return len(proxy.Requests(reads(resource))) }).
				WithContext(ctx).WithTimeout(settle).Should(BeNumerically(">", read), "the fault has struck")
			Consistently(here).WithContext(ctx).WithTimeout(quiet).WithPolling(auditEvery).Should(Equal(before))

			mend()
			w.expectBound(ctx, w.namespace, "blue", "red")
			Expect(here(Default)).To(Equal(append(before, "create managedclustersetbindings/"+w.name("red"))))
		},
		Entry("accounts", "serviceaccounts", faults.Unavailable),
		Entry("role bindings", "clusterrolebindings", faults.Reset),
		Entry("roles", "clusterroles", faults.InternalError),
		Entry("sets", "managedclustersets", faults.Unavailable),
		Entry("namespaces", "namespaces", faults.InternalError),
		Entry("bindings", "managedclustersetbindings", faults.Unavailable),
	)

	// A watch that broke is made again with patience, so what the cache shows of roles can be older than what it shows of role bindings.
	It("law 6: stay while the API server says that the account may bind, whatever has been seen of it", func(ctx SpecContext) {
		w := newRBACWorld(ctx)
		w.unboundSet(ctx, "blue")
		w.role(ctx, "first", bindRule(w.name("blue")))
		granted := w.grant(ctx, "first", accountOf(w.namespace))
		w.expectBound(ctx, w.namespace, "blue")
		uid := w.bindings(ctx, Default, w.namespace)[w.name("blue")].UID

		mend := proxy.Break(faults.Rule{Match: reads("clusterroles"), Fault: faults.Unavailable})
		DeferCleanup(mend)
		w.role(ctx, "second", bindRule(w.name("blue")))
		w.grant(ctx, "second", accountOf(w.namespace))
		Expect(hub.Delete(ctx, granted)).To(Succeed())
		Consistently(func(g Gomega) { g.Expect(w.bound(ctx, g, w.namespace)).To(Equal([]string{"blue"})) }).
			WithContext(ctx).WithTimeout(2 * quiet).Should(Succeed())

		mend()
		w.expectBound(ctx, w.namespace, "blue")
		Expect(w.bindings(ctx, Default, w.namespace)[w.name("blue")].UID).To(Equal(uid), "it has never gone")
	})

	It("S16: are not made when the API server denies it, whatever has not been seen yet", func(ctx SpecContext) {
		w := newRBACWorld(ctx)
		w.unboundSet(ctx, "blue")
		w.role(ctx, "every", bindRule())
		granted := w.grant(ctx, "every", accountOf(w.namespace))
		Eventually(func(g Gomega) { g.Expect(w.bound(ctx, g, w.namespace)).To(ContainElement("blue")) }).
			WithContext(ctx).WithTimeout(settle).Should(Succeed())

		mend := proxy.Break(faults.Rule{Match: reads("clusterrolebindings"), Fault: faults.Unavailable})
		DeferCleanup(mend)
		Expect(hub.Delete(ctx, granted)).To(Succeed())
		Eventually(func(g Gomega) { g.Expect(review(ctx, g, w.namespace, w.name("late"))).To(BeFalse()) }).
			WithContext(ctx).WithTimeout(settle).Should(Succeed())
		w.unboundSet(ctx, "late")
		Consistently(func(g Gomega) { g.Expect(w.bound(ctx, g, w.namespace)).NotTo(ContainElement("late")) }).
			WithContext(ctx).WithTimeout(2 * quiet).Should(Succeed())

		mend()
		w.expectBound(ctx, w.namespace)
	})

	DescribeTable("are made and deleted though it fails at first, and none waits for another",
		func(ctx SpecContext, fault faults.Fault) {
			w := newRBACWorld(ctx)
			for _, short := range []string{"blue", "green", "red"} {
				w.unboundSet(ctx, short)
			}

			writes := faults.Match{
				Verbs: []string{"create", "delete"}, Resources: []string{"managedclustersetbindings"}, Namespace: w.namespace,
			}
			mend := proxy.Break(faults.Rule{Match: writes, Fault: fault, After: 1})
			DeferCleanup(mend)

			w.role(ctx, "role", bindRule(w.names("blue", "green", "red")...))
			w.grant(ctx, "role", accountOf(w.namespace))
			Eventually(func() int { return len(proxy.Requests(writes)) }).
				WithContext(ctx).WithTimeout(settle).Should(BeNumerically(">=", 3), "the fault has struck, and each was tried")
			mend()
			w.expectBound(ctx, w.namespace, "blue", "green", "red")

			tried := len(proxy.Requests(writes))
			mend = proxy.Break(faults.Rule{Match: writes, Fault: fault, After: 1})
			DeferCleanup(mend)
			Expect(hub.Delete(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: w.name("role")}})).To(Succeed())
			Eventually(func() int { return len(proxy.Requests(writes)) }).
				WithContext(ctx).WithTimeout(settle).Should(BeNumerically(">=", tried+3), "the fault has struck, and each was tried")
			mend()
			w.expectBound(ctx, w.namespace)
		},
		Entry("refused", faults.InternalError),
		Entry("outdated", faults.Conflict),
		Entry("the answer is lost", faults.Lost),
	)
})
