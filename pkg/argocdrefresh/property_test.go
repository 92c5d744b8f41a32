// SPDX-License-Identifier: Apache-2.0

package argocdrefresh

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// world is an API server with Argo CD, which a Refresher follows at once.
type world struct {
	t         *rapid.T
	r         *Refresher
	now       time.Time
	decisions map[string]Decision
	sets      map[string]ApplicationSet
	// seen are the clusters of an ApplicationSet that Argo CD has read last.
	seen map[string]string
	// last is when an ApplicationSet was refreshed last, and lastOfAny when any was.
	last      map[string]time.Time
	lastOfAny time.Time
}

// clusters returns the clusters of each generator of an ApplicationSet, in the plain way.
func (w *world) clusters(set ApplicationSet) string {
	var texts []string
	for _, reference := range set.References {
		named := map[string]bool{}
		for _, decision := range w.decisions {
			if reference.Selection.matcher()(decision) {
				for _, cluster := range decision.Clusters {
					named[cluster] = true
				}
			}
		}
		texts = append(texts, strings.Join(slices.Sorted(maps.Keys(named)), ","))
	}
	return strings.Join(texts, ";")
}

// change changes one object.
func (w *world) change() {
	name := fmt.Sprintf("s%d", rapid.IntRange(0, 2).Draw(w.t, "set"))
	page := fmt.Sprintf("page%d", rapid.IntRange(0, 2).Draw(w.t, "page"))
	switch rapid.IntRange(0, 9).Draw(w.t, "change") {
	case 0:
		w.setApplicationSet(name)
	case 1:
		delete(w.sets, name)
		delete(w.last, name) // One that comes again is another object.
		w.r.DeleteApplicationSet(name)
	case 2:
		delete(w.decisions, page)
		w.r.DeleteDecision(page, w.now)
	case 3, 4:
		w.argoReads(name)
	default:
		d := Decision{
			Name:     page,
			Labels:   map[string]string{"placement": rapid.SampledFrom([]string{"p", "q"}).Draw(w.t, "placement")},
			Clusters: rapid.SliceOfN(rapid.SampledFrom([]string{"c1", "c2", "c3"}), 0, 4).Draw(w.t, "clusters"),
		}
		w.decisions[page] = d
		w.r.SetDecision(d, w.now)
	}
}

// setApplicationSet writes an ApplicationSet with a new spec, which Argo CD evaluates at once.
func (w *world) setApplicationSet(name string) {
	selections := []Selection{{Name: "page1"}, {LabelSelector: "placement=p"}, {LabelSelector: "placement=q"}, {}}
	set := ApplicationSet{Name: name, Requested: w.sets[name].Requested, Followed: rapid.IntRange(0, 4).Draw(w.t, "followed") > 0}
	for _, selection := range rapid.SliceOfN(rapid.SampledFrom(selections), 0, 2).Draw(w.t, "selections") {
		set.References = append(set.References, Reference{ConfigMap: "ocm", Selection: selection})
	}
	w.sets[name] = set
	w.seen[name] = w.clusters(set)
	w.r.SetApplicationSet(set, w.now)
}

// argoReads lets Argo CD read the decisions of an ApplicationSet that has the annotation, and remove it.
func (w *world) argoReads(name string) {
	set, exists := w.sets[name]
	if !exists || !set.Requested {
		return
	}
	set.Requested = false
	w.sets[name] = set
	w.seen[name] = w.clusters(set)
	w.r.SetApplicationSet(set, w.now)
}

// refresh carries out what is due, some of it without success, and returns when to look again.
func (w *world) refresh(failing bool) time.Time {
	for {
		due, at, ok := w.r.Next(w.now)
		if !ok {
			return at
		}
		w.check(due)
		if failing && rapid.Bool().Draw(w.t, "fails") {
			w.r.Done(due, Failed, w.now)
			continue
		}
		w.last[due.Name], w.lastOfAny = w.now, w.now
		set := w.sets[due.Name]
		set.Requested = true
		w.sets[due.Name] = set
		w.r.Done(due, Refreshed, w.now)
		w.r.SetApplicationSet(set, w.now)
	}
}

// check checks the pace of one refresh.
func (w *world) check(due Refresh) {
	set, exists := w.sets[due.Name]
	switch {
	case !exists || !set.Followed || set.Requested:
		w.t.Fatalf("refresh of %s, which is %+v", due.Name, set)
	case due.ConfigMaps.Len() == 0:
		w.t.Fatalf("refresh of %s without a ConfigMap", due.Name)
	case w.now.Sub(w.lastOfAny) < pace.Spacing:
		w.t.Fatalf("refresh of %s %s after another one", due.Name, w.now.Sub(w.lastOfAny))
	case w.now.Sub(w.last[due.Name]) < pace.Interval:
		w.t.Fatalf("refresh of %s %s after the last one", due.Name, w.now.Sub(w.last[due.Name]))
	}
}

// docs/spec/argocd-refresh.md AR5 and AR6: whatever happens, the pace is kept, and at the end Argo CD has read the last state of each
// ApplicationSet that is followed.
func TestLastStateIsRefreshed(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		w := &world{
			t: t, r: New(pace), now: epoch, decisions: map[string]Decision{}, sets: map[string]ApplicationSet{}, seen: map[string]string{},
			last: map[string]time.Time{},
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.change()
			w.now = w.now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			w.refresh(true)
		}
		for range 20 {
			for name := range w.sets {
				w.argoReads(name)
			}
			if at := w.refresh(false); !at.IsZero() {
				w.now = at
			}
		}
		for name, set := range w.sets {
			if set.Followed && w.seen[name] != w.clusters(set) {
				t.Fatalf("Argo CD has read %q of %s, want %q", w.seen[name], name, w.clusters(set))
			}
		}
	})
}
