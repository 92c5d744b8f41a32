// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/placement-hub/placement-hub/test/browser/axe"
)

// Violation is a rule of axe-core that a page violates.
type Violation struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML    string `json:"html"`
		Target  []any  `json:"target"` // CSS selectors; a list of them for an element in a shadow tree
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// String describes the violation and the first nodes that have it.
func (v Violation) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s): %s; nodes: %d", v.ID, v.Impact, v.Help, len(v.Nodes))
	for _, node := range v.Nodes[:min(len(v.Nodes), 5)] {
		fmt.Fprintf(&text, "\n  %v\n    %s\n    %s", node.Target, node.HTML, strings.ReplaceAll(node.Summary, "\n", "\n    "))
	}
	return text.String()
}

// audit runs the rules of WCAG 2.2 A and AA, and best practices. Only the rule about the size of targets is off unless it is named.
const audit = `axe.run(document, {
	resultTypes: ["violations"],
	runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
	rules: {"target-size": {enabled: true}},
}).then(results => JSON.stringify({rules: results.passes.length, violations: results.violations}))`

// Audit runs axe-core on the page as it is now, and returns what it violates. The rules run in an isolated world, which shares the document with
// the page, but neither its JavaScript nor its Content-Security-Policy.
func (p *Page) Audit() []Violation {
	p.t.Helper()
	text := get(p, "running axe-core", func(ctx context.Context, t *chromedp.Target) (string, error) {
		tree, err := call(ctx, t, cdpage.GetFrameTree, cdp.Empty{})
		if err != nil {
			return "", err
		}
		world, err := call(ctx, t, cdpage.CreateIsolatedWorld, cdpage.CreateIsolatedWorldParams{
			FrameID: tree.FrameTree.Frame.ID, WorldName: "axe",
		})
		if err != nil {
			return "", err
		}
		in := func(e *runtime.EvaluateParams) { e.ContextID = world.ExecutionContextID }
		// A world of this name keeps its globals until another page is loaded.
		if present, err := chromedp.Evaluate[bool](`typeof axe === "object"`, in)(ctx, t); err != nil || !present {
			if _, err := chromedp.Evaluate[bool](axe.Source+"\n;true", in)(ctx, t); err != nil {
				return "", fmt.Errorf("injecting axe-core: %w", err)
			}
		}
		return chromedp.Evaluate[string](audit, in, chromedp.EvalAwaitPromise)(ctx, t)
	})
	var results struct {
		Rules      int         `json:"rules"`
		Violations []Violation `json:"violations"`
	}
	must(p.t, json.Unmarshal([]byte(text), &results))
	if results.Rules == 0 {
		p.t.Fatalf("axe-core has checked nothing on %s: %s", p.URL(), text)
	}
	return results.Violations
}

// WantAccessible fails the test for each violation.
func (p *Page) WantAccessible(what string) {
	p.t.Helper()
	for _, violation := range p.Audit() {
		p.t.Errorf("%s (%s): %s", what, p.URL(), violation)
	}
}
