// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/browser/page"
)

// pages are all kinds of pages, with the names of their screenshots.
var pages = []struct{ name, path string }{
	{"overview", "/"},
	{"search", "/search?q=eu"},
	{"placement", "/placements/team-a/rollout"},
	{"placement-unsatisfied", "/placements/team-a/standby?cluster=ap2"},
	{"placement-misconfigured", "/placements/team-b/typo"},
	{"placement-scores", "/placements/team-b/training?cluster=us2"},
	{"placement-v1alpha1", "/placements/team-a/ledger?api=v1alpha1&cluster=eu2"},
	{"clusters", "/clusters"},
	{"cluster", "/clusters/gpu1"},
	{"cluster-drain", "/clusters/eu1?drain=true"},
	{"objects", "/objects"},
	{"requests", "/requests"},
	{"workloads", "/workloads"},
	{"not-found", "/placements/team-a/none"},
}

// everyPageIsAccessible runs axe-core on each page in both color schemes, looks for what does not fit on a narrow screen, and takes screenshots.
func everyPageIsAccessible(w *world) {
	t := w.t
	for _, each := range pages {
		t.Run(each.name, func(t *testing.T) {
			p := w.open(t, "/assets/icon.svg", page.Options{})
			p.Expect("status of 404")
			p.Go(w.origin + each.path)
			for _, look := range []struct {
				name    string
				options page.Options
			}{{"light", page.Options{}}, {"dark", page.Options{Dark: true}}, {"narrow", page.Options{Width: 320}}} {
				p.Look(look.options)
				p.WantNoOverflow()
				p.WantAccessible(each.name + ", " + look.name)
				p.Screenshot(each.name + "-" + look.name)
			}
		})
	}
}
