package binding

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Bindings that follow from RBAC on an API server that fails", Ordered, ContinueOnFailure, func() {
	var proxy *faults.Proxy

	BeforeAll(func(ctx SpecContext) { proxy = suite.ThroughProxy(ctx, suite.ManyWorkers) })

	DescribeTable("law 6: are not deleted at the start until everything was seen",
		func(ctx SpecContext, resource string, fault faults.Fault) {
			f := newRBACFixture(ctx)
			f.UnboundSet(ctx, "blue")
			f.UnboundSet(ctx, "red")
			f.role(ctx, "blue", bindRule(f.Name("blue")))
			f.grant(ctx, "blue", accountOf(f.Namespace))
			f.expectBound(ctx, f.Namespace, "blue")
			suite.StopHub()

			f.role(ctx, "red", bindRule(f.Name("red")))
			f.grant(ctx, "red", accountOf(f.Namespace))

			here := func(g Gomega) []string {
				return bindingWrites(g, func(namespace string) bool { return namespace == f.Namespace })
			}
			before := here(Default)
			read := len(proxy.Requests(suite.Reads(resource)))
			mend := proxy.Break(faults.Rule{Match: suite.Reads(resource), Fault: fault})
			DeferCleanup(mend)

			suite.StopHub = suite.StartHub(proxy.Config(), suite.ManyWorkers)

			Eventually(func() int { return len(proxy.Requests(suite.Reads(resource))) }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(BeNumerically(">", read), "the fault has struck")
			Consistently(here).WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).Should(Equal(before))

			mend()
			f.expectBound(ctx, f.Namespace, "blue", "red")
			Expect(here(Default)).To(Equal(append(before, "create managedclustersetbindings/"+f.Name("red"))))
		},
		Entry("accounts", "serviceaccounts", faults.Unavailable),
		Entry("role bindings", "clusterrolebindings", faults.Reset),
		Entry("roles", "clusterroles", faults.InternalError),
		Entry("sets", "managedclustersets", faults.Unavailable),
		Entry("namespaces", "namespaces", faults.InternalError),
		Entry("bindings", "managedclustersetbindings", faults.Unavailable),
	)

	// A watch that broke is made again with backoff, so what the cache shows of roles can be older than what it shows of role bindings.
	It("law 6: stay while the API server says that the account may bind, whatever has been seen of it", func(ctx SpecContext) {
		f := newRBACFixture(ctx)
		f.UnboundSet(ctx, "blue")
		f.role(ctx, "first", bindRule(f.Name("blue")))
		granted := f.grant(ctx, "first", accountOf(f.Namespace))
		f.expectBound(ctx, f.Namespace, "blue")
		uid := f.bindings(ctx, Default, f.Namespace)[f.Name("blue")].UID

		mend := proxy.Break(faults.Rule{Match: suite.Reads("clusterroles"), Fault: faults.Unavailable})
		DeferCleanup(mend)
		f.role(ctx, "second", bindRule(f.Name("blue")))
		f.grant(ctx, "second", accountOf(f.Namespace))
		Expect(suite.Client.Delete(ctx, granted)).To(Succeed())
		Consistently(func(g Gomega) { g.Expect(f.bound(ctx, g, f.Namespace)).To(Equal([]string{"blue"})) }).
			WithContext(ctx).WithTimeout(2 * suite.QuietPeriod).Should(Succeed())

		mend()
		f.expectBound(ctx, f.Namespace, "blue")
		Expect(f.bindings(ctx, Default, f.Namespace)[f.Name("blue")].UID).To(Equal(uid), "it has never gone")
	})

	It("S16: are not made when the API server denies it, whatever has not been seen yet", func(ctx SpecContext) {
		f := newRBACFixture(ctx)
		f.UnboundSet(ctx, "blue")
		f.role(ctx, "every", bindRule())
		granted := f.grant(ctx, "every", accountOf(f.Namespace))
		Eventually(func(g Gomega) { g.Expect(f.bound(ctx, g, f.Namespace)).To(ContainElement("blue")) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		mend := proxy.Break(faults.Rule{Match: suite.Reads("clusterrolebindings"), Fault: faults.Unavailable})
		DeferCleanup(mend)
		Expect(suite.Client.Delete(ctx, granted)).To(Succeed())
		Eventually(func(g Gomega) { g.Expect(review(ctx, g, f.Namespace, f.Name("late"))).To(BeFalse()) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		f.UnboundSet(ctx, "late")
		Consistently(func(g Gomega) { g.Expect(f.bound(ctx, g, f.Namespace)).NotTo(ContainElement("late")) }).
			WithContext(ctx).WithTimeout(2 * suite.QuietPeriod).Should(Succeed())

		mend()
		f.expectBound(ctx, f.Namespace)
	})

	DescribeTable("are made and deleted though it fails at first, and none waits for another",
		func(ctx SpecContext, fault faults.Fault) {
			f := newRBACFixture(ctx)
			for _, short := range []string{"blue", "green", "red"} {
				f.UnboundSet(ctx, short)
			}

			writes := faults.Match{
				Verbs: []string{"create", "delete"}, Resources: []string{"managedclustersetbindings"}, Namespace: f.Namespace,
			}
			mend := proxy.Break(faults.Rule{Match: writes, Fault: fault, After: 1})
			DeferCleanup(mend)

			f.role(ctx, "role", bindRule(f.Names("blue", "green", "red")...))
			f.grant(ctx, "role", accountOf(f.Namespace))
			Eventually(func() int { return len(proxy.Requests(writes)) }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(BeNumerically(">=", 3), "the fault has struck, and each was tried")
			mend()
			f.expectBound(ctx, f.Namespace, "blue", "green", "red")

			tried := len(proxy.Requests(writes))
			mend = proxy.Break(faults.Rule{Match: writes, Fault: fault, After: 1})
			DeferCleanup(mend)
			Expect(suite.Client.Delete(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: f.Name("role")}})).To(Succeed())
			Eventually(func() int { return len(proxy.Requests(writes)) }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(BeNumerically(">=", tried+3), "the fault has struck, and each was tried")
			mend()
			f.expectBound(ctx, f.Namespace)
		},
		Entry("refused", faults.InternalError),
		Entry("outdated", faults.Conflict),
		Entry("the answer is lost", faults.Lost),
	)
})
