// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"strings"

	"github.com/placement-hub/placement-hub/test/browser/page"
)

// whatHappenedToTheDecision follows a decision on its timeline, goes to the cause of a change, and asks what would happen if it were undone. The
// hub answers users with a token, and the pages of placement run.
func whatHappenedToTheDecision(w *world) {
	t := w.t
	w.open(t, "/history", page.Options{}).WantText("#moves", "the hub's explanations need a bearer token")
	origin, _, _ := strings.Cut(w.hub.URL, "/?") // The person has used the token that follows.
	open := func(path string, o page.Options) *page.Page { return w.runs.Open(t, origin+path, o) }
	label := func(cluster, change string) {
		w.hub.Kubectl(t, "label", "managedcluster", cluster, change, "--overwrite")
	}
	label("eu1", "moved=one")
	label("us1", "moved=one")
	w.hub.Apply(t, placement("team-a", "moved", `{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {moved: one}}}}]}`))
	p := open("/placements/team-a/moved", page.Options{})
	p.WaitFor("us1 is selected", row("us1")+`.includes("Selected")`)
	p.Follow("the history", func() { p.Click(`#summary a[href="/placements/team-a/moved/history"]`) })
	p.WaitForText("#timeline tr", "eu1 in")
	p.WaitForText("#live", "Follows changes.")
	p.Click("#moves .move summary")
	opened := page.Eval[string](p, `document.querySelector("#moves .move[open]").id`)
	label("eu1", "moved-")
	p.WaitForText("#timeline tr", "eu1 out")
	p.WaitForText("#moves summary", "lost eu1 ManagedCluster eu1 label moved removed")
	if stays := page.Eval[string](p, `[...document.querySelectorAll("#moves .move[open]")].map(e => e.id).join(" ")`); stays != opened {
		t.Errorf("after a change the rows %q are open, before it was %q", stays, opened)
	}

	plain := open("/placements/team-a/moved/history?since=1h", page.Options{NoScript: true})
	if page.Eval[bool](plain, `[...document.querySelectorAll("#moves .why")].some(e => e.checkVisibility())`) {
		t.Error("causes are shown before anybody has asked for them")
	}
	plain.Click(`#timeline td[data-label="Left last"] a`)
	plain.WaitFor("the cause of the change is open", `document.querySelector(".why:target")?.checkVisibility()`)
	plain.WantText(".why:target", "ManagedCluster eu1 label moved removed What if it were undone?")
	plain.Follow("the what-if", func() { plain.Click(`.why:target a[href^="/clusters/eu1?label=moved"]`) })
	plain.WantText("#whatif", "label eu1 moved=one")
	plain.WantText("#whatif tr", "team-a/moved")
	plain.WantText("#whatif", "Nothing was written.")
	if labels := w.hub.Kubectl(t, "get", "managedcluster", "eu1", "-o", "jsonpath={.metadata.labels}"); strings.Contains(labels, "moved") {
		t.Errorf("the what-if has written the labels %s", labels)
	}

	overview := open("/", page.Options{})
	overview.WaitForText("#lastmoves li", "team-a/moved lost eu1: ManagedCluster eu1 label moved removed")
	overview.Follow("the last move", func() { overview.Click(`#lastmoves a[href^="/placements/team-a/moved/history#move-"]`) })
	overview.WantText("h1", "History of team-a/moved")
	overview.Go(origin + "/clusters/eu1")
	overview.Follow("the history of the cluster", func() { overview.Click(`#cluster a[href="/clusters/eu1/history"]`) })
	overview.WantText("#timeline tr", "team-a/moved out")
	overview.Go(origin + "/history?cluster=eu1&since=1h")
	overview.WantText("#moves summary", "team-a/moved lost eu1")
	wantNoDeadLink(t, overview)

	for name, path := range map[string]string{
		"history-rows": "/history", "history-timeline": "/placements/team-a/rollout/history", "history-of-cluster": "/clusters/eu1/history",
		"overview-moves": "/",
	} {
		shown := open(path, page.Options{})
		page.Eval[any](shown, `document.querySelectorAll("#moves .move").forEach(e => { e.open = true }); null`)
		wantAccessible(shown, name, page.Options{})
	}
}
