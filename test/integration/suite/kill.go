package suite

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

const (
	// mostKills is how often KillEach kills a hub at most.
	mostKills = 60
	// settlingPeriod is the time without a write after which KillEach takes it that the hub has carried out what Prepare led to. A write that
	// comes later only moves a kill to the write before.
	settlingPeriod = 200 * time.Millisecond
)

// Passage is something that the hub does in several writes.
type Passage struct {
	// Prepare makes what the passage begins with, for the nth time, while a hub runs that writes what it wants.
	Prepare func(n int)
	// Begin begins the passage.
	Begin func()
	// Done reports whether the hub has done everything.
	Done func(Gomega) bool
	// Killed is called after each kill, while no hub runs.
	Killed func()
	// Complete waits for the end of the passage, which another hub brings about.
	Complete func()
}

// KillEach has the hub behind a proxy carry a passage out again and again, and kills it before the first of these writes, before the second,
// and so on until a hub comes to the end. The hubs have the settings. It returns the writes before which hubs were killed, as "verb resource".
func KillEach(
	ctx context.Context, proxy *faults.Proxy, writes faults.Match, p Passage, settings ...func(*controller.Options),
) []string {
	GinkgoHelper()

	var refused []string

	for n := range mostKills {
		p.Prepare(n)

		before := awaitNoWrites(ctx, proxy, writes)
		mend := proxy.Break(faults.Rule{Match: writes, Fault: faults.Reset, After: n})

		p.Begin()

		var sent []faults.Request

		Eventually(func(g Gomega) {
			sent = proxy.Requests(writes)[before:]
			g.Expect(len(sent) > n || p.Done(g)).To(BeTrue(), "the hub waits after %d writes", len(sent))
		}).WithContext(ctx).WithTimeout(Timeout).Should(Succeed())
		StopHub()

		sent = proxy.Requests(writes)[before:] // Those that were on their way are refused too.

		p.Killed()
		mend()

		StopHub = StartHub(proxy.Config(), settings...) //nolint:contextcheck // It runs until StopHub.

		p.Complete()

		if len(sent) <= n {
			AddReportEntry("killed before each of these writes", refused)
			GinkgoWriter.Printf("killed before each of these %d writes: %q\n", len(refused), refused)

			return refused
		}

		refused = append(refused, sent[n].Verb+" "+sent[n].Resource)
	}

	Fail(fmt.Sprintf("no hub came to the end without one of these writes: %q", refused))

	return nil
}

// awaitNoWrites waits until a hub has sent none of these writes for settlingPeriod, and returns how many it has sent.
func awaitNoWrites(ctx context.Context, proxy *faults.Proxy, writes faults.Match) int {
	GinkgoHelper()

	last := -1

	Eventually(func() bool {
		before := last
		last = len(proxy.Requests(writes))

		return last == before
	}).WithContext(ctx).WithTimeout(Timeout).WithPolling(settlingPeriod).Should(BeTrue())

	return last
}
