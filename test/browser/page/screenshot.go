// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"os"
	"path/filepath"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/placement-hub/placement-hub/test/browser/checkout"
)

// Screenshot writes a picture of the whole page to bin/screenshots/NAME.png, and returns its path.
func (p *Page) Screenshot(name string) string {
	p.t.Helper()
	whole := true
	picture := get(p, "taking a screenshot", func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		result, err := call(ctx, t, cdpage.CaptureScreenshot, cdpage.CaptureScreenshotParams{
			Format: cdpage.CaptureScreenshotFormatPng, CaptureBeyondViewport: &whole,
		})
		return result.Data, err
	})
	root, err := checkout.Root()
	must(p.t, err)
	path := filepath.Join(root, "bin", "screenshots", name+".png")
	must(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(p.t, os.WriteFile(path, picture, 0o644))
	return path
}
