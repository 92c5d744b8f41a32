// SPDX-License-Identifier: Apache-2.0

package argocd

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/loopback"
	"github.com/placement-hub/placement-hub/test/env/scrapes"
)

// TestArgoCDRefresh has a control plane on which each part has a namespace and a process of its own.
func TestArgoCDRefresh(t *testing.T) {
	h := suite.StartHub(t)
	t.Run("AR9: a process that lacks something does not start", func(t *testing.T) { checkStart(t, h) })
	for _, part := range []struct {
		rule  string
		check func(t *testing.T, h *suite.Hub)
	}{
		// docs/spec/ecosystem.md E11
		{"AR5: a thousand changes of one ApplicationSet", checkManyChanges},
		// docs/spec/ecosystem.md E11
		{"AR5: one change of two hundred ApplicationSets", checkManySets},
		// docs/spec/ecosystem.md E12
		{"AR3, AR7: what is no change of clusters", checkNoChange},
		// docs/spec/ecosystem.md E13
		{"AR1, AR2, AR8: which ApplicationSets are refreshed", checkConcerned},
		// docs/spec/ecosystem.md E14
		{"AR6: the annotation stays", checkHeld},
		// docs/spec/ecosystem.md E14
		{"AR11: what the account may change", checkPolicy},
		// docs/spec/ecosystem.md E10
		{"AR12: a cluster joins", checkJoins},
		// docs/spec/ecosystem.md E14
		{"AR10: without the policy the process stops", checkProof},
	} {
		t.Run(part.rule, func(t *testing.T) { part.check(t, h) })
	}
}

// end ends a process as a kubelet does.
func end(t *testing.T, process *suite.Program) {
	t.Helper()
	process.Signal(t, syscall.SIGTERM)
	process.WantExit(t, 0)
	process.WantNothingLeft(t)
}

func checkManyChanges(t *testing.T, h *suite.Hub) {
	t.Helper()
	const interval, changes = 2 * time.Second, 1000
	p := newPlace(t, h, "many-changes")
	p.decide(t, "p", 1, in("c0")...)
	p.create(t, "s", decided("p"))
	p.runController(t)
	process := p.follow(t, "--min-interval", interval.String())
	begin := time.Now()
	for n := range changes {
		if wait := time.Until(begin.Add(time.Duration(n) * 12 * time.Millisecond)); wait > 0 {
			pause(t, wait)
		}
		p.decide(t, "p", 1, in(fmt.Sprintf("c%d", n))...)
	}
	lasted := time.Since(begin)
	p.wantApplications(t, "s", fmt.Sprintf("c%d", changes-1))
	pause(t, interval+quiet) // The last refresh is there.
	written := p.patches(t)
	if most := int(lasted/interval) + 2; len(written) > most || len(written) < 2 {
		t.Errorf("%d changes in %s were %d refreshes, want at most %d", changes, lasted, len(written), most)
	}
	for n := 1; n < len(written); n++ {
		if gap := written[n].at.Sub(written[n-1].at); gap < interval-200*time.Millisecond {
			t.Errorf("refresh %d came %s after the one before, want %s", n, gap, interval)
		}
	}
	t.Logf("%d changes in %s were %d refreshes", changes, lasted, len(written))
	end(t, process)
}

// wantApplications waits until an ApplicationSet has an Application for exactly one cluster.
func (p *place) wantApplications(t *testing.T, set, cluster string) {
	t.Helper()
	suite.Eventually(t, "waiting for Applications", func() error {
		present := &unstructured.UnstructuredList{}
		present.SetGroupVersionKind(argoproj.WithKind("ApplicationList"))
		suite.Must(t, p.Client.List(t.Context(), present, client.InNamespace(p.namespace)))
		if len(present.Items) != 1 || present.Items[0].GetName() != set+"-"+cluster {
			return fmt.Errorf("there are %d Applications, want that of %s alone", len(present.Items), cluster)
		}
		return nil
	})
}

func checkManySets(t *testing.T, h *suite.Hub) {
	t.Helper()
	const sets, window, most = 200, 2 * time.Second, 21
	p := newPlace(t, h, "many-sets")
	p.decide(t, "p", 1, in("c1")...)
	want := []string{}
	for n := range sets {
		want = append(want, fmt.Sprintf("s%03d", n))
		p.create(t, want[n], decided("p"))
	}
	process := p.follow(t)
	p.decide(t, "p", 1, in("c1", "c2")...)
	p.wantPatches(t, want...)
	written := p.patches(t)
	for first, last := 0, 0; last < len(written); last++ {
		for written[last].at.Sub(written[first].at) > window {
			first++
		}
		if count := last - first + 1; count > most+2 { // Requests may be a little late.
			t.Errorf("%d refreshes within %s, want about %d", count, window, most)
		}
	}
	lasted := written[len(written)-1].at.Sub(written[0].at)
	if least := (sets - 1) * 100 * time.Millisecond; lasted < least-time.Second {
		t.Errorf("%d refreshes took %s, want %s", sets, lasted, least)
	}
	t.Logf("%d refreshes took %s", sets, lasted)
	end(t, process)
}

func checkNoChange(t *testing.T, h *suite.Hub) {
	t.Helper()
	p := newPlace(t, h, "no-change")
	scored := func(reason string, score int64, clusters ...string) []clusterv1beta1.ClusterDecision {
		decisions := in(clusters...)
		for n := range decisions {
			decisions[n].Reason, decisions[n].Score = reason, score
		}
		return decisions
	}
	p.decide(t, "p", 1, in("c1", "c2", "c3")...)
	p.decide(t, "p", 2, in("c4")...)
	p.create(t, "s", decided("p"))
	p.runController(t)
	process := p.follow(t, "--min-interval=1s")
	p.wantPatches(t) // What stands at the start is no change.

	p.decide(t, "p", 1, scored("because", 7, "c1", "c2", "c3")...)
	p.decide(t, "p", 1, scored("", 8, "c3", "c1", "c2")...)
	page := &clusterv1beta1.PlacementDecision{}
	suite.Must(t, p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "p-decision-2"}, page))
	suite.Must(t, p.Client.Patch(t.Context(), page, suite.MergePatch(`{"metadata":{"labels":{"team":"a"},"annotations":{"a":"b"}}}`)))
	p.wantPatches(t)
	// c3 moves to the other page: it is in both before it leaves the first.
	p.decide(t, "p", 2, in("c4", "c3")...)
	p.decide(t, "p", 1, in("c1", "c2")...)
	p.wantPatches(t)
	// c5 replaces c4.
	p.decide(t, "p", 1, in("c1", "c2", "c5")...)
	p.decide(t, "p", 2, in("c3")...)
	suite.Eventually(t, "waiting for the refresh", func() error {
		if len(p.patches(t)) == 0 {
			return fmt.Errorf("none was written; %s", process)
		}
		return nil
	})
	pause(t, quiet)
	if count := len(p.patches(t)); count > 2 {
		t.Errorf("a cluster that replaces another one was %d refreshes, want 1 or 2", count)
	}
	end(t, process)
}

func checkConcerned(t *testing.T, h *suite.Hub) {
	t.Helper()
	const follow = "placement-hub.open-cluster-management.io/refresh"
	p, elsewhere := newPlace(t, h, "concerned"), newPlace(t, h, "elsewhere")
	for _, one := range []*place{p, elsewhere} {
		one.decide(t, "p", 1, in("c1")...)
		one.decide(t, "q", 1, in("c1")...)
	}
	bySelector := decided("p")
	inside := bySelector[1 : len(bySelector)-1]
	byName := fmt.Sprintf("{clusterDecisionResource: {configMapRef: %s, name: p-decision-1}}", decisionsOf)
	withGit := "[{matrix: {generators: [" + inside + ", {git: {repoURL: x}}]}}]"

	p.create(t, "by-selector", bySelector)
	p.create(t, "by-name", "["+byName+"]")
	p.create(t, "matrix-in-merge",
		"[{merge: {mergeKeys: [a], generators: [{matrix: {generators: ["+inside+", {list: {elements: []}}]}}, {clusters: {}}]}}]")
	p.create(t, "of-q", decided("q"))
	p.create(t, "of-rules", fmt.Sprintf("[{clusterDecisionResource: {configMapRef: %s, name: p-decision-1}}]", rules))
	p.create(t, "of-no-configmap", "[{clusterDecisionResource: {configMapRef: nosuch, name: p-decision-1}}]")
	p.create(t, "clusters-alone", "[{clusters: {}}]")
	p.create(t, "git-in-matrix", withGit)
	p.create(t, "git-in-matrix-opted-in", withGit, follow, "true")
	p.create(t, "opted-out", bySelector, follow, "false")
	elsewhere.create(t, "by-selector", bySelector)
	process := p.follow(t, "--min-interval=1s")

	elsewhere.decide(t, "p", 1, in("c1", "c2")...)
	p.wantPatches(t)
	p.decide(t, "p", 1, in("c1", "c2")...)
	want := []string{"by-selector", "by-name", "matrix-in-merge", "git-in-matrix-opted-in"}
	p.wantPatches(t, want...)
	p.decide(t, "q", 1)
	p.wantPatches(t, append(want, "of-q")...)
	end(t, process)
}

func checkHeld(t *testing.T, h *suite.Hub) {
	t.Helper()
	p := newPlace(t, h, "held")
	p.decide(t, "p", 1, in("c1")...)
	set := p.create(t, "s", decided("p"))
	metrics, err := loopback.FreeAddress(t.Context())
	suite.Must(t, err)
	probes, err := loopback.FreeAddress(t.Context())
	suite.Must(t, err)
	process := p.follow(t, "--min-interval=1s", "--metrics-listen", metrics, "--probes-listen", probes)
	wantServed(t, "http://"+probes+"/readyz", "ok")
	wantServed(t, "http://"+probes+"/healthz", "ok")
	p.decide(t, "p", 1, in("c1", "c2")...)
	p.wantPatches(t, "s")
	healthy := scrape(t, metrics)
	if held := healthy.Value(refreshesHeld); held != 0 {
		t.Errorf("%s is %v before Argo CD is down", refreshesHeld, held)
	}
	p.decide(t, "p", 1, in("c2")...)
	p.decide(t, "p", 1, in("c2", "c3")...)
	p.wantPatches(t, "s") // Argo CD is down.
	wantServed(t, "http://"+metrics+"/metrics", "\nplacement_hub_argocd_refreshes_held 1\n",
		"\nplacement_hub_argocd_refreshes_total{result=\"ok\"} 1\n")
	broken := scrape(t, metrics)

	suite.Must(t, p.Client.Get(t.Context(), client.ObjectKeyFromObject(set), set))
	if value := set.GetAnnotations()[refreshAnnotation]; value != "true" {
		t.Errorf("the annotation is %q", value)
	}
	suite.Must(t, p.Client.Patch(t.Context(), set, suite.MergePatch(`{"metadata":{"annotations":{"`+refreshAnnotation+`":null}}}`)))
	p.wantPatches(t, "s", "s") // The last change is not lost.
	var mended scrapes.Scrape
	suite.Eventually(t, "waiting until no refresh is held", func() error {
		if mended = scrape(t, metrics); mended.Value(refreshesHeld) != 0 {
			return fmt.Errorf("%s is %v", refreshesHeld, mended.Value(refreshesHeld))
		}
		return nil
	})
	end(t, process)
	course := scrapes.Course{Healthy: healthy, Broken: broken, Mended: mended}
	suite.Must(t, course.Evaluate(t.Context(), t.TempDir(), map[string]scrapes.Expected{
		"ArgoCDRefreshesAreHeld": {Firing: []scrapes.Firing{{Words: []string{"$value", "1"}}}},
	}))
}

// refreshesHeld is the series of the ApplicationSets that Argo CD does not evaluate.
const refreshesHeld = "placement_hub_argocd_refreshes_held"

// scrape returns what the process answers at the address of its metrics.
func scrape(t *testing.T, address string) scrapes.Scrape {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	suite.Must(t, err)
	response, err := http.DefaultClient.Do(request)
	suite.Must(t, err)
	parsed, err := scrapes.Parse(response.Body)
	suite.Must(t, errors.Join(err, response.Body.Close()))
	return parsed
}

// wantServed expects that an address answers with these parts.
func wantServed(t *testing.T, url string, parts ...string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	suite.Must(t, err)
	response, err := http.DefaultClient.Do(request)
	suite.Must(t, err)
	body, err := io.ReadAll(response.Body)
	suite.Must(t, errors.Join(err, response.Body.Close()))
	for _, part := range parts {
		if response.StatusCode != http.StatusOK || !strings.Contains(string(body), part) {
			t.Errorf("%s answers %d without %q: %s", url, response.StatusCode, part, body)
		}
	}
}
