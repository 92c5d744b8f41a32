// SPDX-License-Identifier: Apache-2.0

package federationfaults

import (
	"math/rand/v2"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// lives are the numbers of writes that hubs carry out before they are cut off, one after the other.
var lives = []int{0, 1, 1, 2, 3, 5, 8, 13, 21}

// cutOff runs a hub that is cut off after so many writes of works, and ends it after during returned. The first write beyond is refused, or it
// is carried out and its response is lost. No later one arrives.
func cutOff(writes int, fault faults.Fault, during func(sent func() int)) {
	GinkgoHelper()
	before := len(underTest.Proxy.Requests(isWrite))
	mend := underTest.Proxy.Break(faults.Rule{Match: isWrite, Fault: fault, After: writes, Then: faults.Reset})
	underTest.Start()
	during(func() int { return len(underTest.Proxy.Requests(isWrite)) - before })
	refused := underTest.Proxy.Break(faults.Rule{Fault: faults.Reset}) // Nothing arrives any more, as if the process had ended.
	suite.StopHub()
	mend()
	refused()
}

var _ = Describe("A hub that is killed between two writes", Ordered, func() {
	underTest.Behind()

	It("federated-selector F35: deletes no work of a cluster that stays, and loses nothing before all is gained", func(ctx SpecContext) {
		const (
			last           = 120
			staying, moved = 40, 80
		)

		w := newWorld(ctx)
		w.members(ctx, "set", 1, last, func(i int) string {
			if i > moved {
				return "ashore"
			}
			return "aboard"
		})
		w.configMap(ctx, "cm", selecting(wave, "aboard"))
		w.expectDelivered(ctx, "cm", suite.Shorts(1, moved)...)
		underTest.AwaitQuiet(ctx)
		w.record(ctx)
		suite.StopHub()

		By("moving the selection in one go while no hub runs")
		w.relabel(ctx, wave, "ashore", suite.Shorts(staying+1, moved)...)
		w.relabel(ctx, wave, "aboard", suite.Shorts(moved+1, last)...)
		for n, writes := range lives {
			cutOff(writes, []faults.Fault{faults.Reset, faults.Lost}[n%2], func(sent func() int) {
				Eventually(sent).WithContext(ctx).WithTimeout(suite.Timeout).Should(BeNumerically(">", writes), "the hub was cut off")
			})
		}
		underTest.Start()

		selected := slices.Concat(suite.Shorts(1, staying), suite.Shorts(moved+1, last))
		w.expectDelivered(ctx, "cm", selected...)
		w.expectOrder(ctx)

		By("moving it while hubs come and go")
		suite.StopHub()
		random := rand.New(rand.NewPCG(1, uint64(GinkgoRandomSeed())))
		all := suite.Shorts(staying+1, last)

		for range 5 {
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			cutOff(random.IntN(20), faults.Lost, func(func() int) {
				w.relabel(ctx, wave, "aboard", all[:20]...)
				w.relabel(ctx, wave, "ashore", all[20:40]...)
				underTest.AwaitQuiet(ctx)
			})
		}
		w.relabel(ctx, wave, "aboard", all...)

		underTest.Start()

		w.expectDelivered(ctx, "cm", suite.Shorts(1, last)...)
		Expect(w.history.CatchUp(ctx)).To(Succeed())
		passage := w.history.Since(w.mark)
		Expect(passage.Doubled()).To(BeEmpty())
		Expect(passage.Disturbed(w.keys("cm", suite.Shorts(1, staying)...))).To(BeEmpty())
	})
})
