// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/property"
)

// Whoever says what becomes of a placement says what the controller makes of it, in random worlds with random changes of the fleet, the spec and
// the annotations: the debug endpoint on the leader, on a standby and of its own, asked for what is there and for what is sent, explain, simulate
// and diff, whether they were told the limit of the hub or not.
func TestEverybodyAgreesOnHeldRemovals(tb *testing.T) {
	property.CheckTimes(tb, 40, func(t *rapid.T) {
		a := newAgreement(tb, t)
		for range rapid.IntRange(0, 5).Draw(t, "events before") {
			switch rapid.SampledFrom([]string{"fleet", "fleet", "edit", "restart"}).Draw(t, "before") {
			case "fleet":
				a.disturb()
			case "edit":
				a.apply(a.propose())
			case "restart":
				a.restart()
			}
			a.settle()
		}

		limits := map[string]removalbudget.Limit{"told": a.limit, "untold": {}, "told the percentage": {Percent: a.limit.Percent}}
		answers := map[string]outcome{}
		before := a.state(removalbudget.Limit{})

		forgotten := false
		for range rapid.IntRange(0, 2).Draw(t, "events") {
			a.disturb()
		}

		if rapid.Bool().Draw(t, "changed") {
			manifest := a.manifest(a.propose())
			for name, view := range a.views {
				answers["POST to the "+name] = a.evaluated(view, manifest)
			}
			for name, limit := range limits {
				answers["diff, "+name] = a.diffed(a.state(limit), manifest)
			}
			live := api.V1beta1.Read(a.placement())
			a.observe()
			a.applyManifest(manifest)
			a.observe()

			// Until the hub has looked at it, who does not know the hub cannot know that more than nothing is held.
			forgotten = removalbudget.Limit{}.Forgotten(live.RemovalSubject(), api.V1beta1.Read(a.placement()).RemovalSubject())
		} else {
			for name, limit := range limits {
				hub, after := *before, a.state(limit)
				hub.Limit = limit
				after.Placements, after.Decisions = hub.Placements, hub.Decisions
				answers["simulate, "+name] = a.simulated(&hub, after)
			}
		}

		asked := a.placement()
		for name, view := range a.views {
			if limit := view.Options().Limit; limit.Percent != nil || !forgotten {
				answers["GET from the "+name] = a.evaluated(view, nil)
			}
		}

		// Who does not know the former spec of a changed Placement cannot know who leaves by the change, until the hub has written what it decides.
		subject := api.V1beta1.Read(asked).RemovalSubject()
		changed := removalbudget.AppliedGeneration(subject) != subject.Generation
		for name, limit := range limits {
			if (limit.Percent != nil || !forgotten) && !changed {
				answers["explain, "+name] = a.explained(a.state(limit))
			}
		}
		a.settle()
		want := a.written()
		said := !*a.limit.CountReplaced || removal(asked.Status.Conditions) != "" || !strings.Contains(want.Removal, "or be replaced")

		for who, says := range answers {
			if says.Unknown {
				continue
			}
			if !hasConditions(who) {
				says.Removal, says.Staying = want.Removal, want.Staying
			}

			// Whether replaced clusters count, which the hub alone says, is in the condition from its first write on.
			if untold := strings.Contains(who, "untold") || strings.Contains(who, "percent"); untold && !said {
				says.Removal = strings.Replace(says.Removal, " may leave within", " may leave or be replaced within", 1)
			}
			if diff := cmp.Diff(want, says); diff != "" {
				t.Errorf("%s (-written +said):\n%s", who, diff)
			}
		}
	})
}

// hasConditions reports whether somebody tells conditions; comparisons do not.
func hasConditions(who string) bool {
	return !strings.HasPrefix(who, "diff") && !strings.HasPrefix(who, "simulate")
}
