// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	// mostRequests is how many requests a subject may cause while one kind of them fails, in suite.QuietPeriod: the first try, and what an
	// exponential backoff from milliseconds on makes of the time.
	mostRequests = 40
	// readRetries is how often client-go sends a read again whose connection breaks.
	readRetries = 10
)

// Request is a kind of request that changes or reads a subject.
type Request struct {
	Name  string
	Match faults.Match
}

// Broken is a subject of which one kind of request fails in one way.
type Broken struct {
	Request

	Fault faults.Fault
	// Subject is set by New, and all are the requests that count as those of the subject; New may narrow Match.
	Subject *Subject
	All     faults.Match

	mend     func()
	failures []string
}

func (b *Broken) String() string { return fmt.Sprintf("%s: %s", b.Name, b.Fault) }

// Requests are all kinds of requests of a system, each of which fails in all the ways that faults.OfWrites has.
type Requests struct {
	Kinds []Request
	// Most is how many requests a subject may cause while one kind of them fails, in suite.QuietPeriod; mostRequests if it is 0.
	Most int
	// Share, if not nil, makes what the subjects share.
	Share func(ctx context.Context)
	// New makes the subject, which need not be settled.
	New func(ctx context.Context, b *Broken)
	// Settled, if not nil, is called when all subjects have settled.
	Settled func()
	// Change, if not nil, changes what the subjects share, after each of them has changed.
	Change func(ctx context.Context)
	// Finally, if not nil, judges all subjects after they have arrived.
	Finally func(ctx context.Context)
}

// rows returns a row for each kind of request and each fault.
func (r *Requests) rows() []*Broken {
	var rows []*Broken
	for _, kind := range r.Kinds {
		for _, fault := range faults.OfWrites {
			rows = append(rows, &Broken{Request: kind, Fault: fault})
		}
	}
	return rows
}

// Requests specifies for each kind of request and each fault that the subject holds while they fail, that the API server is not asked too
// often, and that the change is carried out as soon as it can be. All subjects fail at the same time, each in its own way.
func (s *System) Requests(title, finally string, r *Requests) {
	rows := r.rows()
	Context(title, func() {
		BeforeAll(func(ctx SpecContext) {
			if r.Share != nil {
				r.Share(ctx)
			}
			subjects := make([]*Subject, 0, len(rows))
			for _, row := range rows {
				r.New(ctx, row)
				subjects = append(subjects, row.Subject)
			}
			settle(ctx, subjects)
			s.AwaitQuiet(ctx)

			if r.Settled != nil {
				r.Settled()
			}
			s.fail(ctx, r, rows, subjects)

			By("mending all")
			for _, row := range rows {
				row.mend()
			}
		})

		for _, row := range rows {
			It(row.String(), func(ctx SpecContext) {
				Expect(row.failures).To(BeEmpty(), "during the fault")
				row.Subject.Arrives(ctx)
			})
		}
		if r.Finally != nil {
			It(finally, func(ctx SpecContext) { r.Finally(ctx) })
		}
	})
}

// fail breaks the requests of all rows, changes the subjects, waits until all faults have struck, and notes what does not hold.
func (s *System) fail(ctx context.Context, r *Requests, rows []*Broken, subjects []*Subject) {
	GinkgoHelper()
	start := time.Now()
	matched, all := make([]int, len(rows)), make([]int, len(rows))
	for i, row := range rows {
		matched[i], all[i] = s.sent(row.Match), s.sent(row.All)
		row.mend = s.breaks(faults.Rule{Match: row.Match, Fault: row.Fault})
	}

	Expect(suite.Each(ctx, len(rows), func(ctx context.Context, i int) error {
		defer GinkgoRecover()
		rows[i].Subject.Change(ctx)
		return nil
	})).To(Succeed())
	if r.Change != nil {
		r.Change(ctx)
	}

	for i, row := range rows {
		Eventually(func() int { return s.sent(row.Match) }).WithContext(ctx).WithTimeout(suite.SettleTimeout).
			Should(BeNumerically(">", matched[i]), "%s: the fault has struck", row)
	}
	hold(ctx, subjects...)

	for i, row := range rows {
		row.failures = InterceptGomegaFailures(func() {
			most := tolerated(cmp.Or(r.Most, mostRequests), start)
			if slices.Contains(row.Match.Verbs, "get") && slices.Contains([]faults.Fault{faults.Reset, faults.Lost}, row.Fault) {
				most *= 1 + readRetries
			}
			Expect(s.sent(row.All)-all[i]).To(BeNumerically("<=", most), "requests of the subject")
			row.Subject.tell(ctx)
		})
	}
}
