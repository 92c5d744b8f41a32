package federationfaults

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// maxRequests is how many requests of a kind an object may cause while one of them fails, in QuietPeriod: the first try, and what an
// exponential backoff from milliseconds on makes of the time. client-go sends a read again up to ten times when the connection breaks.
const (
	maxRequests = 40
	readRetries = 10
)

// tolerated returns how many requests may be sent since a time of which most may be sent in QuietPeriod: on a loaded machine the same steps
// take longer.
func tolerated(most int, since time.Time) int {
	return int(float64(most) * max(1, time.Since(since).Seconds()/suite.QuietPeriod.Seconds()))
}

// allFaults are the ways in which a request fails.
var allFaults = []faults.Fault{
	faults.Conflict, faults.Invalid, faults.TooManyRequests, faults.InternalError, faults.Unavailable, faults.Timeout, faults.Hang, faults.Reset,
	faults.Lost,
}

// request is a kind of request by which an object is delivered.
type request struct {
	name  string
	verb  string
	of    string
	short string // the cluster in whose namespace it fails; empty for the namespace of the object
}

// requests are those of a move: c001 stays, c002 loses the object, c003 gains it, and its content changes. A new object needs a finalizer.
var requests = []request{
	{"creating the work of a cluster", "patch", worksResource, "c003"},
	{"changing the work of a cluster", "patch", worksResource, "c001"},
	{"deleting the work of a cluster", "delete", worksResource, "c002"},
	{"adding the finalizer", "patch", "configmaps", ""},
	{"reading the object", "get", "configmaps", ""},
}

// brokenRequest is a world of which one kind of request fails in one way.
type brokenRequest struct {
	*world
	request

	fault faults.Fault
	match faults.Match
	mend  func()
	// sent are the requests that matched during the fault, and tolerated is how many may be.
	sent, tolerated int
}

func (b *brokenRequest) String() string { return fmt.Sprintf("%s: %s", b.name, b.fault) }

// change moves the object.
func (b *brokenRequest) change(ctx context.Context) {
	GinkgoHelper()
	b.edit(ctx, func(cm *corev1.ConfigMap) { cm.Data["key"] = "other" })
	b.relabel(ctx, wave, "aboard", "c003")
	b.relabel(ctx, wave, "ashore", "c002")
	b.configMap(ctx, "new", selecting(wave, "aboard"))
}

// keepsLost reports whether the cluster that is to lose the object keeps it during the fault: a write that comes before did not succeed.
func (b *brokenRequest) keepsLost() bool {
	return b.name != "adding the finalizer" && b.fault != faults.Lost
}

// brokenRequests are all rows, each in a world of its own, whose requests fail at the same time.
func brokenRequests(ctx context.Context, proxy *faults.Proxy) map[string]*brokenRequest {
	GinkgoHelper()

	rows := map[string]*brokenRequest{}

	for _, request := range requests {
		for _, fault := range allFaults {
			row := &brokenRequest{world: newWorld(ctx), request: request, fault: fault}
			row.members(ctx, "set", 1, 3, func(i int) string { return []string{"", "aboard", "aboard", "ashore"}[i] })
			row.configMap(ctx, "cm", selecting(wave, "aboard"))

			row.match = faults.Match{Verbs: []string{request.verb}, Resources: []string{request.of}, Namespace: row.Namespace}
			if request.short != "" {
				row.match.Namespace = row.Name(request.short)
			}

			rows[row.String()] = row
		}
	}

	for _, row := range rows {
		row.expectDelivered(ctx, "cm", "c001", "c002")
	}

	for _, row := range rows {
		row.mend = proxy.Break(faults.Rule{Match: row.match, Fault: row.fault})
		DeferCleanup(row.mend)
	}

	return rows
}

func brokenRequestEntries() []TableEntry {
	var entries []TableEntry

	for _, request := range requests {
		for _, fault := range allFaults {
			name := (&brokenRequest{request: request, fault: fault}).String()
			entries = append(entries, Entry(name, name))
		}
	}

	return entries
}

var _ = Describe("Requests that fail", Ordered, ContinueOnFailure, func() {
	var (
		rows map[string]*brokenRequest
		all  *world // records the works of all rows
	)

	BeforeAll(func(ctx SpecContext) {
		proxy := throughProxy(ctx)
		rows = brokenRequests(ctx, proxy)
		awaitQuiet(ctx, proxy)

		ordered := slices.Collect(maps.Values(rows))
		all = ordered[0].world
		all.record(ctx)

		start, before := time.Now(), map[string]int{}
		for name, row := range rows {
			before[name] = len(proxy.Requests(row.match))
		}

		Expect(suite.Each(ctx, len(rows), func(ctx context.Context, i int) error {
			defer GinkgoRecover()

			ordered[i].change(ctx)

			return nil
		})).To(Succeed())
		Consistently(func(g Gomega) {
			for _, row := range rows {
				if row.keepsLost() {
					g.Expect(row.clusters(ctx, g)).To(ContainElement("c002"), row.String())
				}
			}
		}).WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).Should(Succeed())

		for name, row := range rows {
			row.sent = len(proxy.Requests(row.match)) - before[name]
			row.tolerated = tolerated(maxRequests, start)
		}
	})

	DescribeTable("law 6: withdraw nothing, and are not tried too often", func(ctx SpecContext, name string) {
		row := rows[name]
		most := row.tolerated
		if row.verb == "get" && slices.Contains([]faults.Fault{faults.Reset, faults.Lost}, row.fault) {
			most *= 1 + readRetries
		}

		Expect(row.sent).To(And(BeNumerically(">=", 1), BeNumerically("<=", most)))
		Expect(row.clusters(ctx, Default)).To(ContainElement("c001"))
	}, brokenRequestEntries())

	It("are mended", func() {
		for _, row := range rows {
			row.mend()
		}
	})

	DescribeTable("are carried out as soon as they can be", func(ctx SpecContext, name string) {
		row := rows[name]
		row.expectDelivered(ctx, "cm", "c001", "c003")
		row.expectDelivered(ctx, "new", "c001", "c003")
	}, brokenRequestEntries())

	It("law 5: no cluster that stays has lost a work, and each object has gained before it lost", func(ctx SpecContext) {
		all.expectOrder(ctx)
	})
})
