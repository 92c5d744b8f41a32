// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// damages are states of a page, some of which only others can write.
var damages = map[string]func(*rapid.T, *store, *api.Page){
	"a cluster of another page": func(t *rapid.T, s *store, p *api.Page) {
		other := s.pages[rapid.SampledFrom(slices.Sorted(maps.Keys(s.pages))).Draw(t, "other")]
		p.Decisions = append(p.Decisions, other.Decisions[:min(1, len(other.Decisions))]...)
	},
	"a stranger, twice": func(_ *rapid.T, _ *store, p *api.Page) {
		p.Decisions = append(p.Decisions, api.Decision{Cluster: "zz"}, api.Decision{Cluster: "zz"})
	},
	"another order": func(_ *rapid.T, _ *store, p *api.Page) { slices.Reverse(p.Decisions) },
	"a reason": func(_ *rapid.T, _ *store, p *api.Page) {
		for i := range p.Decisions {
			p.Decisions[i].Reason = "because"
		}
	},
	"other scores, and another availability": func(_ *rapid.T, _ *store, p *api.Page) {
		for i := range p.Decisions[len(p.Decisions)/2:] {
			p.Decisions[i].Score++
			p.Decisions[i].Available = !p.Decisions[i].Available
		}
	},
	"one less":  func(_ *rapid.T, _ *store, p *api.Page) { p.Decisions = p.Decisions[min(1, len(p.Decisions)):] },
	"no list":   func(_ *rapid.T, _ *store, p *api.Page) { p.Decisions = nil },
	"no labels": func(_ *rapid.T, _ *store, p *api.Page) { p.Labels = map[string]string{"team": "a"} },
	"another controller": func(_ *rapid.T, _ *store, p *api.Page) {
		p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Other", UID: "o", Controller: ptr.To(true)})
	},
	"an owner in front": func(_ *rapid.T, _ *store, p *api.Page) {
		p.OwnerReferences = append([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Other", UID: "o"}}, p.OwnerReferences...)
	},
	"another name": func(t *rapid.T, s *store, p *api.Page) {
		delete(s.pages, p.Name)
		p.Name = rapid.SampledFrom([]string{"p-decision-9", "p-decision-01", "other"}).Draw(t, "name")
	},
	"a finalizer of another": func(_ *rapid.T, _ *store, p *api.Page) { p.Finalizers = []string{"example.com/wait"} },
	"its end":                func(_ *rapid.T, _ *store, p *api.Page) { p.DeletionTimestamp = &now },
	"another index in the status": func(t *rapid.T, s *store, _ *api.Page) {
		status := s.placement.Status
		if status.Groups = slices.Clone(status.Groups); len(status.Groups) > 0 {
			status.Groups[0].Index = rapid.IntRange(-1, 2).Draw(t, "index")
		}
		s.say(status)
	},
	"no groups in the status": func(_ *rapid.T, s *store, _ *api.Page) {
		status := s.placement.Status
		status.Groups = nil
		s.say(status)
	},
}

// After any change of the pages and the status by others, no staying cluster is ever missing from all pages, and after finitely many plans
// every selected cluster is on a writable page.
func TestOddPagesArePutRight(t *testing.T) {
	names := slices.Sorted(maps.Keys(damages))
	ofEachKind(t, 50, func(t *rapid.T, k kind) {
		s := newStore(k.draw(t))
		clusters := fleet(rapid.SampledFrom([]int{0, 1, 2, 5, 99, 100, 101, 200, 201}).Draw(t, "fleet"))
		for i := range clusters {
			clusters[i] = rapid.SampledFrom([]string{"", "", "", "canary-", "x-"}).Draw(t, "prefix") + clusters[i]
		}
		s.settle(t, s.schedule(shuffled(drawSeed(t), clusters...)))

		for range rapid.IntRange(1, 3).Draw(t, "damages") {
			page := *s.pages[rapid.SampledFrom(slices.Sorted(maps.Keys(s.pages))).Draw(t, "page")]
			page.Decisions, page.OwnerReferences = slices.Clone(page.Decisions), slices.Clone(page.OwnerReferences)
			damages[rapid.SampledFrom(names).Draw(t, "damage")](t, s, &page)
			s.put(&page)
		}

		s.now = metav1.NewTime(s.now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "seconds")) * time.Second))
		clusters = append(
			clusters[min(rapid.IntRange(0, 2).Draw(t, "lost"), len(clusters)):],
			rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "canary-0", "zz"}), 0, 2, rapid.ID).Draw(t, "gained")...,
		)
		s.putRight(t, s.schedule(shuffled(drawSeed(t), clusters...)))
	})
}

// putRight applies plans until the plan is empty.
func (s *store) putRight(t rapid.TB, result *scheduling.Result) {
	const enough = 5 // Each round but the last one waits for a name to become free.
	before := s.union()
	for range enough {
		plan := s.plan(result)
		for _, request := range s.requests(t, result, plan) {
			request()
			union := s.union()
			for _, f := range result.Selected {
				if before[f.Name] && !union[f.Name] {
					t.Fatalf("%s is in no page", f.Name)
				}
			}
		}

		if plan.Empty() {
			s.checkEnd(t, result, plan)
			return
		}
	}

	t.Fatalf("there is something left to do: %v", steps(s.plan(result)))
}

// checkEnd checks that the pages that can be written have every selected cluster, and that no page has another one.
func (s *store) checkEnd(t rapid.TB, result *scheduling.Result, plan Plan) {
	existing := s.existing()
	decided := map[string]bool{}
	for _, page := range existing.Pages {
		for _, cluster := range page.Clusters() {
			decided[cluster] = true
		}
	}
	for _, f := range result.Selected {
		if !decided[f.Name] {
			t.Fatalf("%s is in no page that can be written", f.Name)
		}
	}

	if union := existing.Incumbents(); len(union) != len(result.Selected) || plan.Selected != len(union) {
		t.Fatalf("consumers see %d clusters, the status says %d, want %d", len(union), plan.Selected, len(result.Selected))
	}
}
