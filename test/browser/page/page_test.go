// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// site has small pages, with the Content-Security-Policy of the dashboard.
func site(t *testing.T) string {
	t.Helper()
	documents := map[string]string{
		"/": `<!doctype html><html lang="en"><title>Start</title><link rel="stylesheet" href="/style.css"><main><h1>Start</h1>
			<p id="script">no script</p><noscript><p>JavaScript is off</p></noscript>
			<form action="/found"><label>Search <input name="q"></label><button>Find</button></form>
			<a href="/other">Other</a></main><script src="/script.js"></script>`,
		"/other":  `<!doctype html><html lang="en"><title>Other</title><main><h1>Other page</h1></main>`,
		"/bad":    `<!doctype html><html><title></title><img src="/picture"><p style="color:#ccc">pale</p>`,
		"/inline": `<!doctype html><html lang="en"><title>Inline</title><script>document.title = 'ran'</script>`,
		"/throws": `<!doctype html><html lang="en"><title>Throws</title><script src="/throws.js"></script>`,
		"/asks":   `<!doctype html><html lang="en"><title>Asks</title><script src="/asks.js"></script>`,
		"/wide":   `<!doctype html><html lang="en"><title>Wide</title><link rel="stylesheet" href="/wide.css"><div>wide</div>`,
		"/style.css": `:root { color-scheme: light dark } body { color: #111; background: #fff }
			@media (prefers-color-scheme: dark) { body { color: #eee; background: #000 } }`,
		"/wide.css": `div { width: 500px }`,
		"/script.js": `document.getElementById('script').innerText = 'a script has run'
			document.addEventListener('keydown', e => { if (e.key === '/') e.preventDefault() })`,
		"/throws.js": `throw new Error('broken script')`,
		"/asks.js":   `alert('injected')`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		switch {
		case r.URL.Path == "/found":
			fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Found</title><main><h1>Found</h1><p id="q">%s</p></main>`, r.FormValue("q"))
			return
		case r.URL.Path == "/visits":
			if _, err := r.Cookie("visited"); err != nil {
				http.SetCookie(w, &http.Cookie{Name: "visited", Value: "yes", HttpOnly: true})
				fmt.Fprint(w, `<!doctype html><html lang="en"><title>Visit</title><h1>first visit</h1>`)
				return
			}
			fmt.Fprint(w, `<!doctype html><html lang="en"><title>Visit</title><h1>welcome back</h1>`)
			return
		case strings.HasSuffix(r.URL.Path, ".css"):
			w.Header().Set("Content-Type", "text/css")
		case strings.HasSuffix(r.URL.Path, ".js"):
			w.Header().Set("Content-Type", "text/javascript")
		case documents[r.URL.Path] == "":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `<!doctype html><html lang="en"><title>Not found</title><main><h1>There is no such page</h1></main>`)
			return
		}
		fmt.Fprint(w, documents[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestPages has one browser for all parts.
func TestPages(t *testing.T) {
	browser := Start(t)
	url := site(t)
	open := func(t *testing.T, path string, o Options) *Page {
		t.Helper()
		p := browser.NewPerson(t).Open(t, url+path, o)
		p.Expect("favicon.ico")
		return p
	}

	t.Run("a page is read, searched and left", func(t *testing.T) {
		p := open(t, "/", Options{})
		p.WantText("h1", "Start")
		p.WaitForText("#script", "a script has run")
		p.Fill("input", "eu1")
		p.Follow("searching", func() { p.Click("button") })
		if got := p.Text("#q"); got != "eu1" || !strings.HasSuffix(p.URL(), "/found?q=eu1") {
			t.Errorf("found %q at %s", got, p.URL())
		}
		if status := p.Go(url + "/none"); status != http.StatusNotFound {
			t.Errorf("status %d", status)
		}
		p.Expect("404")
		p.WantText("h1", "There is no such page")
		Eval[string](p, "document.body.replaceChildren(), ''")
		if !p.isEmpty() {
			t.Error("a page without content is not empty")
		}
	})
	t.Run("the keyboard alone", func(t *testing.T) {
		p := open(t, "/", Options{})
		p.Press(kb.Tab)
		p.Press("us1")
		if got := Eval[string](p, "document.querySelector('input').value"); got != "us1" {
			t.Errorf("typed %q", got)
		}
		p.Press("/") // A script of the page prevents it.
		if got := Eval[string](p, "document.querySelector('input').value"); got != "us1" {
			t.Errorf("the key has typed what was prevented: %q", got)
		}
		p.Follow("searching", func() { p.Press(kb.Enter) })
		if got := p.Texts("#q"); len(got) != 1 || got[0] != "us1" {
			t.Errorf("found %q", got)
		}
		p.Go(url + "/")
		p.Press(kb.Tab)
		p.Press(kb.Tab)
		if got := p.Focused(); got != "Find" {
			t.Errorf("the keyboard is at %q", got)
		}
	})
	t.Run("without JavaScript", func(t *testing.T) {
		p := open(t, "/", Options{NoScript: true})
		p.WantText("#script", "no script")
		p.WantText("p", "JavaScript is off")
	})
	t.Run("color schemes", func(t *testing.T) {
		p := open(t, "/", Options{Dark: true})
		for dark, want := range map[bool]string{false: "rgb(255, 255, 255)", true: "rgb(0, 0, 0)"} {
			p.Look(Options{Dark: dark})
			if got := Eval[string](p, "getComputedStyle(document.body).backgroundColor"); got != want {
				t.Errorf("dark: %t: the background is %s, want %s", dark, got, want)
			}
		}
	})
	t.Run("a narrow screen", func(t *testing.T) {
		p := open(t, "/other", Options{Width: 320})
		if width := Eval[int](p, "innerWidth"); width != 320 {
			t.Errorf("the window is %d wide", width)
		}
		p.WantNoOverflow()
	})
	t.Run("cookies of a person", func(t *testing.T) {
		person := browser.NewPerson(t)
		first := person.Open(t, url+"/visits", Options{})
		first.Expect("favicon.ico")
		first.WantText("h1", "first visit")
		again := person.Open(t, url+"/visits", Options{})
		again.Expect("favicon.ico")
		again.WantText("h1", "welcome back")
		if cookies := again.Cookies(); len(cookies) != 1 || cookies[0].Name != "visited" || !cookies[0].HTTPOnly {
			t.Errorf("cookies: %+v", cookies)
		}
		other := open(t, "/visits", Options{})
		other.WantText("h1", "first visit")
	})
	t.Run("problems", func(t *testing.T) {
		for path, want := range map[string]string{
			"/inline": "Content Security Policy", "/throws": "broken script", "/asks": "a dialog has opened: injected",
		} {
			p := open(t, path, Options{})
			wantProblem(t, p, want)
			p.Expect("") // No failure of this test.
		}
	})
	t.Run("axe-core", func(t *testing.T) {
		for _, dark := range []bool{false, true} {
			open(t, "/", Options{Dark: dark}).WantAccessible("the page of the test")
		}
		p := open(t, "/bad", Options{})
		p.Expect("404")
		p.Expect("Content Security Policy")
		found := map[string]Violation{}
		for _, violation := range p.Audit() {
			found[violation.ID] = violation
		}
		for _, rule := range []string{"image-alt", "html-has-lang", "document-title"} {
			if _, violated := found[rule]; !violated {
				t.Errorf("no violation of %s: %v", rule, found)
			}
		}
		if nodes := found["image-alt"].Nodes; len(nodes) != 1 || fmt.Sprint(nodes[0].Target) != "[img]" ||
			!strings.Contains(found["image-alt"].String(), "<img src=") {
			t.Errorf("nodes without an alternative: %v", found["image-alt"])
		}
	})
	t.Run("screenshots", func(t *testing.T) {
		path := open(t, "/wide", Options{Width: 640, Height: 360}).Screenshot("test/wide")
		file, err := os.Open(path)
		must(t, err)
		defer file.Close() //nolint:errcheck // It was read.
		picture, err := png.Decode(file)
		must(t, err)
		if size := picture.Bounds(); size.Dx() != 640 || size.Dy() < 360 {
			t.Errorf("the picture is %v", size)
		}
	})
}

// wantProblem waits until a page has a problem.
func wantProblem(t *testing.T, p *Page, want string) {
	t.Helper()
	deadline := time.Now().Add(Timeout)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for !strings.Contains(strings.Join(p.Problems(), "\n"), want) {
		if time.Now().After(deadline) {
			t.Fatalf("no problem with %q: %q", want, p.Problems())
		}
		<-tick.C
	}
}
