// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/browser/hub"
	"github.com/placement-hub/placement-hub/test/browser/page"
)

// world is the hub of all stories, the browser, and the administrator, who is logged in.
type world struct {
	t       *testing.T // of the story
	hub     *hub.Hub
	systems *hub.Systems
	browser *page.Browser
	admin   *page.Person
	origin  string       // of the administrator's dashboard
	runs    *page.Person // who looks at the dashboard of placement run
}

// TestDashboard tells the stories one after the other. That of the restart is the last one.
func TestDashboard(t *testing.T) {
	w := &world{browser: page.Start(t), hub: hub.Start(t)}
	t.Logf("the browser is %s", w.browser.Version)
	w.admin, w.runs = w.browser.NewPerson(t), w.browser.NewPerson(t)
	opened := w.admin.Open(t, w.hub.Dashboard(t, w.hub.Kubeconfig), page.Options{})
	w.origin = strings.TrimSuffix(opened.URL(), "/")
	if *pictures {
		takePictures(t, w)
	}
	w.systems = w.hub.StartSystems(t)
	w.systems.ApplySamples(t)
	for _, story := range []struct {
		name string
		tell func(w *world)
	}{
		{"the URL opens one browser, once", urlOpensOnce},
		{"a person finds out why a placement is not satisfied, and what would satisfy it", whyNotSatisfied},
		{"a cluster that is relabelled moves", relabelledClusterMoves},
		{"a held removal is released", heldRemovalIsReleased},
		{"an edit is previewed", editIsPreviewed},
		{"a what-if shows what would move, and writes nothing", whatIfWritesNothing},
		{"a person finds out what happened to a decision, and what would undo it", whatHappenedToTheDecision},
		{"a tenant sees only what is theirs", tenantSeesOwnThings},
		{"a tenant logs in with a token, on both replicas, and out", tenantLogsIn},
		{"a session ends with its ServiceAccount", sessionEndsWithItsAccount},
		{"a person finds out why an object is not in a cluster", whyNotOnThatCluster},
		{"a person finds out what a cluster request lacks", whatTheRequestLacks},
		{"a person finds out which nodes a workload may use", whichNodeFits},
		{"the clause of a cell needs no room below the table", clausesNeedNoRoom},
		{"the keyboard is enough", keyboardIsEnough},
		{"JavaScript is not needed", javaScriptIsNotNeeded},
		{"many tabs are open", manyTabsAreOpen},
		{"an address is wrong", wrongAddresses},
		{"hostile names and texts stay inert", hostileTextsStayInert},
		{"every page is accessible, narrow and wide, light and dark", everyPageIsAccessible},
		{"every page of a tenant is accessible, narrow and wide, light and dark", everyPageOfATenantIsAccessible},
		{"the pages of a large fleet are readable", largeFleetIsReadable},
		{"the hub restarts while a page is open", hubRestarts},
	} {
		t.Run(story.name, func(t *testing.T) {
			told := *w
			told.t = t
			story.tell(&told)
		})
	}
}

// open opens a page of the administrator.
func (w *world) open(t *testing.T, path string, o page.Options) *page.Page {
	t.Helper()
	return w.admin.Open(t, w.origin+path, o)
}

// row is the expression for the text of a row of the matrix, in one line.
func row(cluster string) string {
	return `([...document.querySelectorAll("#matrix tbody tr")].find(r => r.querySelector("th").innerText === ` + page.Quote(cluster) +
		`) || {textContent: ""}).textContent.replace(/\s+/g, " ")`
}

// urlOpensOnce shows that the URL is of no use for somebody who finds it later, and that the cookie is no prey of scripts.
func urlOpensOnce(w *world) {
	t := w.t
	url := w.hub.URL // That of placement run, which nobody has opened yet.
	first := w.runs.Open(t, url, page.Options{})
	first.WantText("h1", "Overview")
	if strings.Contains(first.URL(), "token") {
		t.Errorf("the token stays in the address: %s", first.URL())
	}
	if cookies := first.Cookies(); len(cookies) != 1 || !cookies[0].HTTPOnly || cookies[0].SameSite != "Strict" {
		t.Errorf("cookies: %+v", cookies)
	}
	second := w.browser.NewPerson(t).Open(t, url, page.Options{})
	second.Expect("401")
	second.WantText(".problem", "open the URL that the command has printed")
	if second.Count("nav a") > 0 || strings.Contains(second.Text("body"), "team-") {
		t.Errorf("a second browser sees:\n%s", second.Text("body"))
	}
}

// whyNotSatisfied begins where a person begins: something is wrong, and the overview has it.
func whyNotSatisfied(w *world) {
	t := w.t
	p := w.open(t, "/", page.Options{})
	p.WaitForText("[data-part=attention] tr", "1 Placement Unsatisfied 1 cluster decisions unscheduled; 1 of 10 clusters in scope selected")
	p.Follow("the link of the placement", func() { p.Click(`[data-part=attention] a[href="/placements/team-a/standby"]`) })
	p.WantText("#summary tr", "PlacementSatisfied False NotAllDecisionsScheduled")
	p.WantText("#summary .causes tr", "Taint")
	if got := page.Eval[string](p, row("ap1")); !strings.Contains(got, "Selected") {
		t.Errorf("the row of ap1: %s", got)
	}
	got := page.Eval[string](p, row("ap2"))
	for _, part := range []string{"Taint", "unreachable", "passes"} { // It passes the predicate, and the taint keeps it out.
		if !strings.Contains(got, part) {
			t.Errorf("the row of ap2 lacks %q: %s", part, got)
		}
	}
	p.Follow("the link of the cluster", func() { p.Click(`#matrix a[href*="cluster=ap2"]`) })
	p.WantText("#detail h2", "Why, and what would change it: ap2")
	const need = "cluster.open-cluster-management.io/unreachable:NoSelect"
	p.WantText("#detail", "needs toleration "+need)
	// The advice of the page is right: with the toleration, the placement has all that it wants.
	p.Click("#edit summary")
	manifest := page.Eval[string](p, `document.querySelector("#manifest").value`)
	key, effect, _ := strings.Cut(need, ":")
	p.Fill("#manifest", manifest+"  tolerations: [{key: "+key+", operator: Exists, effect: "+effect+"}]\n")
	p.Follow("the preview", func() { p.Click("#edit button") })
	p.WantText("#preview", "ap2")
	p.WantText("#preview", "2 of 2")
}

// relabelledClusterMoves has a page show the changes that another person makes. How soon is measured by make bench SCENARIOS=dashboard.
func relabelledClusterMoves(w *world) {
	t := w.t
	p := w.open(t, "/placements/team-a/standby", page.Options{})
	p.WaitForText("#live", "Follows changes.")
	selected := row("eu3") + `.includes("Selected")`
	for _, change := range []struct{ region, want string }{
		{"ap-south", selected}, {"eu-north", "!" + selected}, {"ap-south", selected}, {"eu-north", "!" + selected},
	} {
		w.hub.Kubectl(t, "label", "managedcluster", "eu3", "region="+change.region, "--overwrite")
		p.WaitFor("eu3 with the region "+change.region+" has moved", change.want)
		if change.region == "ap-south" {
			p.WaitForText("#summary tr", "PlacementSatisfied True")
		}
	}
}

// heldRemovalIsReleased follows the advice of the page.
func heldRemovalIsReleased(w *world) {
	t := w.t
	clusters := []string{"eu1", "eu2", "us1", "us2"}
	for _, cluster := range clusters {
		w.hub.Kubectl(t, "label", "managedcluster", cluster, "wave=one")
	}
	// They are in the first decisions: clusters that have just joined may leave.
	w.hub.Apply(t, placement("team-a", "waves", `{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {wave: one}}}}]}`))
	p := w.open(t, "/placements/team-a/waves", page.Options{})
	for _, cluster := range clusters {
		p.WaitFor(cluster+" is selected", row(cluster)+`.includes("Selected")`)
	}
	w.hub.Kubectl(t, append(append([]string{"label", "managedcluster"}, clusters...), "wave-")...)
	p.WaitForText("#summary tr", "RemovalHeld True")
	p.WaitForText("#matrix td", "held") // Two of four may leave: which ones depends on the order of the events.
	w.open(t, "/", page.Options{}).WaitForText("[data-part=attention] tr", "1 Placement RemovalHeld The decisions would lose")

	command := page.Eval[string](p, `document.querySelector("#summary").innerText.match(/kubectl (annotate [^\n]*?release-removal=\d+)/)[1]`)
	w.hub.Kubectl(t, strings.Fields(command)...)
	p.WaitForText("#summary tr", "RemovalHeld False Released")
	p.WaitFor("no cluster is held", `![...document.querySelectorAll("#matrix td")].some(c => c.innerText.includes("held"))`)
	if got := w.hub.Kubectl(t, "get", "placementdecisions", "-n", "team-a", "-l", "cluster.open-cluster-management.io/placement=waves",
		"-o", "jsonpath={.items[*].status.decisions[*].clusterName}"); got != "" {
		t.Errorf("the decisions still have %s", got)
	}
}

// editIsPreviewed edits a placement in the page, and compares with the hub.
func editIsPreviewed(w *world) {
	t := w.t
	p := w.open(t, "/placements/team-a/standby", page.Options{})
	p.Click("#edit summary")
	p.WantText("#matrix .note", "1–10 of 10 clusters")
	manifest := page.Eval[string](p, `document.querySelector("#manifest").value`)
	if !strings.Contains(manifest, "numberOfClusters: 2") || strings.Contains(manifest, "resourceVersion") {
		t.Errorf("the form has:\n%s", manifest)
	}
	edited := strings.Replace(manifest, "ap-south", "us-east", 1)
	p.Fill("#manifest", edited)
	p.Follow("the preview", func() { p.Click("#edit button") })
	for _, text := range []string{"us1", "us2", "ap1"} {
		p.WantText("#preview", text)
	}
	if got := w.hub.Kubectl(t, "get", "placement.cluster.open-cluster-management.io", "-n", "team-a", "standby", "-o", "yaml"); strings.Contains(
		got, "us-east") {
		t.Errorf("the preview was applied:\n%s", got)
	}

	p.Go(w.origin + "/placements/team-a/standby")
	p.Click("#edit summary")
	p.Fill("#manifest", strings.Replace(manifest, "numberOfClusters: 2", "numberOfClusters: two", 1))
	p.Expect("400")
	p.Expect("422")
	p.Follow("the preview", func() { p.Click("#edit button") })
	p.WantText(".problem", "numberOfClusters")
	if got := page.Eval[string](p, `document.querySelector("#manifest").value`); !strings.Contains(got, "numberOfClusters: two") {
		t.Errorf("what was typed is lost:\n%s", got)
	}
}

// whatIfWritesNothing drains, taints and relabels a cluster in thought.
func whatIfWritesNothing(w *world) {
	t := w.t
	before := w.hub.Kubectl(t, "get", "managedcluster", "eu1", "-o", "jsonpath={.metadata.resourceVersion}")
	p := w.open(t, "/clusters/eu1", page.Options{})
	p.WantText("#wants tr", "team-a/payments Selected yes")
	p.Click("#drain")
	p.Follow("draining", func() { p.Click("#whatif form button") })
	p.WantText("#whatif tr", "team-a/payments eu1")
	if !page.Eval[bool](p, `document.querySelector("#drain").checked`) {
		t.Error("the form has forgotten what was asked")
	}
	p.WantText("#whatif", "Nothing was written.")
	for field, change := range map[string]string{"label": "env=staging", "taint": "gpu=a100:NoSelect"} {
		p.Go(w.origin + "/clusters/eu1")
		p.Fill("#"+field, change)
		p.Follow("trying", func() { p.Press("\r") })
		p.WantText("#whatif", change)
		p.WantText("#whatif", "team-a/")
	}
	p.Fill("#label", "env")
	p.Expect("status of 400")
	p.Follow("a mistake", func() { p.Press("\r") })
	p.WantText(".field:has(#label) .mistake", "Write it as region=eu, or region- to remove it.")
	if got := page.Eval[string](p, `document.querySelector("#label").value`); got != "env" {
		t.Errorf("the field has %q after a mistake", got)
	}
	if after := w.hub.Kubectl(t, "get", "managedcluster", "eu1", "-o", "jsonpath={.metadata.resourceVersion}"); after != before {
		t.Errorf("the cluster was written: %s, then %s", before, after)
	}
}

// placement returns a Placement with a spec in YAML's flow style.
func placement(namespace, name, spec string) string {
	return "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {namespace: " + namespace + ", name: " + name +
		"}\nspec: " + spec + "\n"
}
