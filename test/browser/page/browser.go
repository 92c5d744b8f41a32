// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"

	"github.com/placement-hub/placement-hub/test/browser/checkout"
	"github.com/placement-hub/placement-hub/test/browser/chromium"
)

// Browser is a running browser.
type Browser struct {
	Version string

	ctx context.Context //nolint:containedctx // chromedp knows a browser by its context.
}

// Start starts the browser that this machine has for tests. It ends with the test.
func Start(t *testing.T) *Browser {
	t.Helper()
	root, err := checkout.Root()
	must(t, err)
	found, err := chromium.Find(t.Context(), root)
	must(t, err)
	allocator, end := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(found.Path),
		chromedp.NoSandbox, // Chromium's sandbox needs rights that containers do not have; the pages are our own.
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.UserDataDir(t.TempDir()),
	)...)
	t.Cleanup(end)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &Browser{ctx: ctx}
	running, err := chromedp.Run(ctx, func(ctx context.Context, t *chromedp.Target) (browser.GetVersionResult, error) {
		return call(ctx, t, browser.GetVersion, cdp.Empty{})
	})
	if err != nil {
		t.Fatalf("starting %s (%s): %v", found.Path, found.Source, err)
	}
	b.Version = running.Product
	return b
}

// Person is somebody with a browser: their pages have the same cookies, which no other person's pages have.
type Person struct {
	ctx context.Context //nolint:containedctx // As above.
}

// NewPerson returns a person without cookies. Their pages close with the test.
func (b *Browser) NewPerson(t *testing.T) *Person {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(fmt.Errorf("opening a browser context: %w", err))
	}
	return &Person{ctx: ctx}
}

// call sends a command of the DevTools protocol.
func call[P, R any](ctx context.Context, t *chromedp.Target, command cdp.Command[P, R], parameters P) (R, error) {
	result, err := cdp.Call(ctx, t, command, parameters)
	if err != nil {
		return result, fmt.Errorf("%s: %w", command.Method, err)
	}
	return result, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
