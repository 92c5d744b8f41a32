// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"net/http"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/browser/page"
)

// tenantPages are all kinds of pages, with the names of their screenshots, the status, and what each shows to a user who may edit the namespace
// store alone.
var tenantPages = []struct {
	name, path string
	status     int64
	want       string
}{
	{"overview", "/", http.StatusOK, "Satisfied"},
	{"overview-of-namespace", "/?namespace=store", http.StatusOK, "Satisfied"},
	{"overview-of-another", "/?namespace=team-a", http.StatusOK, "None that you may list in namespace team-a"},
	{"search", "/search?q=can", http.StatusOK, "store/canary"},
	{"placements", "/placements", http.StatusOK, "store/canary"},
	{"placement", "/placements/store/canary", http.StatusOK, "member-us1"},
	{"placement-cluster", "/placements/store/canary?cluster=member-eu1", http.StatusOK, "location In [usa]: is europe"},
	{"placement-fleet", "/placements/store/canary/fleet", http.StatusOK, "You may not list clusters"},
	{"placement-fleet-load", "/placements/store/canary/fleet?colour=load", http.StatusOK, "You may not list clusters"},
	{"placement-of-another", "/placements/team-a/standby", http.StatusForbidden, "may not get"},
	{"fleet", "/fleet", http.StatusForbidden, "you may not read"},
	{"clusters", "/clusters", http.StatusForbidden, "you may not read"},
	{"cluster", "/clusters/member-eu1", http.StatusForbidden, "you may not read"},
	{"cluster-drain", "/clusters/member-eu1?drain=true", http.StatusForbidden, "you may not read"},
	{"objects", "/objects", http.StatusOK, "Name a namespace"},
	{"objects-of-namespace", "/objects?namespace=store", http.StatusOK, "Deployment.apps/store/web"},
	{"object", "/objects/store/Deployment.apps/web", http.StatusOK, "member-eu2"},
	{"requests", "/requests", http.StatusOK, "store/spare"},
	{"request", "/requests/store/spare", http.StatusOK, "spare"},
	{"workloads", "/workloads", http.StatusOK, "store/web"},
	{"workload", "/workloads/store/Deployment.apps/web", http.StatusOK, "web"},
	{"history", "/history", http.StatusOK, "History"},
	{"history-of-another", "/history?namespace=team-a", http.StatusOK, "There is no history that you may read in namespace team-a"},
	{"history-placement", "/placements/store/canary/history", http.StatusOK, "History of store/canary"},
	{"history-cluster", "/clusters/member-eu1/history", http.StatusOK, "History of member-eu1"},
	{"history-request", "/requests/store/spare/history", http.StatusOK, "History of ClusterRequest store/spare"},
	{"runbooks", "/runbooks", http.StatusOK, "Runbooks"},
}

// wantEdges fails the test unless each node of the way but the first has an edge, which begins at the node before it and ends at the node.
func wantEdges(t *testing.T, p *page.Page) {
	t.Helper()
	for _, loose := range page.Eval[[]string](p, `[...document.querySelectorAll(".way ul > li")].flatMap(li => {
		const node = li.querySelector(":scope > .node").getBoundingClientRect(),
			parent = li.parentElement.previousElementSibling.getBoundingClientRect();
		const box = li.getBoundingClientRect(), style = getComputedStyle(li, "::before"), to = getComputedStyle(li.parentElement, "::before");
		const across = box.left + parseFloat(style.width) >= node.left - 1 && parseFloat(style.borderTopWidth) >= 1;
		const starts = to.display === "none"
			? box.left > parent.left && box.left < parent.right : box.left - parseFloat(to.width) <= parent.right + 1;
		return across && starts ? [] : [li.innerText];
	})`) {
		t.Errorf("%s: the node has no edge from the one before it: %s", p.URL(), loose)
	}
}

// everyPageOfATenantIsAccessible looks at the pages as a user who may edit one namespace: most of them say what is not shown, and why.
func everyPageOfATenantIsAccessible(w *world) {
	t := w.t
	w.hub.Apply(t, "apiVersion: cluster.openmcp.cloud/v1alpha1\nkind: ClusterRequest\nmetadata: {namespace: store, name: spare}\n"+
		"spec: {purposes: [training]}\n")
	tenant, origin := w.browser.NewPerson(t), w.systems.Origins[0]
	secure := page.Options{SelfSigned: true}
	logIn(tenant.Open(t, origin+"/login", secure), w.hub.Tenant(t, "store", "editor", "edit"))
	for _, each := range tenantPages {
		t.Run(each.name, func(t *testing.T) {
			p := tenant.Open(t, origin+"/assets/icon.svg", secure)
			p.Expect("status of 40")
			if status := p.Go(origin + each.path); status != each.status {
				t.Errorf("%s has the status %d, want %d", each.path, status, each.status)
			}
			p.WantText("main", each.want)
			wantAccessible(p, "tenant-"+each.name, secure)
		})
	}
	t.Run("way", func(t *testing.T) {
		p := tenant.Open(t, origin+"/placements/store/canary/fleet", secure)
		for _, width := range []int64{wide, narrow} {
			p.Look(page.Options{SelfSigned: true, Width: width})
			p.WantText("#way .node", "3 clusters Selected 1 Predicate 2")
			wantEdges(t, p)
		}
	})
	t.Run("what-if", func(t *testing.T) {
		p := tenant.Open(t, origin+"/placements/store/canary", secure)
		p.Click("#edit summary")
		manifest := page.Eval[string](p, `document.querySelector("#manifest").value`)
		p.Fill("#manifest", manifest+"  tolerations: [{operator: Exists}]\n")
		p.Follow("the preview", func() { p.Click("#edit button") })
		p.WantText("#preview", "store/canary")
		if text := p.Text("#preview"); strings.Contains(text, "may list none") {
			t.Errorf("the preview does not know what the tenant may list: %s", text)
		}
		wantAccessible(p, "tenant-what-if", secure)
	})
}
