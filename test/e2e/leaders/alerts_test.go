// SPDX-License-Identifier: Apache-2.0

package leaders

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/env/scrapes"
)

// evaluationReady says whether a process could evaluate Placements.
const evaluationReady = `placement_hub_evaluation_ready{instance="one"}`

// scrape scrapes the replicas that answer, by their names.
func scrape(t *testing.T, h *suite.Hub, replicas map[string]*suite.Replica) scrapes.Scrape {
	t.Helper()
	token, found := h.MetricsReader(t), map[string]scrapes.Scrape{}
	for name, replica := range replicas {
		if replica.Ended() {
			continue
		}
		status, body := replica.Get(t, "/metrics", token)
		if status != http.StatusOK {
			t.Fatalf("/metrics of %s answers %d: %s", name, status, body)
		}
		parsed, err := scrapes.Parse(strings.NewReader(body))
		suite.Must(t, err)
		found[name] = parsed
	}
	return scrapes.Merge(found)
}

// TestAlertsOfAHubThatIsNotThere has no replica run, and then one whose caches are not in sync, until a ready replica ends both.
func TestAlertsOfAHubThatIsNotThere(t *testing.T) {
	h := suite.StartHub(t)
	proxy := suite.ThroughProxy(t, h)
	arguments := append(slices.Clone(suite.QuickElection), suite.Unevaluated)
	replica := h.StartReplica(t, arguments...)
	one := map[string]*suite.Replica{"one": replica}
	healthy := scrape(t, h, one)
	replica.Signal(t, syscall.SIGTERM)
	replica.WantExit(t, 0)
	absent := scrape(t, h, one)
	if len(absent.Samples) > 0 {
		t.Fatalf("a process that has ended answers %v", absent.Samples)
	}

	mend := proxy.Break(faults.Rule{
		Match: faults.Match{Verbs: []string{"list", "watch"}, Resources: []string{"managedclusters"}}, Fault: faults.Unavailable,
	})
	defer mend()
	replica = h.StartServing(t, append([]string{"controller", "--kubeconfig", h.Kubeconfig, "--controllers=*", "--listen=127.0.0.1:0",
		"--webhook-listen=127.0.0.1:0"}, arguments...)...)
	one["one"] = replica
	notReady := scrape(t, h, one)
	if ready, found := notReady.Samples[evaluationReady]; !found || ready != 0 {
		t.Fatalf("a replica without ManagedClusters is ready, or does not say: %v", notReady.Samples)
	}
	mend()
	var mended scrapes.Scrape
	suite.Eventually(t, "waiting for the replica to be ready", func() error {
		if mended = scrape(t, h, one); mended.Value(evaluationReady) != 1 {
			return fmt.Errorf("%s is 0", evaluationReady)
		}
		return nil
	})

	course := scrapes.Course{Healthy: healthy, Broken: absent, Mended: mended}
	suite.Must(t, course.Evaluate(t.Context(), t.TempDir(), map[string]scrapes.Expected{
		"PlacementHubIsNotScraped": {Firing: []scrapes.Firing{{}}},
		"PlacementHubIsNotReady":   {},
	}))
	course.Broken = notReady
	suite.Must(t, course.Evaluate(t.Context(), t.TempDir(), map[string]scrapes.Expected{
		"PlacementHubIsNotScraped": {},
		"PlacementHubIsNotReady":   {Firing: []scrapes.Firing{{}}},
	}))
	replica.Signal(t, syscall.SIGTERM)
	replica.WantExit(t, 0)
}

// wantAlerts has the rules evaluated over what the leader and the standby have answered while the leader lived, after the standby was alone, and now
// that it leads. Systems that were off are on by now.
func (o *outlived) wantAlerts(t *testing.T, abandoned, later scrapes.Scrape) {
	t.Helper()
	course := scrapes.Course{Healthy: o.led, Broken: abandoned, Later: later, Mended: scrape(t, o.hub, o.replicas)}
	suite.Must(t, course.Evaluate(t.Context(), t.TempDir(), map[string]scrapes.Expected{
		"PlacementHubHasNoLeader":    {Firing: []scrapes.Firing{{}}},
		"PlacementLeaseIsNotRenewed": {Firing: []scrapes.Firing{{}}},
		"PlacementHubIsNotScraped":   {},
		"PlacementHubIsNotReady":     {},
	}))
	var off []scrapes.Firing
	for system, reason := range o.states {
		if reason != "" {
			off = append(off, scrapes.Firing{Labels: map[string]string{"system": system}, Words: []string{"$labels.system", system}})
		}
	}
	course.Healthy = scrapes.Scrape{} // Systems are off from the start.
	suite.Must(t, course.Evaluate(t.Context(), t.TempDir(), map[string]scrapes.Expected{"PlacementHubSystemIsOff": {Firing: off}}))
}
