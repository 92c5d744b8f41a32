// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"strings"

	"github.com/placement-hub/placement-hub/test/browser/page"
)

// whatHappenedToTheDecision follows a decision on its timeline, goes to the cause of a change, and asks what would happen if it were undone.
func whatHappenedToTheDecision(w *world) {
	t := w.t
	label := func(cluster, change string) { w.hub.Kubectl(t, "label", "managedcluster", cluster, change, "--overwrite") }
	label("eu1", "moved=one")
	label("us1", "moved=one")
	w.hub.Apply(t, placement("team-a", "moved", `{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {moved: one}}}}]}`))
	w.open(t, "/placements/team-a/moved", page.Options{}).WaitForText("#matrix tr", "us1 Selected")
	p := w.open(t, "/placements/team-a/moved", page.Options{})
	p.Follow("the history", func() { p.Click(`#summary a[href="/placements/team-a/moved/history"]`) })
	p.WaitForText("#timeline tr", "eu1 in")
	p.WaitForText("#live", "Follows changes.")
	p.Click("#moves .move summary")
	opened := page.Eval[string](p, `document.querySelector("#moves .move[open]").id`)
	label("eu1", "moved-")
	p.WaitForText("#timeline tr", "eu1 out")
	p.WaitForText("#moves summary", "lost eu1 ManagedCluster eu1 label moved removed by kubectl-label")
	if stays := page.Eval[string](p, `[...document.querySelectorAll("#moves .move[open]")].map(e => e.id).join(" ")`); stays != opened {
		t.Errorf("after a change the rows %q are open, before it was %q", stays, opened)
	}

	plain := w.open(t, "/placements/team-a/moved/history?since=1h", page.Options{NoScript: true})
	if page.Eval[bool](plain, `[...document.querySelectorAll("#moves .why")].some(e => e.checkVisibility())`) {
		t.Error("causes are shown before anybody has asked for them")
	}
	plain.Click(`#timeline td[data-label="Left last"] a`)
	plain.WaitFor("the cause of the change is open", `document.querySelector(".why:target")?.checkVisibility()`)
	plain.WantText(".why:target", "ManagedCluster eu1 label moved removed by kubectl-label What if it were undone?")
	plain.Follow("the what-if", func() { plain.Click(`.why:target a[href^="/clusters/eu1?label=moved"]`) })
	plain.WantText("#whatif", "label eu1 moved=one")
	plain.WantText("#whatif tr", "team-a/moved")
	plain.WantText("#whatif", "Nothing was written.")
	if labels := w.hub.Kubectl(t, "get", "managedcluster", "eu1", "-o", "jsonpath={.metadata.labels}"); strings.Contains(labels, "moved") {
		t.Errorf("the what-if has written the labels %s", labels)
	}

	overview := w.open(t, "/", page.Options{})
	overview.WaitForText("#lastmoves li", "team-a/moved lost eu1: ManagedCluster eu1 label moved removed by kubectl-label")
	overview.Follow("the last move", func() { overview.Click(`#lastmoves a[href^="/placements/team-a/moved/history#move-"]`) })
	overview.WantText("h1", "History of team-a/moved")
	overview.Go(w.origin + "/clusters/eu1")
	overview.Follow("the history of the cluster", func() { overview.Click(`#cluster a[href="/clusters/eu1/history"]`) })
	overview.WantText("#timeline tr", "team-a/moved out")
	overview.Go(w.origin + "/history?cluster=eu1&since=1h")
	overview.WantText("#moves summary", "team-a/moved lost eu1")
	wantNoDeadLink(t, overview)

	origin, _, _ := strings.Cut(w.hub.URL, "/?") // The person has used the token that follows.
	runs := w.runs.Open(t, origin+"/history?namespace=team-a", page.Options{})
	runs.WantText("#moves summary", "team-a/moved lost eu1 ManagedCluster eu1 label moved removed by kubectl-label")
}
