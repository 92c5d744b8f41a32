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
	{"placements", "/placements"},
	{"placements-filtered", "/placements?namespace=team-a&state=Satisfied&sort=-selected"},
	{"placements-none", "/placements?name=nothing&label=%3D"},
	{"placement", "/placements/team-a/rollout"},
	{"placement-unsatisfied", "/placements/team-a/standby?cluster=ap2"},
	{"placement-misconfigured", "/placements/team-b/typo"},
	{"placement-scores", "/placements/team-b/training?cluster=us2"},
	{"placement-v1alpha1", "/placements/team-a/ledger?api=v1alpha1&cluster=eu2"},
	{"placement-fleet", "/placements/team-a/standby/fleet"},
	{"placement-fleet-load", "/placements/team-a/standby/fleet?by=env&colour=load"},
	{"fleet", "/fleet"},
	{"runbooks", "/runbooks"},
	{"runbook", "/runbooks/PlacementHubHasNoLeader"},
	{"clusters", "/clusters"},
	{"sets", "/sets"},
	{"cluster", "/clusters/gpu1"},
	{"cluster-drain", "/clusters/eu1?drain=true"},
	{"cluster-mistake", "/clusters/eu1?drain=true&label=region&taint=gpu%3ANoSelect"},
	{"cluster-member", "/clusters/member-eu1"},
	{"objects", "/objects"},
	{"objects-of-namespace", "/objects?namespace=store"},
	{"object", "/objects/store/Deployment.apps/web"},
	{"requests", "/requests"},
	{"request-denied", "/requests/lab/training"},
	{"request-granted", "/requests/shop/web"},
	{"workloads", "/workloads?namespace=tenant-acme"},
	{"workload", "/workloads/tenant-acme/StatefulSet.apps/postgres-main-db"},
	{"history", "/history"},
	{"history-filtered", "/history?namespace=team-a&cluster=eu1,us1&since=24h"},
	{"history-mistake", "/history?since=yesterday"},
	{"history-placement", "/placements/team-a/standby/history"},
	{"history-cluster", "/clusters/eu3/history"},
	{"history-object", "/objects/store/Deployment.apps/web/history"},
	{"history-request", "/requests/shop/checkout/history"},
	{"not-found", "/placements/team-a/none"},
}

// everyPageIsAccessible runs axe-core on each page in both color schemes, looks for what does not fit on a narrow screen, and takes screenshots.
func everyPageIsAccessible(w *world) {
	t := w.t
	for _, each := range pages {
		t.Run(each.name, func(t *testing.T) {
			p := w.open(t, "/assets/icon.svg", page.Options{})
			p.Expect("status of 40")
			p.Go(w.origin + each.path)
			wantAccessible(p, each.name, page.Options{})
		})
	}
}

// The widths at which pages are looked at: a desktop, a telephone, and the least that WCAG asks for.
const (
	wide      = 1400
	narrow    = 390
	narrowest = 320
)

// wantAccessible looks at a page in both color schemes and on a narrow screen.
func wantAccessible(p *page.Page, name string, o page.Options) {
	for _, look := range []struct {
		name  string
		dark  bool
		width int64
		audit bool
	}{
		{"light", false, wide, true}, {"dark", true, wide, true}, {"narrow", false, narrow, true}, {"narrow-dark", true, narrow, true},
		{"narrowest", false, narrowest, false},
	} {
		o.Dark, o.Width = look.dark, look.width
		p.Look(o)
		p.WantNoOverflow()
		p.WantNoNarrowCells()
		if look.width == narrow {
			p.WantWhole()
		}
		if look.audit {
			p.WantAccessible(name + ", " + look.name)
		}
		p.Screenshot(name + "-" + look.name)
	}
}
