// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

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
	// Writes returns a match of the writes of the passage, and of no other one, after Prepare.
	Writes func() faults.Match
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

// kills is what KillEach knows of a passage.
type kills struct {
	Passage

	// killed and seen are the kinds of writes before which hubs were killed, and that hubs have sent. For those of tried a hub was to be killed
	// once more.
	killed, seen, tried []string
	// rule stops the hub; it is set for each kill, and reset ends it.
	rule  faults.Rule
	match faults.Match
	mend  func()
	// before and passed are the requests of the match and of the rule before the passage begins.
	before, passed int
}

// KillEach has the hub behind a proxy carry passages out again and again, all of them at the same time, and kills it when each of them has come
// to its first write, to its second, and so on until a hub comes to the end. Controllers write side by side, so that the nth write of a passage
// is not always the same: in addition a hub is killed before each kind of write, a verb and a resource, that no kill came before yet. start
// starts each next hub behind the proxy, which StopHub ends. KillEach returns for each passage the writes before which hubs were killed, as
// "verb resource".
func KillEach(ctx context.Context, proxy *faults.Proxy, start func(), passages ...Passage) [][]string {
	GinkgoHelper()
	all := make([]*kills, len(passages))
	for i, passage := range passages {
		all[i] = &kills{Passage: passage}
	}

	count := 0
	kill := func(present []*kills, rule func(*kills) faults.Rule) (refused []*kills) {
		GinkgoHelper()
		Expect(count).To(BeNumerically("<", mostKills))
		refused = killOnce(ctx, proxy, count, present, rule, start)
		count++
		return refused
	}

	for n, present := 0, all; len(present) > 0; n++ {
		present = kill(present, func(k *kills) faults.Rule { return faults.Rule{Match: k.match, After: n} })
	}
	for {
		kinds := map[*kills]string{}
		for _, k := range all {
			if left := k.left(); left != "" {
				kinds[k] = left
			}
		}
		if len(kinds) == 0 {
			break
		}

		present := slices.DeleteFunc(slices.Clone(all), func(k *kills) bool { return kinds[k] == "" })
		kill(present, func(k *kills) faults.Rule { return faults.Rule{Match: matchOf(kinds[k], k.match)} })
	}

	killed := make([][]string, len(all))
	for i, k := range all {
		killed[i] = k.killed
	}
	AddReportEntry("killed before each of these writes", killed)
	GinkgoWriter.Printf("killed before each of these writes: %q\n", killed)
	return killed
}

// left returns a kind of write that hubs have sent, that no kill came before, and that was not tried; "" if there is none. It is tried now.
func (k *kills) left() string {
	slices.Sort(k.seen)
	k.seen = slices.Compact(k.seen)
	for _, kind := range k.seen {
		if !slices.Contains(k.killed, kind) && !slices.Contains(k.tried, kind) {
			k.tried = append(k.tried, kind)
			return kind
		}
	}
	return ""
}

// reached returns the requests that the rule has stopped.
func (k *kills) reached(proxy *faults.Proxy) []faults.Request {
	requests := proxy.Requests(k.rule.Match)[k.passed:]
	return requests[min(len(requests), k.rule.After):]
}

// killOnce carries passages out with a hub that is killed when each of them has come to its rule or to its end, and another hub that completes
// them. It returns those that came to their rules.
func killOnce(
	ctx context.Context, proxy *faults.Proxy, n int, passages []*kills, rule func(*kills) faults.Rule, start func(),
) (refused []*kills) {
	GinkgoHelper()
	for _, k := range passages {
		k.Prepare(n)
		k.match = k.Writes()
	}
	awaitNoWrites(ctx, proxy, passages)

	for _, k := range passages {
		k.rule = rule(k)
		k.rule.Fault = faults.Reset
		k.before, k.passed = len(proxy.Requests(k.match)), len(proxy.Requests(k.rule.Match))
		k.mend = proxy.Break(k.rule)
		DeferCleanup(k.mend) // For a spec that fails before it mends.
	}
	for _, k := range passages {
		k.Begin()
	}

	for _, k := range passages {
		Eventually(func(g Gomega) {
			g.Expect(len(k.reached(proxy)) > 0 || k.Done(g)).To(BeTrue(), "the hub waits")
		}).WithContext(ctx).WithTimeout(Timeout).Should(Succeed())
	}
	StopHub()

	for _, k := range passages {
		if stopped := k.reached(proxy); len(stopped) > 0 {
			k.killed = append(k.killed, kindOf(stopped[0]))
			refused = append(refused, k)
		}
		for _, request := range proxy.Requests(k.match)[k.before:] {
			k.seen = append(k.seen, kindOf(request))
		}
		k.Killed()
		k.mend()
	}

	start()
	for _, k := range passages {
		k.Complete()
	}
	return refused
}

// awaitNoWrites waits until a hub has sent no write of these passages for settlingPeriod.
func awaitNoWrites(ctx context.Context, proxy *faults.Proxy, passages []*kills) {
	GinkgoHelper()
	last := -1
	Eventually(func() bool {
		before := last
		last = 0
		for _, k := range passages {
			last += len(proxy.Requests(k.match))
		}
		return last == before
	}).WithContext(ctx).WithTimeout(Timeout).WithPolling(settlingPeriod).Should(BeTrue())
}

// kindOf returns "verb resource".
func kindOf(request faults.Request) string { return request.Verb + " " + request.Resource }

// matchOf returns the match of the writes of a kind, which is one of the given ones.
func matchOf(kind string, of faults.Match) faults.Match {
	for _, verb := range of.Verbs {
		for _, resource := range of.Resources {
			if kind == verb+" "+resource {
				return faults.Match{Verbs: []string{verb}, Resources: []string{resource}, Namespace: of.Namespace, Names: of.Names}
			}
		}
	}
	Fail("no write of the kind " + kind)
	return faults.Match{}
}
