// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Timeout is how long something may take on a loaded machine.
const Timeout = 60 * time.Second

// interval is how often conditions are checked.
const interval = 50 * time.Millisecond

// Options say how a page is seen. The zero value is a desktop with a light color scheme and JavaScript.
type Options struct {
	Width, Height int64 // CSS pixels
	Dark          bool
	NoScript      bool
	// SelfSigned has the page accept every certificate, such as the one that a hub makes itself.
	SelfSigned bool
}

// Page is a tab of a browser.
type Page struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp knows a tab by its context.

	close func()

	mu       sync.Mutex
	problems []string
	expected []string
}

// Open opens a page and waits until it is loaded. It closes with the test.
func (p *Person) Open(t *testing.T, url string, o Options) *Page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(p.ctx)
	opened := &Page{t: t, ctx: ctx}
	opened.do("opening a tab", func(context.Context, *chromedp.Target) (chromedp.Void, error) { return chromedp.Void{}, nil })
	watched := opened.watch()
	opened.close = sync.OnceFunc(func() {
		cancel()
		watched.Wait()
		opened.wantNoProblem()
	})
	t.Cleanup(opened.close)
	opened.do("emulating", emulate(o))
	opened.Go(url)
	return opened
}

// Look changes how the page is seen.
func (p *Page) Look(o Options) {
	p.t.Helper()
	p.do("emulating", emulate(o))
}

// Close closes the page before the test ends.
func (p *Page) Close() { p.close() }

// emulate sets what the options say.
func emulate(o Options) chromedp.Action[chromedp.Void] {
	width, height := o.Width, o.Height
	if width == 0 {
		width = 1280
	}
	if height == 0 {
		height = 800
	}
	scheme := "light"
	if o.Dark {
		scheme = "dark"
	}
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, viewport := chromedp.EmulateViewport(width, height)(ctx, t)
		_, media := call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
		_, script := call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: o.NoScript})
		_, certificates := call(ctx, t, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: o.SelfSigned})
		return chromedp.Void{}, errors.Join(viewport, media, script, certificates)
	}
}

// watch collects the problems of the page until its context ends.
func (p *Page) watch() *sync.WaitGroup {
	var running sync.WaitGroup
	messages := chromedp.Console(p.ctx)
	running.Go(func() {
		for message, err := range messages {
			if err != nil {
				return // The page is closed.
			}
			if message.IsException() || message.Type == chromedp.ConsoleError {
				p.add(fmt.Sprintf("%s (%s %s)", message, message.Source, message.URL))
			}
		}
	})
	dialogs := chromedp.Events(p.ctx, cdpage.JavascriptDialogOpening)
	running.Go(func() {
		for dialog, err := range dialogs {
			if err != nil {
				return // The page is closed.
			}
			p.add("a dialog has opened: " + dialog.Message)
			_, err := chromedp.Run(p.ctx, func(ctx context.Context, t *chromedp.Target) (cdp.Empty, error) {
				return call(ctx, t, cdpage.HandleJavaScriptDialog, cdpage.HandleJavaScriptDialogParams{Accept: false})
			})
			if err != nil && p.ctx.Err() == nil {
				p.add("closing a dialog: " + err.Error())
			}
		}
	})
	return &running
}

func (p *Page) add(problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, problem)
}

// Expect says that problems with this text are no failure, for example while the server is down.
func (p *Page) Expect(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, text)
}

// Problems returns the exceptions, errors and dialogs so far that are not expected.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.problems), func(problem string) bool {
		return slices.ContainsFunc(p.expected, func(text string) bool { return strings.Contains(problem, text) })
	})
}

func (p *Page) wantNoProblem() {
	for _, problem := range p.Problems() {
		p.t.Errorf("the page has a problem: %s", problem)
	}
}

// do runs steps, and fails the test for an error.
func (p *Page) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Timeout)
	defer cancel()
	if what == "opening a tab" {
		ctx = p.ctx // The tab lives as long as the context of the first call.
	}
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// get runs an action, and fails the test for an error.
func get[T any](p *Page, what string, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Timeout)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
	return value
}

// Go opens another address in the tab, waits until it is loaded, and returns the HTTP status. It fails the test for a response without a page: some
// browsers show an error of their own for a status code without a body, and others an empty window.
func (p *Page) Go(url string) int64 {
	p.t.Helper()
	response := get(p, "opening "+url, chromedp.NavigateResponse(url))
	if response == nil { // Only the fragment has changed.
		return 0
	}
	if response.Status >= http.StatusBadRequest && p.isEmpty() {
		p.t.Errorf("%s: status %d without a page, for which a person sees nothing, or an error of the browser", url, response.Status)
	}
	return response.Status
}

// isEmpty reports whether the page shows nothing.
func (p *Page) isEmpty() bool {
	p.t.Helper()
	return Eval[bool](p, "!document.body || document.body.childNodes.length === 0")
}

// Follow does something that loads another page, and waits until that is loaded.
func (p *Page) Follow(what string, action func()) {
	p.t.Helper()
	loaded := chromedp.Events(p.ctx, cdpage.LoadEventFired)
	action()
	ctx, cancel := context.WithTimeout(p.ctx, Timeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if p.ctx.Err() == nil {
			p.t.Errorf("%s: no page was loaded in time", what)
		}
	})
	defer stop()
	for _, err := range loaded {
		must(p.t, err)
		return
	}
}

// Reload loads the page again.
func (p *Page) Reload() {
	p.t.Helper()
	p.do("reloading", chromedp.Reload())
}

// URL returns the address of the page.
func (p *Page) URL() string {
	p.t.Helper()
	return get(p, "reading the address", chromedp.Location())
}

// Eval evaluates JavaScript in the page, also where the page has JavaScript off, and returns the value.
func Eval[T any](p *Page, script string) T {
	p.t.Helper()
	return get(p, "evaluating "+script, chromedp.Evaluate[T](script))
}

// AwaitString evaluates JavaScript that promises a string.
func AwaitString(p *Page, script string) string {
	p.t.Helper()
	return get(p, "evaluating "+script, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
}

// Text returns the visible text of the first element that a CSS selector matches; "" if there is none.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return Eval[string](p, "(document.querySelector("+Quote(selector)+") || {innerText: ''}).innerText")
}

// Texts returns the visible texts of all elements that a CSS selector matches.
func (p *Page) Texts(selector string) []string {
	p.t.Helper()
	return Eval[[]string](p, "[...document.querySelectorAll("+Quote(selector)+")].map(e => e.innerText)")
}

// Count returns how many elements a CSS selector matches.
func (p *Page) Count(selector string) int {
	p.t.Helper()
	return Eval[int](p, "document.querySelectorAll("+Quote(selector)+").length")
}

// Focused returns the text, or the name, of the element that has the keyboard.
func (p *Page) Focused() string {
	p.t.Helper()
	return Eval[string](p, "(e => e.innerText || e.getAttribute('aria-label') || e.name || e.tagName)(document.activeElement)")
}

// WaitFor waits until a JavaScript expression is true. It fails the test after Timeout.
func (p *Page) WaitFor(what, expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Timeout)
	defer cancel()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		// The page may be loading: then there is no value.
		holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if holds {
			return
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("waiting until %s, on %s: %v; last error: %v; the page says:\n%s", what, p.URL(), ctx.Err(), err, p.Text("body"))
		case <-tick.C:
		}
	}
}

// WaitForText waits until an element that a CSS selector matches has a text in it.
func (p *Page) WaitForText(selector, text string) {
	p.t.Helper()
	p.WaitFor(fmt.Sprintf("%s has the text %q", selector, text), hasText(selector, text))
}

// WantText fails the test unless an element that a CSS selector matches has a text in it now.
func (p *Page) WantText(selector, text string) {
	p.t.Helper()
	if !Eval[bool](p, hasText(selector, text)) {
		p.t.Errorf("%s: no %s has the text %q; the page says:\n%s", p.URL(), selector, text, p.Text("body"))
	}
}

// hasText returns the expression that is true if an element has a text, whatever the white space.
func hasText(selector, text string) string {
	return "[...document.querySelectorAll(" + Quote(selector) + ")].some(e => e.innerText.replace(/\\s+/g, ' ').includes(" + Quote(text) + "))"
}

// Click clicks the first visible element that a CSS selector matches.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.do("clicking "+selector, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// Hover moves the mouse over an element, which a JavaScript expression returns, and scrolls to it.
func (p *Page) Hover(what, element string) {
	p.t.Helper()
	at := Eval[[]float64](p, "(e => { e.scrollIntoView({block: 'center', inline: 'center'}); const box = e.getBoundingClientRect(); "+
		"return [box.left + box.width / 2, box.top + box.height / 2] })("+element+")")
	p.do("pointing at "+what, func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		moved := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: at[0], Y: at[1]}
		_, err := call(ctx, t, input.DispatchMouseEvent, moved)
		return chromedp.Void{}, err
	})
}

// Press presses keys one after the other, such as kb.Tab, or types a text. As on a keyboard, a key types nothing if a script prevents it.
func (p *Page) Press(keys string) {
	p.t.Helper()
	p.do(fmt.Sprintf("pressing %q", keys), func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		for _, key := range keys {
			for _, event := range keyEvents(key) {
				if _, err := call(ctx, t, input.DispatchKeyEvent, event); err != nil {
					return chromedp.Void{}, err
				}
			}
		}
		return chromedp.Void{}, nil
	})
}

// keyEvents returns the events of a key: that it goes down, with the text that it types, and that it goes up. The package kb has the text in an
// event of its own, which arrives even if a script prevents the first.
func keyEvents(key rune) []input.DispatchKeyEventParams {
	var events []input.DispatchKeyEventParams
	for _, event := range kb.Encode(key) {
		if event.Type == kb.KeyChar {
			events[0].Type, events[0].Text, events[0].UnmodifiedText = input.DispatchKeyEventTypeKeyDown, event.Text, event.UnmodifiedText
			continue
		}
		events = append(events, *event)
	}
	return events
}

// Fill replaces the text of a field.
func (p *Page) Fill(selector, text string) {
	p.t.Helper()
	p.do("filling "+selector, chromedp.Focus(chromedp.CSS(selector)), chromedp.SetValue(chromedp.CSS(selector), text))
}

// WantNoOverflow fails the test if the page is wider than the screen.
func (p *Page) WantNoOverflow() {
	p.t.Helper()
	widths := Eval[[]int](p, "[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
	if widths[0] > widths[1] {
		wide := Eval[[]string](p, `[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
			.slice(0, 5).map(e => e.tagName + '.' + e.className)`)
		p.t.Errorf("%s is %d pixels wide on a screen of %d; what stands out: %v", p.URL(), widths[0], widths[1], wide)
	}
}

// maxHeader is the height of the head of a page on a narrow screen, in pixels, of which a person wants to see the content.
const maxHeader = 96

// WantWhole fails the test if an element of a narrow page is wider than the screen or scrolls sideways, if a text is cut, or if the head takes more
// than maxHeader.
func (p *Page) WantWhole() {
	p.t.Helper()
	for _, cut := range Eval[[]string](p, `(hidden => [...document.querySelectorAll("body *")].filter(e =>
		!e.closest(hidden) && e.checkVisibility()).flatMap(e => {
		const box = e.getBoundingClientRect(), style = getComputedStyle(e), what = e.tagName + "." + e.className + ": " + e.innerText?.slice(0, 60);
		if (box.width > innerWidth || box.right > innerWidth + 1 || box.left < -1) return [what + " stands out of the screen"];
		if (style.overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1) return [what + " is cut or scrolls sideways"];
		if (style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none") return [what + " is cut"];
		return [];
	}))("thead, .skip, .offscreen, .matrix i, svg, textarea, input, select, datalist").slice(0, 8)`) {
		p.t.Errorf("%s: %s", p.URL(), cut)
	}
	if height := Eval[float64](p, "document.querySelector('header').getBoundingClientRect().height"); height > maxHeader {
		p.t.Errorf("%s: the head is %v pixels high, want at most %d", p.URL(), height, maxHeader)
	}
}

// WantNoNarrowCells fails the test if a cell of a table is so narrow that its text is broken into many short lines, or that a short name is broken.
func (p *Page) WantNoNarrowCells() {
	p.t.Helper()
	for _, cell := range Eval[[]string](p, `[...document.querySelectorAll("th, td")].filter(e => e.clientWidth < 100 && e.innerText.length > 60)
		.slice(0, 5).map(e => e.clientWidth + " pixels for " + e.innerText)`) {
		p.t.Errorf("%s: a cell is too narrow: %s", p.URL(), cell)
	}
	for _, cell := range Eval[[]string](p, `[...document.querySelectorAll("th[scope=row] bdi, td.name bdi")].filter(e => e.checkVisibility() &&
		/^\S{1,12}$/.test(e.textContent) && e.getClientRects().length > 1).slice(0, 5).map(e => e.textContent)`) {
		p.t.Errorf("%s: the short name %s is broken", p.URL(), cell)
	}
}

// Cookies returns the cookies of the page.
func (p *Page) Cookies() []*network.Cookie {
	p.t.Helper()
	return get(p, "reading cookies", func(ctx context.Context, t *chromedp.Target) ([]*network.Cookie, error) {
		result, err := call(ctx, t, network.GetCookies, network.GetCookiesParams{})
		return result.Cookies, err
	})
}

// Quote returns a text as a JavaScript literal.
func Quote(text string) string {
	literal, err := json.Marshal(text)
	if err != nil {
		panic(err) // A string has a JSON form.
	}
	return string(literal)
}
