// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/clock/testing"

	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("A watch of decisions that hangs for minutes", Ordered, func() {
	var (
		proxy *faults.Proxy
		clock *testing.FakePassiveClock
	)
	BeforeAll(func(ctx SpecContext) {
		clock = testing.NewFakePassiveClock(time.Now())
		proxy = suite.ThroughProxy(ctx, suite.ManyWorkers, func(o *system.Options) { o.Clock = clock })
	})

	It("B6: does not keep changes from being written, and costs no conflict", func(ctx SpecContext) {
		f := observed(ctx)
		f.AwaitIdle(ctx)
		mend := proxy.Break(faults.Rule{
			Match: faults.Match{Verbs: []string{"watch"}, Resources: []string{"placementdecisions"}}, Fault: faults.Hang,
		})
		DeferCleanup(mend)

		asked := func() int {
			return len(proxy.Requests(faults.Match{Verbs: []string{"list"}, Resources: []string{"placementdecisions"}, Namespace: f.Namespace}))
		}
		conflicts := func() int {
			return suite.CounterSum(Default, "placement_hub_writes_total", map[string]string{"result": "outdated"})
		}
		before, members := conflicts(), slices.Clone(everything)

		for n := range 3 {
			short := fmt.Sprintf("c%03d", 30+n)
			members = append(members, short)
			f.Cluster(ctx, "set", short)
			slices.SortFunc(members, strings.Compare)
			f.ExpectSelected(ctx, "p", suite.AllScheduled, members...)
			already := asked()
			clock.SetTime(clock.Now().Add(time.Minute))
			Eventually(asked).WithContext(ctx).WithTimeout(suite.Timeout).Should(BeNumerically(">", already), "the API server is asked what stands")
		}

		Expect(conflicts() - before).To(BeZero())
		mend()
		f.ExpectSelected(ctx, "p", suite.AllScheduled, members...)
		f.ExpectNoWrite(ctx, f.AwaitIdle(ctx).Writes)
	})
})
