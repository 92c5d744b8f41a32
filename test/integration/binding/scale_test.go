// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	manyNamespaces = 60
	manySets       = 20
	// manySettle is how long many bindings may take on a loaded machine.
	manySettle = 2 * time.Minute
)

// A third of the namespaces may bind every set, a third half of the sets, and a third none.
var _ = Describe("Bindings of many namespaces to many sets", Ordered, func() {
	var (
		f                 *rbacFixture
		every, half, none []string
		some              []string // the sets of half
		role              *rbacv1.ClusterRole
	)

	// before is what was written until the last look.
	var before map[string]int
	// expectWritten demands that since the last look each of the namespaces had exactly so many bindings created and deleted, and the
	// others none.
	expectWritten := func(ctx context.Context, want map[string]int) {
		GinkgoHelper()
		written := func(g Gomega) map[string]int {
			counts := bindingWriteCounts(g)
			for what, count := range before {
				if counts[what] -= count; counts[what] == 0 {
					delete(counts, what)
				}
			}
			return counts
		}
		Eventually(written).WithContext(ctx).WithTimeout(manySettle).WithPolling(suite.AuditInterval).Should(Equal(want))
		Consistently(written).WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).Should(Equal(want))

		before = bindingWriteCounts(Default)
	}
	times := func(want map[string]int, verb string, namespaces []string, count int) map[string]int {
		for _, namespace := range namespaces {
			want[verb+" "+namespace] = count
		}
		return want
	}

	BeforeAll(func(ctx SpecContext) {
		suite.SeparateAPIServer(ctx, "/bindings", func(objects []*unstructured.Unstructured) []*unstructured.Unstructured { return objects })

		f = newRBACFixture(ctx)
		for i := range manyNamespaces {
			namespace := f.another(ctx, fmt.Sprintf("n%02d", i))
			f.account(ctx, namespace)
			switch i % 3 {
			case 0:
				every = append(every, namespace)
			case 1:
				half = append(half, namespace)
			default:
				none = append(none, namespace)
			}
		}

		for i := range manySets {
			set := f.UnboundSet(ctx, fmt.Sprintf("s%02d", i))
			if i%2 == 0 {
				some = append(some, set.Name)
			}
		}
	})

	It("settle with the necessary writes only", func(ctx SpecContext) {
		f.role(ctx, "every", bindRule())
		role = f.role(ctx, "half", bindRule(some...))
		f.role(ctx, "none", rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"managedclustersets"}})

		subjects := func(namespaces []string) (subjects []rbacv1.Subject) {
			for _, namespace := range namespaces {
				subjects = append(subjects, accountOf(namespace))
			}
			return subjects
		}
		f.grant(ctx, "every", subjects(every)...)
		f.grant(ctx, "half", subjects(half)...)
		f.grant(ctx, "none", groupNamed("system:serviceaccounts"))

		// Every hub has the sets default and global too.
		expectWritten(ctx, times(times(map[string]int{}, "create", every, manySets+2), "create", half, len(some)))
	})

	It("take one write for each namespace that a new set concerns", func(ctx SpecContext) {
		f.UnboundSet(ctx, "new")
		expectWritten(ctx, times(map[string]int{}, "create", every, 1))
	})

	It("are written where a changed role concerns them", func(ctx SpecContext) {
		suite.Edit(ctx, role, func(r *rbacv1.ClusterRole) {
			r.Rules[0].ResourceNames = append(r.Rules[0].ResourceNames[1:], f.Name("new"))
		})
		expectWritten(ctx, times(times(map[string]int{}, "create", half, 1), "delete", half, 1))
	})

	It("B6: are not written at a restart", func(ctx SpecContext) {
		suite.StopHub()
		suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))
		expectWritten(ctx, map[string]int{})
	})

	It("are looked at where a changed role concerns them, and only when it grants something else", func(ctx SpecContext) {
		const others = 10 // What else may be looked at by the hub of the other specs, which counts too.
		looks := func(g Gomega) int {
			return suite.CounterSum(g, "controller_runtime_reconcile_total", map[string]string{"controller": "clustersetbinding-rbac"})
		}
		looked := suite.AwaitUnchanged(ctx, looks)
		suite.Edit(ctx, role, func(r *rbacv1.ClusterRole) { r.Rules[0].ResourceNames = append(r.Rules[0].ResourceNames, "absent") })
		Eventually(looks).WithContext(ctx).WithTimeout(suite.Timeout).Should(BeNumerically(">=", looked+len(half)))

		suite.Edit(ctx, role, func(r *rbacv1.ClusterRole) {
			r.Annotations = map[string]string{"example.com/changed": "true"}
			r.Rules = append(r.Rules, rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}})
		})
		Consistently(looks).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(BeNumerically("<", looked+len(half)+others))
		expectWritten(ctx, map[string]int{})
	})

	It("lose what a role that is gone has granted", func(ctx SpecContext) {
		Expect(suite.Client.Delete(ctx, role)).To(Succeed())
		expectWritten(ctx, times(map[string]int{}, "delete", half, len(some)))
	})
})

// bindingWriteCounts counts the requests of the hub for bindings, their status aside, by "verb namespace".
func bindingWriteCounts(g Gomega) map[string]int {
	events, err := suite.ControlPlane.Writes(localplane.By(suite.HubUser))
	g.Expect(err).NotTo(HaveOccurred())
	counts := map[string]int{}
	for _, event := range events {
		if object := event.ObjectRef; object != nil && object.Resource == "managedclustersetbindings" && object.Subresource == "" {
			counts[event.Verb+" "+object.Namespace]++
		}
	}
	return counts
}
