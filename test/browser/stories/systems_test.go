// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/placement-hub/placement-hub/test/browser/hub"
	"github.com/placement-hub/placement-hub/test/browser/page"
)

// whyNotOnThatCluster begins with a failed delivery, and finds out for each cluster what became of an object there, and why.
func whyNotOnThatCluster(w *world) {
	t := w.t
	const conflict = "the object exists and is not managed by the work agent"
	w.systems.Report(t,
		hub.Report{Cluster: "member-eu1", Kind: "Deployment", Name: "web", Available: true, Ready: 6},
		hub.Report{Cluster: "member-eu2", Kind: "Deployment", Name: "web", Ready: 1},
		hub.Report{Cluster: "member-eu1", Kind: "Secret", Name: "licence", Available: true},
		hub.Report{Cluster: "member-us1", Kind: "Secret", Name: "licence", Problem: conflict},
	)
	p := w.open(t, "/", page.Options{})
	p.Follow("the delivered objects", func() { p.Click(`nav a[href="/objects"]`) })
	p.WaitForText("tr", conflict)
	p.Fill("#namespace", "store")
	p.Follow("the namespace", func() { p.Press(kb.Enter) })
	for _, want := range []struct{ object, cluster, text, clause string }{
		{"Deployment.apps/store/web", "member-eu1", "available 6/6", ""},
		{"Deployment.apps/store/web", "member-eu2", "applied 1/3", ""},
		{"Secret/store/licence", "member-eu1", "available", ""},
		{"Secret/store/licence", "member-eu2", "waiting", "its agent has not reported yet"},
		{"Secret/store/licence", "member-us1", "problem", conflict},
		{"ConfigMap/store/settings", "member-us1", "predicate", "location In [europe]: is usa"},
	} {
		element := cell("#objects", want.object, want.cluster)
		if got := page.Eval[string](p, element+".innerText"); !strings.Contains(got, want.text) {
			t.Errorf("%s in %s: %q, want %q", want.object, want.cluster, got, want.text)
		}
		if got := page.Eval[string](p, "("+element+`.querySelector("q") || {textContent: ""}).textContent`); !strings.Contains(got, want.clause) {
			t.Errorf("%s in %s: the clause is %q, want %q", want.object, want.cluster, got, want.clause)
		}
	}
	wantClauseOnPointing(p, cell("#objects", "ConfigMap/store/settings", "member-us1"))
	p.Follow("the object", func() { p.Click(`#objects a[href="/objects/store/ConfigMap/settings"]`) })
	p.WantText("main tr", "member-us1")
	p.WantText("main tr", "location In [europe]: is usa")
	p.Follow("the cluster", func() { p.Click(`main td a[href="/clusters/member-us1"]`) })
	p.WantText("#carries tr", "NotApplied Delivery store/Secret licence on member-us1 "+conflict)
	p.Go(w.origin + "/clusters/member-eu1")
	p.WantText("#carries tr", "Available Delivery store/Deployment.apps web on member-eu1")
}

// whatTheRequestLacks begins with a request that was denied.
func whatTheRequestLacks(w *world) {
	t := w.t
	p := w.open(t, "/", page.Options{})
	p.WaitForText("[data-part=attention] tr", "1 ClusterRequest Denied")
	p.Follow("the request", func() { p.Click(`[data-part=attention] a[href="/requests/lab/training"]`) })
	p.WantText("main tr", "null/default - - - trait kubernetes.io/apis/compute is required")
	wantNoDeadLink(t, p)
	p.Follow("the requests", func() { p.Click(`nav a[href="/requests"]`) })
	p.WaitForText("main tr", "shop/checkout Granted")
	p.Follow("a request that was granted", func() { p.Click(`main a[href="/requests/shop/checkout"]`) })
	p.WantText("main", "clusters/workload-")
	p.Follow("the history of the request", func() { p.Click(`main a[href="/requests/shop/checkout/history"]`) })
	p.WantText("h1", "History of ClusterRequest shop/checkout")
	p.WantText("main", "placement history clusterrequest/checkout -n shop")
	wantNoDeadLink(t, p)
}

// wantNoDeadLink fails the test for each link of the content that leads nowhere.
func wantNoDeadLink(t *testing.T, p *page.Page) {
	t.Helper()
	if dead := page.AwaitString(p, `Promise.all([...document.querySelectorAll("main a[href]")].map(
		a => fetch(a.href).then(r => r.ok ? "" : a.href + " "))).then(all => all.join(""))`); dead != "" {
		t.Errorf("%s has links that lead nowhere: %s", p.URL(), dead)
	}
}

// whichNodeFits looks for the nodes of a database, and why one of its Pods is refused.
func whichNodeFits(w *world) {
	t := w.t
	p := w.open(t, "/workloads", page.Options{})
	p.Fill("main #namespace", "tenant-acme")
	p.Follow("the workloads", func() { p.Press(kb.Enter) })
	p.Follow("the database", func() { p.Click(`main a[href$="/postgres-main-db"]`) })
	p.WantText("main tr", "ClusterPodSchedulingPolicy databases")
	p.WantText("main tr", "fit dc1-db1, dc1-db2")
	p.WantText("main tr", "nodeSelector pool=databases dc1-web1, dc2-web1")
	p.WantText("main tr", "nodeSelector topology.kubernetes.io/zone=dc1 dc2-db1")
	p.WantText("main", "class dc1 (spec.affinityClass of Postgres main-db): satisfied")
	p.Go(w.origin + "/workloads/tenant-acme/Deployment.apps/postgres-main-db-exporter")
	p.WantText("main", "missing required nodeSelector")
}

// cell is the expression for the cell of a row and a column of a table, by what its head says.
func cell(table, row, column string) string {
	return `((table) => [...table.tBodies[0].rows].find(r => r.cells[0].innerText === ` + page.Quote(row) + `)
		.cells[[...table.tHead.rows[0].cells].findIndex(c => c.innerText === ` + page.Quote(column) + `)]
	)(document.querySelector(` + page.Quote(table+" table") + `))`
}

// wantClauseOnPointing points at a cell, and fails the test unless all of its clause is visible, over what is there otherwise.
func wantClauseOnPointing(p *page.Page, cell string) {
	p.Hover("a cell", cell)
	p.WaitFor("the clause is visible", `(clause => {
		const box = clause.getBoundingClientRect();
		return box.height > 0 && box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight &&
			[[box.left + 3, box.top + 3], [box.right - 3, box.bottom - 3]].every(at => clause.contains(document.elementFromPoint(...at)));
	})(`+cell+`.querySelector("q"))`)
}

// clausesNeedNoRoom shows that the table ends with its last row, and that the clause of a cell there is visible nevertheless.
func clausesNeedNoRoom(w *world) {
	p := w.open(w.t, "/placements/team-a/rollout?verdict=Selected", page.Options{})
	for _, options := range []page.Options{{}, {Width: 320}} {
		p.Look(options)
		below := page.Eval[float64](p, `(table => table.parentElement.getBoundingClientRect().bottom - table.getBoundingClientRect().bottom)(
			document.querySelector("#matrix table"))`)
		if below > 20 { // A scroll bar has room.
			w.t.Errorf("the table has %v pixels of nothing below its last row", below)
		}
		wantClauseOnPointing(p, `[...document.querySelectorAll("#matrix tbody tr:last-child td:has(q)")][0]`)
		wantClauseOnPointing(p, `[...document.querySelectorAll("#matrix tbody tr:last-child td:has(q)")].at(-1)`)
		wantClauseOnPointing(p, `[...document.querySelectorAll("#matrix tbody tr:first-child td:has(q)")].at(-1)`)
	}
}
