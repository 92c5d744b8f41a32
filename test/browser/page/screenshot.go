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
	return p.picture(filepath.Join("bin", "screenshots", name+".png"), cdpage.CaptureScreenshotParams{Format: cdpage.CaptureScreenshotFormatPng})
}

// quality is that of the pictures in the documentation, in percent.
const quality = 80

// Picture writes a picture of the whole page to docs/pictures/NAME.webp, in less space than a Screenshot.
func (p *Page) Picture(name string) {
	p.t.Helper()
	of := int64(quality)
	webp := cdpage.CaptureScreenshotParams{Format: cdpage.CaptureScreenshotFormatWebp, Quality: &of}
	p.picture(filepath.Join("docs", "pictures", name+".webp"), webp)
}

// picture writes a picture of the whole page to a path in the checkout, which it returns.
func (p *Page) picture(to string, format cdpage.CaptureScreenshotParams) string {
	p.t.Helper()
	whole := true
	format.CaptureBeyondViewport = &whole
	picture := get(p, "taking a screenshot", func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		result, err := call(ctx, t, cdpage.CaptureScreenshot, format)
		return result.Data, err
	})
	root, err := checkout.Root()
	must(p.t, err)
	path := filepath.Join(root, to)
	must(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(p.t, os.WriteFile(path, picture, 0o644))
	return path
}
