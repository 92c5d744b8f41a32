// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"fmt"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/browser/page"
)

// The fleet of largeFleetIsReadable, beside the samples.
const (
	largeFleet      = 500
	largePlacements = 90
	// tallest is the height of an overview in pixels at the width of a desktop: about three screens.
	tallest = 3200
)

// largeFleetIsReadable looks at the pages of a fleet of more than 500 clusters, most of which no agent reports, as an administrator and as a tenant.
func largeFleetIsReadable(w *world) {
	t := w.t
	w.hub.Apply(t, largeWorld())
	p := w.open(t, "/placements/bulk/p00", page.Options{})
	p.WaitForText("#summary", "Predicate")

	tenant, origin := w.browser.NewPerson(t), w.systems.Origins[0]
	secure := page.Options{SelfSigned: true}
	logIn(tenant.Open(t, origin+"/login", secure), w.hub.Tenant(t, "bulk", "editor", "edit"))
	for _, each := range []struct {
		name, path string
		admin      bool
		want       string
	}{
		{"overview", "/", true, "Needs attention"},
		{"clusters", "/clusters", true, "1–50 of"},
		{"placements", "/placements", true, "1–50 of"},
		{"sets", "/sets", true, "bulk"},
		{"placement", "/placements/bulk/p00", true, "of 500 clusters"},
		{"fleet", "/placements/bulk/p00/fleet", true, "region-4 100"},
		{"cluster-drain", "/clusters/eu1?drain=true", true, "team-a/payments"},
		{"tenant-overview", "/", false, "Placements"},
		{"tenant-placements", "/placements", false, "1–50 of 90"},
		{"tenant-placement", "/placements/bulk/p00", false, "500 clusters"},
		{"tenant-fleet", "/placements/bulk/p00/fleet", false, "You may not list clusters"},
	} {
		t.Run(each.name, func(t *testing.T) {
			who, at, o := w.admin, w.origin, page.Options{}
			if !each.admin {
				who, at, o = tenant, origin, secure
			}
			p := who.Open(t, at+"/assets/icon.svg", o)
			p.Expect("status of 40")
			p.Go(at + each.path)
			p.WantText("main", each.want)
			wantAccessible(p, "large-"+each.name, o)
			p.Look(page.Options{SelfSigned: o.SelfSigned, Width: wide})
			if height := page.Eval[int](p, `document.documentElement.scrollHeight`); strings.HasSuffix(each.name, "overview") && height > tallest {
				t.Errorf("the overview is %d pixels tall", height)
			}
		})
	}
}

// largeWorld returns a namespace with a set of its own, and Placements that want a zone that few clusters have, or none.
func largeWorld() string {
	objects := []string{
		`{apiVersion: v1, kind: Namespace, metadata: {name: bulk}}`,
		`{apiVersion: cluster.open-cluster-management.io/v1beta2, kind: ManagedClusterSet, metadata: {name: bulk},
			spec: {clusterSelector: {selectorType: ExclusiveClusterSetLabel}}}`,
		`{apiVersion: cluster.open-cluster-management.io/v1beta2, kind: ManagedClusterSetBinding, metadata: {name: bulk, namespace: bulk},
			spec: {clusterSet: bulk}}`,
	}
	for i := range largeFleet {
		objects = append(objects, fmt.Sprintf(`{apiVersion: cluster.open-cluster-management.io/v1, kind: ManagedCluster, metadata: {name: bulk-%03d,
			labels: {cluster.open-cluster-management.io/clusterset: bulk, region: region-%d, zone: zone-%02d}}, spec: {hubAcceptsClient: true}}`,
			i, i%5, i%40))
	}
	for i := range largePlacements {
		objects = append(objects, strings.TrimSuffix(placement("bulk", fmt.Sprintf("p%02d", i), fmt.Sprintf(
			`{numberOfClusters: 3, predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {zone: zone-%02d}}}}]}`, i)), "\n"))
	}
	return strings.ReplaceAll(strings.Join(objects, "\n---\n"), "\t", " ")
}
