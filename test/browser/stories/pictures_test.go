// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"flag"
	"testing"

	"github.com/placement-hub/placement-hub/test/browser/page"
)

// pictures makes the pictures of the documentation anew; make pictures sets it.
var pictures = flag.Bool("pictures", false, "write the pictures of docs/pictures")

// takePictures writes the pictures of the documentation, of the samples as they are before other stories change them.
func takePictures(t *testing.T, w *world) {
	t.Helper()
	for name, path := range map[string]string{
		"overview": "/", "placement": "/placements/team-a/standby?cluster=ap2", "cluster": "/clusters/eu1?drain=true",
	} {
		p := w.open(t, path, page.Options{Width: 1100, Height: 700})
		p.WaitFor("the page", `document.querySelector("main h1") !== null`)
		p.Picture(name)
	}
}
