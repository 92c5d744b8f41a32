// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
	"github.com/placement-hub/placement-hub/test/integration/suite/matrix"
)

const bindings = "managedclustersetbindings"

// system is that of bindings for the specs of matrix.
var underTest = &matrix.System{Writes: faults.Match{Verbs: []string{"create", "patch", "update", "delete"}, Resources: []string{bindings}}}

// The requests by which bindings follow from RBAC.
var (
	creations = matrix.Request{Name: "create", Match: faults.Match{Verbs: []string{"create"}, Resources: []string{bindings}}}
	deletions = matrix.Request{Name: "delete", Match: faults.Match{Verbs: []string{"delete"}, Resources: []string{bindings}}}
)

// manyRequests is how many requests the three bindings of a row may cause while they fail, in suite.QuietPeriod.
const manyRequests = 3 * 40

// granted is the view in which one of the resources is not seen that decide about the binding of red, beside that of blue.
func granted(name, resource string, fault faults.Fault) matrix.View {
	return matrix.View{Name: name, Reads: faults.Reads(resource), Fault: fault, New: func(ctx context.Context) *matrix.Subject {
		f := newRBACFixture(ctx)
		f.UnboundSet(ctx, "blue")
		f.UnboundSet(ctx, "red")
		f.role(ctx, "blue", bindRule(f.Name("blue")))
		f.grant(ctx, "blue", accountOf(f.Namespace))
		here := func(g Gomega) []string {
			return bindingWrites(g, func(namespace string) bool { return namespace == f.Namespace })
		}
		var before []string
		return &matrix.Subject{
			Settle: func(ctx context.Context) { f.expectBound(ctx, f.Namespace, "blue") },
			Change: func(ctx context.Context) {
				before = here(Default)
				f.role(ctx, "red", bindRule(f.Name("red")))
				f.grant(ctx, "red", accountOf(f.Namespace))
			},
			Holds: func(_ context.Context, g Gomega) { g.Expect(here(g)).To(Equal(before)) },
			Arrives: func(ctx context.Context) {
				f.expectBound(ctx, f.Namespace, "blue", "red")
				Expect(here(Default)).To(Equal(append(before, "create "+bindings+"/"+f.Name("red"))))
			},
		}
	}}
}

// threeSets is a namespace that is bound to three sets, or is to be, while that fails.
func threeSets(ctx context.Context, broken *matrix.Broken) {
	GinkgoHelper()
	f, shorts := newRBACFixture(ctx), []string{"blue", "green", "red"}
	for _, short := range shorts {
		f.UnboundSet(ctx, short)
	}
	f.role(ctx, "role", bindRule(f.Names(shorts...)...))
	broken.Match.Namespace = f.Namespace
	broken.All = broken.Match

	grant := func(ctx context.Context) { f.grant(ctx, "role", accountOf(f.Namespace)) }
	revoke := func(ctx context.Context) {
		Expect(suite.Client.Delete(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: f.Name("role")}})).To(Succeed())
	}
	subject := &matrix.Subject{
		Settle: func(ctx context.Context) { f.expectBound(ctx, f.Namespace) }, Change: grant,
		Arrives: func(ctx context.Context) { f.expectBound(ctx, f.Namespace, shorts...) },
	}
	kept := []string{}

	if broken.Name == deletions.Name {
		grant(ctx)
		kept = shorts
		subject.Settle, subject.Change, subject.Arrives = subject.Arrives, revoke, subject.Settle
	}

	subject.Holds = func(ctx context.Context, g Gomega) {
		if broken.Fault != faults.Lost { // It is carried out.
			g.Expect(f.bound(ctx, g, f.Namespace)).To(Equal(kept))
		}
	}
	subject.Told = func(_ context.Context, g Gomega) {
		if broken.Fault == faults.Hang { // The first one takes all the time that there is.
			return
		}
		g.Expect(len(underTest.Proxy.Requests(broken.Match))).To(BeNumerically(">=", len(shorts)), "each was tried, and none waits for another")
	}
	broken.Subject = subject
}

var _ = Describe("Bindings that follow from RBAC on an API server that fails", Ordered, ContinueOnFailure, func() {
	underTest.Behind()

	underTest.Starts("law 6: are not deleted at the start until everything was seen",
		granted("accounts", "serviceaccounts", faults.Unavailable),
		granted("role bindings", "clusterrolebindings", faults.Reset),
		granted("roles", "clusterroles", faults.InternalError),
		granted("sets", "managedclustersets", faults.Unavailable),
		granted("namespaces", "namespaces", faults.InternalError),
		granted("bindings", bindings, faults.Unavailable),
	)

	underTest.Requests("are made and deleted though it fails at first, and none waits for another", "", &matrix.Requests{
		Kinds: []matrix.Request{creations, deletions},
		Most:  manyRequests,
		New:   func(ctx context.Context, broken *matrix.Broken) { threeSets(ctx, broken) },
	})

	// A watch that broke is made again with backoff, so what the cache shows of roles can be older than what it shows of role bindings.
	It("law 6: stay while the API server says that the account may bind, whatever has been seen of it", func(ctx SpecContext) {
		f := newRBACFixture(ctx)
		f.UnboundSet(ctx, "blue")
		f.role(ctx, "first", bindRule(f.Name("blue")))
		granted := f.grant(ctx, "first", accountOf(f.Namespace))
		f.expectBound(ctx, f.Namespace, "blue")
		uid := f.bindings(ctx, Default, f.Namespace)[f.Name("blue")].UID

		mend := underTest.Proxy.Break(faults.Rule{Match: faults.Reads("clusterroles"), Fault: faults.Unavailable})
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

		mend := underTest.Proxy.Break(faults.Rule{Match: faults.Reads("clusterrolebindings"), Fault: faults.Unavailable})
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
})
