// SPDX-License-Identifier: Apache-2.0

package federation

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/history/works"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// The requests that fail besides workWrites, while agents run. The package federationfaults has them with all faults, without agents.
var (
	workDeletions = faults.Match{Verbs: []string{"delete"}, Resources: []string{"manifestworks"}}
	objectReads   = faults.Match{Verbs: []string{"get"}, Resources: []string{"configmaps"}}
	objectWrites  = faults.Match{Verbs: []string{"patch", "update"}, Resources: []string{"configmaps"}}
)

var _ = Describe("a hub whose requests fail", Ordered, func() {
	var proxy *faults.Proxy
	BeforeAll(func(ctx SpecContext) { proxy = suite.ThroughProxy(ctx) })

	DescribeTable("federated-selector 3.1.4: a fault delays the delivery, and no work of a staying cluster is disturbed",
		func(ctx SpecContext, match faults.Match, fault faults.Fault) {
			s := newScene(ctx)
			moved := s.configMap(ctx, "moved", selecting(inEurope))
			expectDelivered(ctx, moved, "eu1", "eu2")
			history, err := works.Record(ctx, suite.ControlPlane.AdminConfig())
			Expect(err).NotTo(HaveOccurred())
			Expect(history.CatchUp(ctx)).To(Succeed())
			mark, requests := history.Mark(), len(proxy.Requests(match))
			mend := proxy.Break(faults.Rule{Match: match, Fault: fault})
			DeferCleanup(mend)

			annotate(ctx, moved, selecting(`[{"key":"environment","operator":"=","values":["prod"]}]`))
			added := s.configMap(ctx, "added", selecting(inUSA))
			Eventually(func() int { return len(proxy.Requests(match)) }).WithContext(ctx).WithTimeout(suite.Timeout).
				Should(BeNumerically(">", requests), "requests that fail")
			mend()

			expectDelivered(ctx, moved, "eu1", "us1")
			expectDelivered(ctx, added, "us1")
			Expect(history.CatchUp(ctx)).To(Succeed())
			passage := history.Since(mark)
			Expect(passage.Disturbed(passage.Staying())).To(BeEmpty())
			Expect(passage.EarlyLosses()).To(BeEmpty())
			Expect(passage.Doubled()).To(BeEmpty())
		},
		Entry("writes of works: a lost response", workWrites, faults.Lost),
		Entry("deletions of works: a lost response", workDeletions, faults.Lost),
		Entry("reads of the object: 503", objectReads, faults.Unavailable),
		Entry("the finalizer: a lost response", objectWrites, faults.Lost),
	)
})
