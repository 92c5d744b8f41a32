// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/placement-hub/placement-hub/test/browser/page"
)

// tenantSeesOwnThings has a tenant look for what another team has, everywhere.
func tenantSeesOwnThings(w *world) {
	t := w.t
	url := w.hub.Dashboard(t, w.hub.KubeconfigOf(t, w.hub.Tenant(t, "team-c", "tenant", "view")))
	tenant := w.browser.NewPerson(t)
	p := tenant.Open(t, url, page.Options{})
	p.Expect("403")
	p.Expect("404")
	p.WantText("body", "team-c:tenant")
	origin := strings.TrimSuffix(p.URL(), "/")
	// A tenant who knows a namespace names it; the hub does not tell which there are.
	p.Go(origin + "/placements?namespace=team-c")
	if !strings.Contains(p.Text("[data-part=list]"), "team-c/nightly") {
		t.Errorf("the tenant does not see their placement:\n%s", p.Text("body"))
	}
	secrets := []string{"standby", "payments", "rollout", "training", "typo", "us-east-1-blue", "gpu1"}
	for _, path := range []string{
		"/", "/?namespace=team-a", "/placements", "/placements?namespace=team-a", "/placements?set=prod", "/objects", "/workloads", "/search?q=a",
		"/clusters", "/clusters/gpu1", "/clusters/gpu1?drain=true", "/placements/team-a/standby",
		"/placements/team-a/standby?cluster=gpu1", "/placements/team-b/typo", "/objects?namespace=team-a", "/requests", "/requests?namespace=team-a",
		"/workloads?namespace=team-a", "/placements/team-c/nightly", "/placements/team-c/nightly?verdict=Scope",
		"/history", "/history?namespace=team-a", "/history?namespace=team-c", "/history?cluster=gpu1", "/placements/team-c/nightly/history",
		"/placements/team-a/standby/history", "/clusters/gpu1/history",
		"/fleet", "/placements/team-c/nightly/fleet", "/placements/team-c/nightly/fleet?colour=load", "/placements/team-a/standby/fleet",
	} {
		p.Go(origin + path)
		asked := path + p.URL()
		for what, text := range map[string]string{
			"the page":      page.Eval[string](p, "document.documentElement.outerHTML"),
			"its JSON twin": page.AwaitString(p, `fetch(location.href, {headers: {Accept: "application/json"}}).then(r => r.text())`),
		} {
			for _, secret := range secrets {
				if strings.Contains(text, secret) && !strings.Contains(asked, secret) {
					t.Errorf("%s: %s shows %q to a tenant of team-c", path, what, secret)
				}
			}
		}
	}
	if status := p.Go(origin + "/placements/team-a/standby"); status != 403 {
		t.Errorf("the page of another team's placement has the status %d", status)
	}
	if missing := p.Go(origin + "/placements/team-a/none"); missing != 403 {
		t.Errorf("a placement that does not exist is told apart by the status %d", missing)
	}
}

// keyboardIsEnough goes from the overview to the explanation of a cluster without a mouse.
func keyboardIsEnough(w *world) {
	t := w.t
	p := w.open(t, "/", page.Options{})
	p.Press(kb.Tab)
	if got := p.Focused(); got != "Skip to the content" {
		t.Errorf("the first stop is %q", got)
	}
	wantVisibleFocus(t, p)
	p.Press(kb.Enter)
	if got := page.Eval[string](p, "document.activeElement.id || location.hash"); got != "content" && got != "#content" {
		t.Errorf("the keyboard is at %q", got)
	}
	p.Press("/")
	if got := page.Eval[string](p, "document.activeElement.id"); got != "search" {
		t.Fatalf("/ goes to %q", got)
	}
	wantVisibleFocus(t, p)
	p.Press("stand/by")
	if got := page.Eval[string](p, "document.activeElement.value"); got != "stand/by" {
		t.Errorf("typed %q", got)
	}
	page.Eval[any](p, "document.activeElement.value = ''")
	p.Press("standby")
	p.Follow("the search", func() { p.Press(kb.Enter) })
	p.Press(kb.ArrowDown)
	if got := p.Focused(); got != "team-a/standby" {
		t.Fatalf("the first arrow goes to %q", got)
	}
	wantVisibleFocus(t, p)
	p.Follow("the placement", func() { p.Press(kb.Enter) })
	p.WantText("h1", "team-a/standby")
	for range 60 { // The arrows go through all links of the content.
		if p.Focused() == "ap2" {
			break
		}
		p.Press(kb.ArrowDown)
	}
	if got := p.Focused(); got != "ap2" {
		t.Fatalf("the arrows do not reach ap2, but %q", got)
	}
	wantVisibleFocus(t, p)
	if got := page.Eval[string](p, `getComputedStyle(document.activeElement.closest("tr").querySelector("q")).display`); got == "none" {
		t.Error("the clauses of a row with the keyboard are hidden")
	}
	p.Follow("the cluster", func() { p.Press(kb.Enter) })
	p.WantText("#detail h2", "ap2")
}

// wantVisibleFocus fails the test if nobody sees where the keyboard is.
func wantVisibleFocus(t *testing.T, p *page.Page) {
	t.Helper()
	p.WaitFor("a person sees where the keyboard is: "+p.Focused(), `(e => {
		const style = getComputedStyle(e), box = e.getBoundingClientRect();
		return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 && box.width > 0 && box.right > 0 && box.bottom > 0 &&
			box.top < innerHeight;
	})(document.activeElement)`)
}

// javaScriptIsNotNeeded goes the way of a person whose browser runs no scripts.
func javaScriptIsNotNeeded(w *world) {
	t := w.t
	p := w.open(t, "/placements", page.Options{NoScript: true})
	p.WantText("[data-part=list]", "team-a/rollout")
	p.Fill("#name", "team-b/")
	p.Follow("the filter", func() { p.Press(kb.Enter) })
	p.WantText("[data-part=list]", "team-b/typo")
	p.WantText(".pager", "the filters hide")
	if strings.Contains(p.Text("[data-part=list]"), "team-a/") {
		t.Error("the filter lets others pass")
	}
	p.Fill("#search", "standby")
	p.Follow("the search", func() { p.Press(kb.Enter) })
	p.Follow("the placement", func() { p.Click(`main a[href="/placements/team-a/standby"]`) })
	p.WantText("#summary tr", "PlacementSatisfied")
	if page.Eval[bool](p, `[...document.querySelectorAll("button")].some(b => b.textContent === "Copy" && b.checkVisibility())`) {
		t.Error("a button needs JavaScript, and is shown without")
	}
	p.Follow("the cluster", func() { p.Click(`#matrix a[href*="cluster=ap2"]`) })
	p.WantText("#detail h2", "ap2")
	p.Follow("the filter", func() {
		p.Fill("#name", "ap1")
		p.Press(kb.Enter)
	})
	if rows := p.Count("#matrix tbody tr"); rows != 1 {
		t.Errorf("the filter shows %d clusters", rows)
	}
	p.Go(w.origin + "/placements/team-a/standby")
	p.Click("#edit summary")
	p.Follow("the preview", func() { p.Click("#edit button") })
	p.WantText("#preview", "No decision would change.")
	if live := p.Text("#live"); live != "" {
		t.Errorf("a page without scripts says %q", live)
	}
}

// manyTabsAreOpen opens more pages than a browser has connections to a server. A page that nobody sees gives its connection back, and follows
// changes again when it is seen. The headless browser takes all pages for seen, so the test says which is.
func manyTabsAreOpen(w *world) {
	t := w.t
	show := func(p *page.Page, hidden bool) {
		page.Eval[any](p, `Object.defineProperty(document, "hidden", {configurable: true, value: `+strconv.FormatBool(hidden)+`});
			document.dispatchEvent(new Event("visibilitychange")); null`)
	}
	first := w.open(t, "/placements/team-a/standby", page.Options{})
	first.WaitForText("#live", "Follows changes.")
	show(first, true)
	for range 7 {
		p := w.open(t, "/placements/team-a/standby", page.Options{})
		p.WaitForText("#live", "Follows changes.")
		show(p, true)
	}
	w.hub.Kubectl(t, "label", "managedcluster", "eu3", "region=ap-south", "--overwrite")
	last := w.open(t, "/placements/team-a/standby", page.Options{})
	last.WaitFor("eu3 is selected", row("eu3")+`.includes("Selected")`)
	if page.Eval[bool](first, row("eu3")+`.includes("Selected")`) {
		t.Error("a page that nobody sees follows changes")
	}
	show(first, false)
	first.WaitFor("eu3 is selected", row("eu3")+`.includes("Selected")`)
	w.hub.Kubectl(t, "label", "managedcluster", "eu3", "region=eu-north", "--overwrite")
	first.WaitFor("eu3 is not selected", `!`+row("eu3")+`.includes("Selected")`)
}

// wrongAddresses opens addresses that a person mistypes.
func wrongAddresses(w *world) {
	t := w.t
	for _, path := range []string{
		"/none", "/placements/team-a/none", "/placements/team-a/a%2Fb", "/placements/none/standby", "/clusters/none", "/clusters/a%2Fb",
		"/objects/team-a/Foo/x", "/objects/team-a/ConfigMap/none", "/requests/team-a/none", "/workloads/team-a/Foo/x",
		"/workloads/team-a/deployments.apps/none", "/workloads?namespace=a%2Fb", "/objects/team-a/Foo/x/history", "/history?namespace=a%2Fb",
	} {
		p := w.open(t, "/assets/icon.svg", page.Options{})
		p.Expect("status of 404")
		if status := p.Go(w.origin + path); status != 404 {
			t.Errorf("%s has the status %d", path, status)
		}
		if p.Text(".problem") == "" || p.Count("main a") == 0 {
			t.Errorf("%s does not say what is wrong, and where to go:\n%s", path, p.Text("body"))
		}
		p.Close()
	}
}

// hubRestarts stops and starts the hub and its control plane while somebody looks.
func hubRestarts(w *world) {
	t := w.t
	p := w.open(t, "/placements/team-a/standby", page.Options{})
	p.WaitForText("#live", "Follows changes.")
	page.Eval[any](p, "window.sameDocument = true")
	for _, expected := range []string{"net::ERR", "503", "500", "502"} { // What a browser says about a server that is away.
		p.Expect(expected)
	}
	w.hub.Restart(func() {
		if text := p.Text("#matrix"); !strings.Contains(text, "ap1") {
			t.Errorf("while the hub is away, the page shows:\n%s", text)
		}
	})
	w.hub.Kubectl(t, "label", "managedcluster", "eu3", "region=ap-south", "--overwrite")
	p.WaitFor("eu3 is selected", row("eu3")+`.includes("Selected")`)
	p.WaitForText("#live", "Follows changes.")
	if !page.Eval[bool](p, "window.sameDocument === true") {
		t.Error("the page was loaded again")
	}
}
