// SPDX-License-Identifier: Apache-2.0

package leaders

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/history"
	"github.com/placement-hub/placement-hub/test/property"
)

const (
	// unelected lets a process lead without the Lease.
	unelected = "--disable-leader-election=true"
	// maxChangesByTwoLeaders is how often two leaders with the same caches may change pages for one change of the fleet. One leader needs
	// about ten changes, and up to thirty when many clusters move between groups.
	maxChangesByTwoLeaders = 200
	// maxWrites is the number of writes of the second leader after which a step ends. A leader without anything to do sends fewer.
	maxWrites = 20
	// debounce is how long nothing may change before a step counts as done, and stillness how long nobody may write in the end.
	debounce, stillness = 300 * time.Millisecond, 3 * time.Second
)

// staleViews are the kinds whose watches are blocked for the second leader for a while, so that its caches are stale. Where it sees the
// pages but not the clusters, it undoes what the other one does, over and over.
var staleViews = [][]string{
	{"managedclusters"}, {"placementdecisions"}, {"managedclusters", "placementdecisions"}, {"managedclusters", "placementdecisions", "placements"},
}

// TestTwoThatBothLead has two processes work on the same placement of 350 clusters as if there were no lease, one of them with an old view
// of the world for much of the time. Every write is made on the very version before it, so no update is lost; no cluster that stays
// selected is missing from the decisions for a moment; and they do not fight when they see the same.
func TestTwoThatBothLead(t *testing.T) {
	random := property.Random(t)
	h := startRecordedHub(t)
	f := startFleet(t, h, random)
	s := &twoLeaders{scene: &scene{fleet: f, hub: h}}

	recorded, err := history.Record(t.Context(), h.Environment.AdminConfig(), fleetNamespace)
	suite.Must(t, err)
	s.recorded = recorded
	s.replica = h.StartReplica(t, unelected, suite.Unevaluated)
	s.proxy = suite.ThroughProxy(t, h)
	s.second = h.StartReplica(t, unelected, suite.Unevaluated)
	suite.Must(t, h.Client.Create(t.Context(), f.placement()))
	s.judge(t, "nothing yet")

	steps := []func(*fleet) step{
		(*fleet).insert, (*fleet).remove, (*fleet).relabel, (*fleet).swap, (*fleet).regroup, (*fleet).relabel, (*fleet).swap, (*fleet).regroup,
	}
	random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	for _, next := range steps {
		step := next(f)
		before := s.frames
		suite.Must(t, step.apply(t.Context()))
		s.judge(t, step.what)
		if events := s.frames - before; events > maxChangesByTwoLeaders {
			t.Errorf("%s: the pages changed %d times, want at most %d", step.what, events, maxChangesByTwoLeaders)
		}
	}
	for _, kinds := range staleViews {
		s.mislead(t, kinds)
	}
	audit := s.wantQuiet(t)
	for _, finding := range audit.blind() {
		t.Error(finding)
	}
	if audit.refused == 0 || len(s.proxy.Requests(decisive)) == 0 {
		t.Errorf("of %d writes %d were refused, and %d were the second leader's: the leaders did not conflict",
			audit.writes, audit.refused, len(s.proxy.Requests(decisive)))
	}
}

// twoLeaders are two processes that lead at the same time. The requests of the second one go through the proxy.
type twoLeaders struct {
	*scene

	second *suite.Replica
}

// mislead moves clusters between groups while the watches of these kinds are blocked for the second leader. No cluster comes or goes
// meanwhile: both agree on what is selected, and not on where it belongs.
func (l *twoLeaders) mislead(t *testing.T, kinds []string) {
	t.Helper()
	told := []string{fmt.Sprintf("the second leader does not see %v", kinds)}
	mend := l.proxy.Break(faults.Rule{Match: faults.Match{Verbs: []string{"list", "watch"}, Resources: kinds}, Fault: faults.Hang})
	defer mend()
	for _, next := range []func(*fleet) step{(*fleet).swap, (*fleet).regroup, (*fleet).relabel} {
		step := next(l.fleet)
		suite.Must(t, step.apply(t.Context()))
		l.atWork(t)
		told = append(told, step.what)
	}
	before := map[string]int{}
	for _, kind := range kinds {
		before[kind] = len(l.proxy.Requests(watches(kind)))
	}
	mend()
	for _, kind := range kinds {
		suite.AwaitRequests(t, l.proxy, watches(kind), before[kind]+1)
	}
	l.judge(t, strings.Join(told, "; "))
}

func watches(kind string) faults.Match {
	return faults.Match{Verbs: []string{"watch"}, Resources: []string{kind}}
}

// atWork waits until somebody has written since the last time, and then for either the expected decisions or a fight.
func (l *twoLeaders) atWork(t *testing.T) {
	t.Helper()
	before := len(l.proxy.Requests(decisive))
	suite.Eventually(t, "waiting for the expected decisions, or a fight", func() error {
		if len(l.proxy.Requests(decisive))-before > maxWrites {
			return nil
		}
		if findings := l.unsettled(t); len(findings) > 0 {
			return errors.New(strings.Join(findings, "\n"))
		}
		return nil
	})
}

// judge waits until the decisions are as expected and nobody changes them any more, and looks at what happened on the way.
func (l *twoLeaders) judge(t *testing.T, what string) {
	t.Helper()
	last, since := "", time.Now()
	suite.Eventually(t, "waiting for the expected decisions", func() error {
		if findings := l.unsettled(t); len(findings) > 0 {
			return errors.New(strings.Join(findings, "\n"))
		}
		if now := l.versions(t); now != last {
			last, since = now, time.Now()
		}
		if still := time.Since(since); still < debounce {
			return fmt.Errorf("somebody wrote %v ago", still)
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), suite.Timeout)
	defer cancel()
	suite.Must(t, l.recorded.Until(ctx, l.pages(t)))

	before, after, frames := l.settled, l.recorded.Current(), l.recorded.Events()[l.frames:]
	for _, finding := range history.Missing(before, frames, after) {
		t.Errorf("%s: %s", what, finding)
	}
	t.Logf("%s: %d events", what, len(frames))
	l.settled, l.frames = after, l.frames+len(frames)
}

// versions change with every write that is carried out.
func (l *twoLeaders) versions(t *testing.T) string {
	t.Helper()
	placement := &clusterv1beta1.Placement{}
	suite.Must(t, l.hub.Client.Get(t.Context(), client.ObjectKeyFromObject(l.placement()), placement))
	versions := []string{placement.ResourceVersion}
	for _, page := range l.pages(t) {
		versions = append(versions, page.ResourceVersion)
	}
	return strings.Join(versions, " ")
}

// wantQuiet waits until nobody has sent a write for a while, not even one that is refused. What was begun on an old view may be tried
// again a few times until then, and no more.
func (l *twoLeaders) wantQuiet(t *testing.T) auditHistory {
	t.Helper()
	before := readHistory(t, l.hub)
	last, since := before, time.Now()
	suite.Eventually(t, "waiting until the two leaders write nothing", func() error {
		if now := readHistory(t, l.hub); now.writes != last.writes {
			last, since = now, time.Now()
		}
		if still := time.Since(since); still < stillness {
			return fmt.Errorf("somebody wrote %v ago", still)
		}
		return nil
	})
	if late := last.writes - before.writes; late > maxWrites {
		t.Errorf("%d writes while nothing happened", late)
	}
	return last
}
