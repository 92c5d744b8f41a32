package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/history"
)

const (
	// unelected has a process believe that it leads.
	unelected = "--disable-leader-election=true"
	// rivalry is how often two rivals that see the same may change pages for one change of the fleet. One alone needs about ten, and up to
	// thirty when many clusters move between groups.
	rivalry = 200
	// blows are how many writes of the rival are enough of a fight, and more than it may send when there is nothing to do.
	blows = 20
	// calm is how long nothing may change before a step counts as done, and stillness how long nobody may write in the end.
	calm, stillness = 300 * time.Millisecond, 3 * time.Second
)

// blindfolds are the kinds of which one rival learns nothing for a while, so that it goes on with an old view of them. Where it sees the
// pages but not the clusters, it undoes what the other one does, over and over.
var blindfolds = [][]string{
	{"managedclusters"}, {"placementdecisions"}, {"managedclusters", "placementdecisions"}, {"managedclusters", "placementdecisions", "placements"},
}

// TestTwoThatBothLead has two processes work on the same placement of 350 clusters as if there were no lease, one of them with an old view
// of the world for much of the time. Every write is made on the very version before it, so no update is lost; no cluster that stays
// selected is missing from the decisions for a moment; and they do not fight when they see the same.
func TestTwoThatBothLead(t *testing.T) {
	random := seeded(t)
	h := startRecordedHub(t)
	f := startFleet(t, h, random)
	s := &rivals{scene: &scene{fleet: f, hub: h}}

	recorded, err := history.Record(t.Context(), h.environment.AdminConfig(), fleetNamespace)
	must(t, err)
	s.recorded = recorded
	s.replica = h.startReplica(t, unelected, unjudged)
	s.proxy = throughProxy(t, h)
	s.rival = h.startReplica(t, unelected, unjudged)
	must(t, h.client.Create(t.Context(), f.placement()))
	s.judge(t, "nothing yet")

	steps := []func(*fleet) step{
		(*fleet).insert, (*fleet).remove, (*fleet).relabel, (*fleet).swap, (*fleet).regroup, (*fleet).relabel, (*fleet).swap, (*fleet).regroup,
	}
	random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	for _, next := range steps {
		step := next(f)
		before := s.frames
		must(t, step.apply(t.Context()))
		s.judge(t, step.what)
		if events := s.frames - before; events > rivalry {
			t.Errorf("%s: the pages changed %d times, want at most %d", step.what, events, rivalry)
		}
	}
	for _, kinds := range blindfolds {
		s.mislead(t, kinds)
	}
	audit := s.wantQuiet(t)
	for _, finding := range audit.blind() {
		t.Error(finding)
	}
	if audit.refused == 0 || len(s.proxy.Requests(decisive)) == 0 {
		t.Errorf("of %d writes %d were refused, and %d were the rival's: they were not in each other's way",
			audit.writes, audit.refused, len(s.proxy.Requests(decisive)))
	}
}

// rivals are a scene with two that play the same part. The rival's requests go through the proxy.
type rivals struct {
	*scene

	rival *replica
}

// mislead moves clusters between groups while the rival does not see these kinds, and then lets it see again. No cluster comes or goes
// meanwhile: both agree on what is selected, and not on where it belongs.
func (s *rivals) mislead(t *testing.T, kinds []string) {
	t.Helper()
	told := []string{fmt.Sprintf("the rival does not see %v", kinds)}
	mend := s.proxy.Break(faults.Rule{Match: faults.Match{Verbs: []string{"list", "watch"}, Resources: kinds}, Fault: faults.Hang})
	defer mend()
	for _, next := range []func(*fleet) step{(*fleet).swap, (*fleet).regroup, (*fleet).relabel} {
		step := next(s.fleet)
		must(t, step.apply(t.Context()))
		s.atWork(t)
		told = append(told, step.what)
	}
	before := map[string]int{}
	for _, kind := range kinds {
		before[kind] = len(s.proxy.Requests(watches(kind)))
	}
	mend()
	for _, kind := range kinds {
		awaitRequests(t, s.proxy, watches(kind), before[kind]+1)
	}
	s.judge(t, strings.Join(told, "; "))
}

func watches(kind string) faults.Match {
	return faults.Match{Verbs: []string{"watch"}, Resources: []string{kind}}
}

// atWork waits until somebody has written since the last time, and then for either the expected decisions or a fight.
func (s *rivals) atWork(t *testing.T) {
	t.Helper()
	before := len(s.proxy.Requests(decisive))
	eventually(t, "waiting for the expected decisions, or a fight", func() error {
		if len(s.proxy.Requests(decisive))-before > blows {
			return nil
		}
		if findings := s.unsettled(t); len(findings) > 0 {
			return errors.New(strings.Join(findings, "\n"))
		}
		return nil
	})
}

// judge waits until the decisions are as expected and nobody changes them any more, and looks at what happened on the way.
func (s *rivals) judge(t *testing.T, what string) {
	t.Helper()
	last, since := "", time.Now()
	eventually(t, "waiting for the expected decisions", func() error {
		if findings := s.unsettled(t); len(findings) > 0 {
			return errors.New(strings.Join(findings, "\n"))
		}
		if now := s.versions(t); now != last {
			last, since = now, time.Now()
		}
		if still := time.Since(since); still < calm {
			return fmt.Errorf("somebody wrote %v ago", still)
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, s.recorded.Until(ctx, s.pages(t)))

	before, after, frames := s.settled, s.recorded.Current(), s.recorded.Events()[s.frames:]
	for _, finding := range history.Missing(before, frames, after) {
		t.Errorf("%s: %s", what, finding)
	}
	t.Logf("%s: %d events", what, len(frames))
	s.settled, s.frames = after, s.frames+len(frames)
}

// versions change with every write that is carried out.
func (s *rivals) versions(t *testing.T) string {
	t.Helper()
	placement := &clusterv1beta1.Placement{}
	must(t, s.hub.client.Get(t.Context(), client.ObjectKeyFromObject(s.placement()), placement))
	versions := []string{placement.ResourceVersion}
	for _, page := range s.pages(t) {
		versions = append(versions, page.ResourceVersion)
	}
	return strings.Join(versions, " ")
}

// wantQuiet waits until nobody has sent a write for a while, not even one that is refused. What was begun on an old view may be tried
// again a few times until then, and no more.
func (s *rivals) wantQuiet(t *testing.T) auditHistory {
	t.Helper()
	before := s.hub.readHistory(t)
	last, since := before, time.Now()
	eventually(t, "waiting for the rivals to be quiet", func() error {
		if now := s.hub.readHistory(t); now.writes != last.writes {
			last, since = now, time.Now()
		}
		if still := time.Since(since); still < stillness {
			return fmt.Errorf("somebody wrote %v ago", still)
		}
		return nil
	})
	if late := last.writes - before.writes; late > blows {
		t.Errorf("%d writes while nothing happened", late)
	}
	return last
}
