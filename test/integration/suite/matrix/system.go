// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// System is a system of the hub whose requests fail.
type System struct {
	// Proxy is between the hub and the API server, from the first BeforeAll of the container on.
	Proxy *faults.Proxy
	// Prepare, if not nil, prepares the API server before the hub starts.
	Prepare func()
	// Settings are those of every hub, besides suite.ManyWorkers.
	Settings []func(*system.Options)
	// Writes matches the writes of the system.
	Writes faults.Match
}

// Behind has the specs of the present container run with a hub behind a proxy.
func (s *System) Behind() {
	BeforeAll(func(ctx SpecContext) {
		if s.Prepare != nil {
			s.Prepare()
		}
		s.Proxy = suite.ThroughProxy(ctx, s.settings()...)
	})
}

func (s *System) settings() []func(*system.Options) {
	return append([]func(*system.Options){suite.ManyWorkers}, s.Settings...)
}

// Start starts a hub behind the proxy.
func (s *System) Start() {
	GinkgoHelper()
	suite.StopHub = suite.StartHub(s.Proxy.Config(), s.settings()...)
}

// Restart ends the hub and starts another one behind the proxy.
func (s *System) Restart() {
	GinkgoHelper()
	suite.StopHub()
	s.Start()
}

// AwaitQuiet waits until the hub has sent no write of the system for suite.IdlePeriod.
func (s *System) AwaitQuiet(ctx context.Context) {
	GinkgoHelper()
	suite.AwaitUnchanged(ctx, func(Gomega) int { return s.sent(s.Writes) })
}

// sent returns how many requests the hub has sent.
func (s *System) sent(match faults.Match) int { return len(s.Proxy.Requests(match)) }

// breaks puts a rule into force until the returned function is called, or the spec or container ends.
func (s *System) breaks(rule faults.Rule) (mend func()) {
	mend = s.Proxy.Break(rule)
	DeferCleanup(mend)
	return mend
}

// Subject is what the hub keeps up to date while requests fail. It has a namespace of its own.
type Subject struct {
	// Settle, if not nil, waits until the hub has nothing to do for the subject, and begins to record what the hub does.
	Settle func(ctx context.Context)
	// Change changes what the hub has to do, while the fault lasts.
	Change func(ctx context.Context)
	// Holds demands what is true at every moment of the fault.
	Holds func(ctx context.Context, g Gomega)
	// Told, if not nil, demands what the hub says of a fault that it has noticed, which it soon has.
	Told func(ctx context.Context, g Gomega)
	// Arrives waits until the hub has carried out the change, and judges all that the record shows.
	Arrives func(ctx context.Context)
}

// settle waits for all subjects, which are made by then.
func settle(ctx context.Context, subjects []*Subject) {
	GinkgoHelper()
	for _, subject := range subjects {
		if subject.Settle != nil {
			subject.Settle(ctx)
		}
	}
}

// hold demands that subjects hold for suite.QuietPeriod.
func hold(ctx context.Context, subjects ...*Subject) {
	GinkgoHelper()
	Consistently(func(g Gomega) {
		for _, subject := range subjects {
			subject.Holds(ctx, g)
		}
	}).WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(pollingPeriod).Should(Succeed())
}

// tell waits until Told succeeds, and checks Holds on the way. It does nothing if Told is nil.
func (s *Subject) tell(ctx context.Context) {
	GinkgoHelper()
	if s.Told == nil {
		return
	}
	Eventually(func(g Gomega) {
		s.Holds(ctx, Default) // That it does not hold is no reason to wait.
		s.Told(ctx, g)
	}).WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(pollingPeriod).Should(Succeed())
}

// pollingPeriod is the time between two looks at what must hold. Recordings show what was between them.
const pollingPeriod = 100 * time.Millisecond

// tolerated returns how many requests may be sent since a time of which most may be sent in suite.QuietPeriod: on a loaded machine the same
// steps take longer.
func tolerated(most int, since time.Time) int {
	return int(float64(most) * max(1, time.Since(since).Seconds()/suite.QuietPeriod.Seconds()))
}
