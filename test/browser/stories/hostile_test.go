// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/browser/page"
)

// Texts of somebody who wants to harm those who read them: markup, an attribute that ends, a template, a link, and the letters that write from
// right to left.
const (
	markup    = `<img src=x onerror=alert(1)><script>alert(2)</script>`
	attribute = `"><svg onload=alert(3)>' onmouseover='alert(4)`
	leftwards = "safe\u202egnp.exe\u2066x"
	hebrew    = "מרכז"
)

// hostileTextsStayInert writes hostile texts everywhere where the API server takes them, and opens every page that shows them.
func hostileTextsStayInert(w *world) {
	t := w.t
	long := strings.Repeat("very-long-name.", 17)[:253-1] + "z" // As long as the name of a Placement may be.
	label, longCluster := strings.Repeat("l", 63), strings.Repeat("c", 63)
	w.hub.Apply(t, hostileCluster(t, longCluster, label))
	w.hub.Apply(t, hostileCluster(t, "hostile", label))
	status := must(json.Marshal(map[string]any{"status": map[string]any{
		"clusterClaims": []any{
			map[string]any{"name": "markup.example.com", "value": markup}, map[string]any{"name": "attribute.example.com", "value": attribute},
			map[string]any{"name": "bidi.example.com", "value": leftwards}, map[string]any{"name": "hebrew.example.com", "value": hebrew},
		},
		"conditions": []any{map[string]any{
			"type": "ManagedClusterConditionAvailable", "status": "False", "reason": "Hostile", "lastTransitionTime": "2026-01-01T00:00:00Z",
			"message": markup + attribute + leftwards + strings.Repeat("w", 300),
		}},
	}}))
	for _, cluster := range []string{longCluster, "hostile"} {
		w.hub.Kubectl(t, "patch", "managedcluster", cluster, "--subresource=status", "--type=merge", "-p", status)
	}
	w.hub.Apply(t, placement("team-b", long, must(json.Marshal(map[string]any{
		"clusterSets": []string{"staging"},
		"predicates": []any{map[string]any{"requiredClusterSelector": map[string]any{"claimSelector": map[string]any{"matchExpressions": []any{
			map[string]any{"key": "markup.example.com", "operator": "In", "values": []string{markup, attribute, leftwards}},
		}}}}},
	}))))
	escaped := url.QueryEscape(markup + attribute + leftwards)
	visited := w.open(t, "/placements/team-b/"+long, page.Options{})
	visited.WaitForText("#summary", "PlacementSatisfied")
	for i, path := range []string{
		"/", "/clusters", "/clusters?name=" + escaped, "/clusters/" + longCluster, "/clusters/hostile", "/clusters/hostile?drain=true",
		"/clusters/hostile?label=" + escaped, "/clusters/hostile?taint=" + escaped, "/clusters/" + escaped, "/placements/team-b/" + long,
		"/placements/team-b/" + long + "?cluster=hostile", "/placements/team-b/" + long + "?cluster=" + escaped,
		"/placements/team-b/" + long + "?verdict=" + escaped + "&name=" + escaped + "&api=v1beta1", "/placements/team-b/" + long + "?api=" + escaped,
		"/placements/" + escaped + "/" + escaped, "/search?q=" + escaped, "/search?q=very-long", "/?namespace=" + escaped,
		"/objects?namespace=" + escaped, "/requests?namespace=" + escaped, "/workloads?namespace=" + escaped + "&name=" + escaped,
		"/workloads/team-a/" + escaped + "/" + escaped, "/" + escaped, "/clusters?label=" + escaped + "&set=" + escaped + "&sort=" + escaped,
		"/placements?name=" + escaped + "&cause=" + escaped, "/fleet?by=markup.example.com", "/fleet?by=" + escaped + "&colour=" + escaped,
		"/placements/team-b/" + long + "/fleet?by=attribute.example.com", "/runbooks/" + escaped,
		"/history", "/history?cluster=" + escaped + "&since=" + escaped + "&namespace=team-b", "/clusters/" + longCluster + "/history",
		"/placements/team-b/" + long + "/history", "/placements/team-b/" + long + "/history?cluster=" + escaped, "/clusters/" + escaped + "/history",
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			p := w.open(t, "/assets/icon.svg", page.Options{Width: 320})
			p.Expect("status of 4")
			p.Go(w.origin + path)
			wantInert(t, p)
		})
	}
	shown := w.open(t, "/clusters/hostile", page.Options{})
	for _, text := range []string{markup, attribute, "safe\ufffdgnp.exe\ufffdx"} {
		shown.WantText("#cluster", text)
	}
	fleet := w.open(t, "/fleet?by=hebrew.example.com", page.Options{})
	if !page.Eval[bool](fleet, `(cell => {
		const count = document.createRange();
		count.selectNodeContents(cell.lastChild);
		return cell.innerText === `+page.Quote(hebrew+" 2")+` &&
			count.getBoundingClientRect().left >= cell.querySelector("bdi").getBoundingClientRect().right - 1;
	})([...document.querySelectorAll("figcaption")].find(c => c.querySelector("bdi")))`) {
		t.Errorf("a value from right to left swallows the count behind it: %q", fleet.Texts("figcaption"))
	}
	for _, cluster := range []string{longCluster, "hostile"} {
		w.hub.Kubectl(t, "delete", "managedcluster", cluster, "--wait=false")
	}
	w.hub.Kubectl(t, "delete", "placement.cluster.open-cluster-management.io", "-n", "team-b", long)
}

// wantInert fails the test if a text of the page has become a part of it, or writes over what stands beside it.
func wantInert(t *testing.T, p *page.Page) {
	t.Helper()
	for _, injected := range page.Eval[[]string](p, `[
		...[...document.querySelectorAll("img, iframe, object, embed, base, style, script:not([src='/assets/app.js'])")],
		...[...document.querySelectorAll("*")].filter(e => [...e.attributes].some(a => a.name.startsWith("on") || a.name === "style")),
		...[...document.querySelectorAll("a[href]")].filter(a => new URL(a.getAttribute("href"), location.href).origin !== location.origin),
		...[...document.querySelectorAll("form")].filter(f => new URL(f.action, location.href).origin !== location.origin),
	].map(e => e.outerHTML.slice(0, 200))`) {
		t.Errorf("%s has what no template has: %s", p.URL(), injected)
	}
	if page.Eval[bool](p, `/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(document.documentElement.outerHTML)`) {
		t.Errorf("%s has characters that change the direction of the text around them", p.URL())
	}
	p.WantNoOverflow()
}

// hostileCluster returns a ManagedCluster with labels as long as they may be and hostile annotations.
func hostileCluster(t *testing.T, name, label string) string {
	t.Helper()
	return must(json.Marshal(map[string]any{
		"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",
		"metadata": map[string]any{
			"name":        name,
			"labels":      map[string]string{"cluster.open-cluster-management.io/clusterset": "staging", label: label},
			"annotations": map[string]string{"note": markup + attribute + leftwards},
		},
		"spec": map[string]any{
			"hubAcceptsClient": true,
			"taints":           []any{map[string]any{"key": label, "value": label, "effect": "NoSelect", "timeAdded": "2026-01-01T00:00:00Z"}},
		},
	}))
}

// must returns a text that can always be made.
func must(text []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(text)
}
