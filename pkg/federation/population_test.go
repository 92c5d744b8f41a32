// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/property"
)

// course is an object of Europe on a hub with a removal budget of 50 %, whose writes all succeed at once.
type course struct {
	*hub

	past Past
	now  time.Time
}

// newCourse returns a course whose object has works in eu1 and eu2.
func newCourse(t interface{ Fatal(...any) }) *course {
	c := &course{hub: newHub(), now: epoch}
	c.step(t)
	return c
}

// step evaluates the object, carries its plan out as the controller does, and returns what was decided.
func (c *course) step(t interface{ Fatal(...any) }) Outcome {
	e, plan := c.plan(t, configMap(map[string]string{SelectorAnnotation: europe}))
	c.past = e.Gained(c.past, plan.Gain, c.now)
	outcome := e.Outcome(plan, nil, halfLimits(), c.past, c.now)
	c.past = outcome.Withdrew(outcome.Allowed, c.now)
	if len(plan.Lose) == len(outcome.Allowed) {
		c.past.Target, c.past.Selected = e.OwnTarget(), e.Target.String()
	}
	c.works = slices.DeleteFunc(append(c.works, withWorks(plan.Gain...)...), func(work ExistingWork) bool {
		return slices.Contains(outcome.Allowed, work.Cluster)
	})
	return outcome
}

// move changes the label of a cluster, so that the object selects it or does not.
func (c *course) move(name string, selected bool) {
	c.cluster(name, map[string]string{"location": map[bool]string{true: "europe", false: "usa"}[selected]})
}

// docs/spec/differences.md B19: a cluster that has its work again is not lost, and one that has just joined is neither in the base nor lost.
func TestB19OnePopulation(t *testing.T) {
	type moves = map[string]bool
	for _, tc := range []struct {
		reason string
		// before are changes of labels one minute after the other, and last those that are judged.
		before []moves
		last   moves
		kept   string
		held   string
	}{
		{reason: "the same cluster leaves again", before: []moves{{"eu1": false}, {"eu1": true}}, last: moves{"eu1": false}},
		{reason: "the other one leaves, and the first one is back", before: []moves{{"eu1": false}, {"eu1": true}}, last: moves{"eu2": false}},
		{reason: "the other one leaves, and the first one is not", before: []moves{{"eu1": false}}, last: moves{"eu2": false},
			kept: "eu2", held: "2 of 2 clusters"},
		{reason: "both leave, and others have joined", before: []moves{{"eu3": true, "eu4": true}}, last: moves{"eu1": false, "eu2": false},
			kept: "eu1 eu2", held: "2 of 2 clusters"},
		{reason: "those that have joined leave", before: []moves{{"eu3": true, "eu4": true}}, last: moves{"eu3": false, "eu4": false}},
		{reason: "all leave", before: []moves{{"eu3": true, "eu4": true}}, last: moves{"eu1": false, "eu2": false, "eu3": false, "eu4": false},
			kept: "eu1 eu2", held: "2 of 2 clusters"},
		{reason: "one that has joined leaves, joins again and leaves with another", before: []moves{{"eu3": true}, {"eu3": false}, {"eu3": true}},
			last: moves{"eu3": false, "eu1": false}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			c := newCourse(t)
			change := func(to moves) Outcome {
				c.now = c.now.Add(time.Minute)
				for name, selected := range to {
					c.move(name, selected)
				}
				return c.step(t)
			}
			for _, to := range tc.before {
				if got := change(to); got.Held != "" {
					t.Fatalf("%v: %s", to, got.Held)
				}
			}

			got := change(tc.last)
			if strings.Join(got.Kept, " ") != tc.kept || !strings.HasPrefix(got.Held, tc.held) {
				t.Errorf("%q stay, want %q, %q: %s", got.Kept, tc.kept, tc.held, got.Held)
			}
		})
	}
}

// docs/spec/differences.md B19: clusters that join while works are held release nothing, however long that lasts.
func TestB19ClustersThatJoinReleaseNothing(t *testing.T) {
	c := newCourse(t)
	c.move("eu3", true)
	c.step(t)
	c.move("eu1", false)
	c.move("eu2", false)
	for range 3 {
		if got := c.step(t); strings.Join(got.Kept, " ") != "eu1 eu2" || !strings.HasPrefix(got.Held, "2 of 2 clusters") {
			t.Fatalf("%q stay: %s", got.Kept, got.Held)
		}
		c.now = c.now.Add(removalbudget.Window)
	}

	c.move("eu1", true)
	c.step(t)
	if got := c.step(t); got.Held != "" || len(c.past.Joined) > 0 {
		t.Errorf("one fits again: %s; %v have joined", got.Held, c.past.Joined)
	}
}

// docs/spec/differences.md B19: a cluster counts as joined if it gets the object for a cause outside of it, beside others.
func TestB19WhoHasJoined(t *testing.T) {
	target := newHub().evaluate(configMap(nil)).OwnTarget()
	before := epoch.Add(-time.Minute)
	for _, tc := range []struct {
		reason string
		works  []string
		past   Past
		want   map[string]time.Time
	}{
		{"beside another one", []string{"eu1"}, Past{Target: target}, map[string]time.Time{"eu2": epoch}},
		{"after others", []string{"eu1"}, Past{Target: target, Joined: map[string]time.Time{"us1": before}},
			map[string]time.Time{"eu2": epoch, "us1": before}},
		{"it returns", []string{"eu1"}, Past{Target: target, Withdrawn: map[string]time.Time{"eu2": before}}, nil},
		{"it returns after the window", []string{"eu1"},
			Past{Target: target, Withdrawn: map[string]time.Time{"eu2": epoch.Add(-removalbudget.Window)}}, map[string]time.Time{"eu2": epoch}},
		{"the first one", nil, Past{Target: target}, nil},
		{"by an edit of the object", []string{"eu1"}, Past{Target: "location=usa"}, nil},
		{"after a restart", []string{"eu1"}, Past{}, nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub()
			h.works = withWorks(tc.works...)
			joined := maps.Clone(tc.past.Joined)
			got := h.evaluate(configMap(nil)).Gained(tc.past, []string{"eu2"}, epoch)
			if !maps.Equal(got.Joined, tc.want) || !maps.Equal(tc.past.Joined, joined) {
				t.Errorf("got %v, want %v; before %v, which was %v", got.Joined, tc.want, tc.past.Joined, joined)
			}
		})
	}
}

// docs/spec/differences.md B19, G5: a cluster that replaces one whose removal does not count is in the base as that was.
func TestB19ClustersThatReplaceAreInTheBase(t *testing.T) {
	c := newCourse(t)
	c.drain("eu1", "europe")
	c.move("eu3", true)
	c.step(t)
	c.move("eu2", false)
	c.move("eu3", false)
	if got := c.step(t); !strings.HasPrefix(got.Held, "2 of 2 clusters") {
		t.Errorf("%q leave: %s", got.Allowed, got.Held)
	}
}

// docs/spec/differences.md B19: whatever becomes of labels, sets and bindings, the losses of a message are at most its base, and the base has no more
// clusters than had the object within the window.
func TestB19LossesAreOfTheBase(t *testing.T) {
	names := []string{"eu1", "eu2", "eu3", "eu4", "eu5"}
	property.Check(t, func(t *rapid.T) {
		c := newCourse(t)
		had := map[string]time.Time{} // when each cluster had the object last
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			cluster := rapid.SampledFrom(names).Draw(t, "cluster")
			switch rapid.IntRange(0, 4).Draw(t, "event") {
			case 0:
				c.move(cluster, false)
			case 1:
				c.move(cluster, true)
			case 2:
				c.drain(cluster, "europe")
			case 3:
				c.bind(rapid.Bool().Draw(t, "bound"))
			default:
				c.now = c.now.Add(time.Duration(rapid.IntRange(1, 12).Draw(t, "minutes")) * time.Minute)
			}

			for _, work := range c.works {
				had[work.Cluster] = c.now
			}
			maps.DeleteFunc(had, func(_ string, last time.Time) bool { return !c.now.Before(last.Add(removalbudget.Window)) })
			var lost, base int
			for part := range strings.SplitSeq(c.step(t).Held, "; ") {
				if n, err := fmt.Sscanf(part, "%d of %d clusters", &lost, &base); err == nil && n == 2 && (lost > base || base > len(had)) {
					t.Fatalf("%d clusters had the object: %s", len(had), part)
				}
			}
		}
	})
}

// docs/spec/differences.md B19: clusters that joined long ago while works are held are protected like those.
func TestB19WorksOfWhoJoinedLongAgoAreHeld(t *testing.T) {
	c := newCourse(t)
	c.move("eu1", false)
	c.move("eu2", false)
	c.step(t)
	c.move("eu3", true)
	c.move("eu4", true)
	c.step(t)
	c.now = c.now.Add(2 * removalbudget.Window)
	c.step(t)
	c.move("eu3", false)
	c.move("eu4", false)
	for range 3 {
		if got := c.step(t); strings.Join(got.Kept, " ") != "eu1 eu2 eu3 eu4" || !strings.HasPrefix(got.Held, "4 of 4 clusters") {
			t.Fatalf("%q stay: %s", got.Kept, got.Held)
		}
	}
}

// docs/spec/differences.md B19: an evaluation that decides nothing, as while a set is broken, does not forget that the budget is exceeded.
func TestB19AnUndecidedEvaluationReleasesNothing(t *testing.T) {
	for _, tc := range []struct {
		reason string
		edit   func(*Evaluation)
	}{
		{"a set is broken", func(e *Evaluation) { e.State = Held }},
		{"a user is not known yet", func(e *Evaluation) { e.pendingUser = "Deployment.apps/team-a/web" }},
		{"the selector matches no cluster", func(e *Evaluation) { e.matchesNone = true }},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			c := newCourse(t)
			for _, name := range []string{"eu3", "eu4", "eu5", "eu6"} {
				c.move(name, true)
				c.step(t)
			}
			c.move("eu1", false)
			c.move("eu2", false)
			c.step(t)
			c.now = c.now.Add(2 * removalbudget.Window)
			c.step(t)
			e, plan := c.plan(t, configMap(map[string]string{SelectorAnnotation: europe}))
			tc.edit(e)
			plan.Lose = nil
			outcome := e.Outcome(plan, nil, halfLimits(), c.past, c.now)
			c.past = outcome.Past
			if got := c.step(t); strings.Join(got.Kept, " ") != "eu1 eu2" || !strings.HasPrefix(got.Held, "2 of 2 clusters") {
				t.Errorf("%q stay: %s", got.Kept, got.Held)
			}
		})
	}
}
