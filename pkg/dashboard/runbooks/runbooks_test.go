// SPDX-License-Identifier: Apache-2.0

package runbooks

import (
	"regexp"
	"strings"
	"testing"
)

// Every runbook is rendered whole: no mark of Markdown is left, and each link to another runbook leads to one, at a section that it has.
func TestEveryRunbookIsRendered(t *testing.T) {
	if len(all()) < 50 {
		t.Fatalf("there are %d runbooks", len(all()))
	}
	code := regexp.MustCompile(`(?s)<(code|pre)[^>]*>.*?</(code|pre)>`)
	tag := regexp.MustCompile(`<[^>]*>`)
	own := regexp.MustCompile(`href="/runbooks/?([^"#]*)(?:#([^"]*))?"`)
	external := regexp.MustCompile(`href="https://github\.com/placement-hub/placement-hub/blob/main/([^"#]*)`)
	for name, page := range all() {
		html := string(page.HTML)
		text := tag.ReplaceAllString(code.ReplaceAllString(html, ""), "")
		for _, mark := range []string{"](", "`", "\n#", "|", "**", "---"} {
			if strings.Contains(text, mark) {
				t.Errorf("%s has the mark %q: %s", name, mark, text)
			}
		}
		if page.Title == "" {
			t.Errorf("%s has no title", name)
		}
		for _, link := range own.FindAllStringSubmatch(html, -1) {
			to, has := Find(link[1])
			if !has || link[2] != "" && !strings.Contains(string(to.HTML), `id="`+link[2]+`"`) {
				t.Errorf("%s leads to %s, which is no runbook or has no such section", name, link[0])
			}
		}
		for _, link := range external.FindAllStringSubmatch(html, -1) {
			if strings.Contains(link[1], "..") {
				t.Errorf("%s leads to %s", name, link[1])
			}
		}
	}
}

func TestRender(t *testing.T) {
	const text = "# Name\n\nA `<b>` and\n[more](../explain.md#why).\n\n1. First\n   goes on.\n2. See [Other](Other.md#Reason) & all.\n\n" +
		"## Reason\n\n| a | b |\n| --- | --- |\n| [x](X.md) | `y` |\n\n```\nkubectl <get>\n```\n"
	got := render(text)
	const want = "<p>A <code>&lt;b&gt;</code> and " +
		`<a href="https://github.com/placement-hub/placement-hub/blob/main/docs/explain.md#why" rel="noreferrer">more</a>.</p>` + "\n" +
		"<ol><li>First goes on.</li>\n" + `<li>See <a href="/runbooks/Other#Reason" rel="noreferrer">Other</a> &amp; all.</li>` + "\n</ol>\n" +
		`<h2 id="Reason">Reason</h2>` + "\n" +
		`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table class="items stacked"><thead><tr>` +
		`<th scope="col">a</th><th scope="col">b</th></tr></thead><tbody>` + "\n" +
		`<tr><td data-label="a"><a href="/runbooks/X" rel="noreferrer">x</a></td><td data-label="b"><code>y</code></td></tr>` + "\n" +
		"</tbody></table></div>\n" + `<pre class="patch" tabindex="0">kubectl &lt;get&gt;</pre>` + "\n"
	if got.Title != "Name" || string(got.HTML) != want {
		t.Errorf("got %q\n%s\nwant\n%s", got.Title, got.HTML, want)
	}
}

func TestLink(t *testing.T) {
	for _, tc := range []struct{ name, reason, want string }{
		{"PlacementSatisfied", "NoIntersection", "/runbooks/PlacementSatisfied#NoIntersection"}, {"RemovalHeld", "", "/runbooks/RemovalHeld"},
		{"Nothing", "x", ""}, {"", "", ""},
	} {
		if got := Link(tc.name, tc.reason); got != tc.want {
			t.Errorf("Link(%q, %q) = %q, want %q", tc.name, tc.reason, got, tc.want)
		}
	}
}
