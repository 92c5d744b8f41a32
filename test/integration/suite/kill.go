package suite

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

const (
	// mostKills is how often KillEach kills a hub at most.
	mostKills = 80
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
// and so on until a hub comes to the end. Controllers write side by side, so that the nth write is not always the same: in addition a hub is
// killed before each kind of write, a verb and a resource, that no kill came before yet. The hubs have the settings. KillEach returns the
// writes before which hubs were killed, as "verb resource".
func KillEach(
	ctx context.Context, proxy *faults.Proxy, writes faults.Match, p Passage, settings ...func(*controller.Options),
) []string {
	GinkgoHelper()

	var killed, seen []string

	kills := 0
	kill := func(rule faults.Rule) bool {
		GinkgoHelper()
		Expect(kills).To(BeNumerically("<", mostKills), "hubs were killed before %q", killed)
		p.Prepare(kills)

		kills++
		sent, refused := killOnce(ctx, proxy, writes, rule, p, settings)
		seen = append(seen, sent...)

		if refused != "" {
			killed = append(killed, refused)
		}

		return refused != ""
	}

	n := 0
	for kill(faults.Rule{Match: writes, After: n}) {
		n++
	}

	slices.Sort(seen)

	for _, kind := range slices.Compact(seen) {
		if !slices.Contains(killed, kind) {
			kill(faults.Rule{Match: matchOf(kind, writes)})
		}
	}

	AddReportEntry("killed before each of these writes", killed)
	GinkgoWriter.Printf("killed before each of these %d writes: %q\n", len(killed), killed)

	return killed
}

// killOnce carries a passage out with a hub that is killed when the rule applies to a write, and another hub that completes it. It returns the
// kinds of the writes that the first hub sent, and the one that was refused first; "" if none was.
func killOnce(
	ctx context.Context, proxy *faults.Proxy, writes faults.Match, rule faults.Rule, p Passage, settings []func(*controller.Options),
) (sent []string, refused string) {
	GinkgoHelper()

	before := awaitNoWrites(ctx, proxy, writes)
	passed := len(proxy.Requests(rule.Match))

	rule.Fault = faults.Reset
	mend := proxy.Break(rule)

	p.Begin()

	reached := func() []faults.Request {
		requests := proxy.Requests(rule.Match)[passed:]

		return requests[min(len(requests), rule.After):]
	}

	Eventually(func(g Gomega) {
		g.Expect(len(reached()) > 0 || p.Done(g)).To(BeTrue(), "the hub waits")
	}).WithContext(ctx).WithTimeout(Timeout).Should(Succeed())
	StopHub()

	if stopped := reached(); len(stopped) > 0 {
		refused = kindOf(stopped[0])
	}

	for _, request := range proxy.Requests(writes)[before:] {
		sent = append(sent, kindOf(request))
	}

	p.Killed()
	mend()

	StopHub = StartHub(proxy.Config(), settings...) //nolint:contextcheck // It runs until StopHub.

	p.Complete()

	return sent, refused
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

// kindOf returns "verb resource".
func kindOf(request faults.Request) string { return request.Verb + " " + request.Resource }

// matchOf returns the match of the writes of a kind, which is one of the given ones.
func matchOf(kind string, of faults.Match) faults.Match {
	for _, verb := range of.Verbs {
		for _, resource := range of.Resources {
			if kind == verb+" "+resource {
				return faults.Match{Verbs: []string{verb}, Resources: []string{resource}, Namespace: of.Namespace}
			}
		}
	}

	Fail("no write of the kind " + kind)

	return faults.Match{}
}
