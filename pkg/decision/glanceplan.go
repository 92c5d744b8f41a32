package decision

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// plan is the plan for the answer; false when it is not known by a glance. Where the answer is sorted, that says that clusters have to
// move.
func (g *glance) plan(sorted bool) (plan Plan, known bool) {
	if g == nil {
		return Plan{}, false
	}

	plan = Plan{Form: g.present.Form, Groups: g.describe(), Selected: len(g.chosen)}
	marks := newMarks(g.present)
	changed := false

	for i := range g.pages {
		seen := &g.pages[i]
		begins := i == 0 || g.pages[i-1].group != seen.group

		switch changes := len(seen.comes) > 0 || seen.stays < len(seen.at); {
		case changes && (changed || sorted), sorted && !g.follows(i, begins):
			return Plan{}, false
		case changes:
			changed = true
			plan.Writes = slices.Insert(plan.Writes, 0, g.write(seen)) // Who comes and goes is written before what is only mended.
		case !g.says(seen, sorted) || !marks.on(g.pageOf(seen)):
			plan.Writes = append(plan.Writes, g.write(seen))
		}
	}

	return plan, true
}

// describe tells the groups as they will be.
func (g *glance) describe() []record.GroupStatus {
	groups := make([]record.GroupStatus, 0, len(g.groups))
	names := make([]string, 0, len(g.pages))
	next := 0

	for i := range g.groups {
		for next < len(g.pages) && g.pages[next].group == i {
			names = append(names, g.pages[next].page.Name)
			next++
		}

		groups = append(groups, record.GroupStatus{Group: g.groups[i].Group, Pages: slices.Clip(names), Clusters: g.groups[i].members})
		names = names[len(names):]
	}

	return groups
}

// says reports whether a page says what it is to say of its clusters, in their order.
func (g *glance) says(seen *glimpse, sorted bool) bool {
	if seen.page.Decisions == nil {
		return false
	}

	for i := range seen.page.Decisions {
		said := &seen.page.Decisions[i]
		if *said != g.decision(seen.at[i], said, sorted) || i > 0 && g.compare(&seen.page.Decisions[i-1], said) > 0 {
			return false
		}
	}

	return true
}

// follows reports whether the scores in a page are those of now, and the page goes on where a full one before it in its group ended.
func (g *glance) follows(i int, begins bool) bool {
	said := g.pages[i].page.Decisions

	for n := range said {
		if said[n].Score != g.result.Score(said[n].Cluster) || n > 0 && g.compare(&said[n-1], &said[n]) > 0 {
			return false
		}
	}

	if begins {
		return true
	}

	before := g.pages[i-1].page.Decisions

	return len(before) == PageSize && len(said) > 0 && g.compare(&before[PageSize-1], &said[0]) < 0
}

// compare is the order of decisions in a page and in a group.
func (g *glance) compare(a, b *record.Decision) int {
	if g.result.Request.Order == scheduling.ByScore && a.Score != b.Score {
		return cmp.Compare(b.Score, a.Score)
	}

	return cmp.Compare(a.Cluster, b.Cluster)
}

// decision is what to say of a chosen cluster of which something is said, or nothing yet.
func (g *glance) decision(at int32, said *record.Decision, sorted bool) record.Decision {
	cluster := g.chosen[at]
	decision := record.Decision{Cluster: cluster.Name, Available: cluster.Available}

	switch {
	case g.result.Request.Order != scheduling.ByScore:
	case sorted || said == nil:
		decision.Score = g.result.Score(cluster.Name)
	default:
		decision.Score = said.Score
	}

	if said != nil {
		decision.Cluster = said.Cluster // The same name in the same memory compares at once.
	}

	return g.present.Form.Own(decision)
}

// write brings a page up to date. Scores of who was there stay: where they are brought up to date too, nothing is known by a glance unless
// they are what they were.
func (g *glance) write(seen *glimpse) Write {
	decisions := make([]record.Decision, 0, seen.stays+len(seen.comes))

	for i, at := range seen.at {
		if at >= 0 {
			decisions = append(decisions, g.decision(at, &seen.page.Decisions[i], false))
		}
	}

	for _, at := range seen.comes {
		decisions = append(decisions, g.decision(at, nil, false))
	}

	slices.SortFunc(decisions, func(a, b record.Decision) int { return g.compare(&a, &b) })

	return newWrite(g.present, g.pageOf(seen), decisions)
}

func (g *glance) pageOf(seen *glimpse) Page {
	return Page{Name: seen.page.Name, Group: g.groups[seen.group].Group, Current: seen.page}
}
