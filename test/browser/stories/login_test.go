// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/browser/page"
)

// tenantLogsIn opens the pages that every replica serves over HTTPS, with a certificate that the hub has made itself.
func tenantLogsIn(w *world) {
	t := w.t
	const placement = "/placements/team-c/nightly"
	token := w.hub.Tenant(t, "team-c", "visitor", "view")
	visitor := w.browser.NewPerson(t)
	leader, standby := w.systems.Origins[0], w.systems.Origins[1]
	p := visitor.Open(t, leader+placement, page.Options{SelfSigned: true})
	p.WantText("h1", "Log in")
	if p.Count("nav a") > 0 {
		t.Error("the page to log in has links to pages that are refused")
	}
	wantAccessible(p, "login", page.Options{SelfSigned: true})

	p.Expect("status of 401")
	logIn(p, "a token of nobody")
	p.WantText("h1", "Log in")
	p.WantText(".problem", "spaces")
	logIn(p, "eyJhbGciOiJSUzI1NiJ9.e30.bm9ib2R5")
	p.WantText(".problem", "the API server of the hub does not accept this token")
	if page.Eval[string](p, `document.querySelector("#token").value + location.search`) != "" {
		t.Error("the page or its address repeats what was entered")
	}
	wantAccessible(p, "login-refused", page.Options{SelfSigned: true})

	logIn(p, token)
	p.WantText("h1", "team-c/nightly") // Where they wanted to go.
	p.WantText(".who", "system:serviceaccount:team-c:visitor")
	p.WaitForText("#live", "Follows changes.")
	p.Reload()
	p.WantText("h1", "team-c/nightly")
	wantTokenCookie(t, p)
	p.Expect("status of 403")
	if status := p.Go(leader + "/placements/team-a/standby"); status != 403 {
		t.Errorf("the page of another team's placement has the status %d", status)
	}

	// Cookies know hosts, and not ports. The replicas share nothing but the API server.
	other := visitor.Open(t, standby+placement, page.Options{SelfSigned: true})
	other.WantText("h1", "team-c/nightly")
	other.WaitForText("#live", "Follows changes.")
	w.browser.NewPerson(t).Open(t, standby+placement, page.Options{SelfSigned: true}).WantText("h1", "Log in")

	sameOrigin := visitor.Open(t, standby+placement, page.Options{SelfSigned: true})
	sameOrigin.WaitForText("#live", "Follows changes.")
	other.Follow("logging out", func() { other.Click(".who button") })
	other.WantText("h1", "Log in")
	sameOrigin.WaitForText("h1", "Log in") // Nothing of the session is left in another tab.
	if cookies := other.Cookies(); len(cookies) > 0 {
		t.Errorf("cookies after logging out: %+v", cookies)
	}
	p.Go(leader + placement)
	p.WantText("h1", "Log in")
}

// sessionEndsWithItsAccount deletes the ServiceAccount of a session while a page of the session is open.
func sessionEndsWithItsAccount(w *world) {
	t := w.t
	token := w.hub.Tenant(t, "team-c", "leaver", "view")
	p := w.browser.NewPerson(t).Open(t, w.systems.Origins[1]+"/login?to=/placements/team-c/nightly", page.Options{SelfSigned: true})
	logIn(p, token)
	p.WaitForText("#live", "Follows changes.")
	p.Expect("status of 401")
	w.hub.Kubectl(t, "delete", "serviceaccount", "leaver", "-n", "team-c")
	p.WaitForText("#live", "Follows no more changes: log in")
	p.Reload()
	p.WantText("h1", "Log in")
	logIn(p, token)
	p.WantText(".problem", "the API server of the hub does not accept this token")
}

// logIn enters a token.
func logIn(p *page.Page, token string) {
	p.Fill("#token", token)
	p.Follow("logging in", func() { p.Click(".login button") })
}

// wantTokenCookie fails the test unless the browser has the token where scripts and other hosts do not get it.
func wantTokenCookie(t *testing.T, p *page.Page) {
	t.Helper()
	cookies := p.Cookies()
	if len(cookies) != 1 || cookies[0].Name != "__Host-placement-token" || !cookies[0].HTTPOnly || !cookies[0].Secure ||
		cookies[0].SameSite != "Strict" {
		t.Errorf("cookies: %+v", cookies)
	}
	if visible := page.Eval[string](p, "document.cookie"); visible != "" {
		t.Errorf("scripts see the cookies %q", visible)
	}
}
