// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// IdleConnections is how many idle connections the transport of a hub keeps. It tries a request again on each of them that breaks.
const IdleConnections = 25

// View is a resource that the hub cannot follow, and a subject whose change it does not see for that reason, or sees in part only.
type View struct {
	Name  string
	Reads faults.Match
	Fault faults.Fault
	// New makes the subject, which need not be settled.
	New func(ctx context.Context) *Subject
	// MostReads, if it is not 0, is how many requests of the watch cache the hub may send in suite.QuietPeriod while they fail; it sends one at
	// least. Reads of metadata do not count if MetadataIsFree.
	MostReads      int
	MetadataIsFree bool
}

func (v *View) rule() faults.Rule { return faults.Rule{Match: v.Reads, Fault: v.Fault} }

// reads returns how many requests of the view the hub has sent.
func (v *View) reads(s *System) int {
	requests := s.Proxy.Requests(v.Reads)
	return len(slices.DeleteFunc(requests, func(r faults.Request) bool { return v.MetadataIsFree && r.Metadata }))
}

// Views specifies for each of the views that the subject holds while the running hub cannot follow the resource, that the hub sends at most
// MostReads requests, and that it catches up afterwards. The fault lasts until Told holds, or for suite.QuietPeriod if Told is nil. All subjects
// are created and settle together.
func (s *System) Views(title string, views ...View) {
	s.each(title, views, func(ctx SpecContext, v *View, subject *Subject) {
		if slices.Contains(v.Reads.Resources, "placementdecisions") {
			suite.ListsDecisionsAgain()
		}
		start, before := time.Now(), v.reads(s)
		mend := s.breaks(v.rule())
		subject.Change(ctx)

		if subject.Told != nil {
			subject.tell(ctx)
		} else {
			hold(ctx, subject)
		}
		if v.MostReads > 0 {
			reads := v.reads(s) - before
			Expect(reads).To(And(BeNumerically(">=", 1), BeNumerically("<=", tolerated(v.MostReads, start))), "requests that failed")
		}

		mend()
		subject.Arrives(ctx)
	})
}

// Starts specifies for each of the views that a new hub writes nothing while it cannot read the resource, and carries out the change afterwards.
func (s *System) Starts(title string, views ...View) {
	s.each(title, views, func(ctx SpecContext, v *View, subject *Subject) {
		suite.StopHub()
		subject.Change(ctx)
		written, read := s.sent(s.Writes), s.sent(v.Reads)
		mend := s.breaks(v.rule())
		s.Start()
		Eventually(func() int { return s.sent(v.Reads) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(BeNumerically(">", read), "the fault has struck")
		Consistently(func() int { return s.sent(s.Writes) }).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Equal(written))
		mend()
		subject.Arrives(ctx)
	})
}

// each registers a container with a spec for each of the views.
func (s *System) each(title string, views []View, spec func(ctx SpecContext, v *View, subject *Subject)) {
	Context(title, func() {
		var subjects []*Subject
		BeforeAll(func(ctx SpecContext) {
			subjects = make([]*Subject, len(views))
			for i := range views {
				subjects[i] = views[i].New(ctx)
			}
			settle(ctx, subjects)
			s.AwaitQuiet(ctx)
		})

		for i := range views {
			It(views[i].Name, func(ctx SpecContext) { spec(ctx, &views[i], subjects[i]) })
		}
	})
}
