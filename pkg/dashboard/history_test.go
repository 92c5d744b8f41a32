// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/history"
)

// moveOf returns a row of a Placement of team-a, some minutes ago.
func moveOf(name string, minutes int, lost, gained []string, causes ...history.Cause) history.Move {
	at := now.Add(-time.Duration(minutes) * time.Minute)
	for i := range causes {
		causes[i].Time = at
	}
	return history.Move{
		Time: at, Namespace: "team-a", Group: clusterv1.GroupName, Kind: "Placement", Name: name, UID: "uid-of-" + name,
		ResourceVersion: itoa(1000 - minutes), Lost: lost, Gained: gained, Causes: causes,
	}
}

// tainted is the cause that a taint of a cluster was added or removed.
func tainted(cluster string, action history.Action, manager string) history.Cause {
	return history.Cause{
		Group: clusterv1.GroupName, Kind: "ManagedCluster", Name: cluster, Action: action, Field: "spec.taints[maintenance:NoSelect]",
		What: "taint maintenance:NoSelect", Manager: manager,
	}
}

// remembers makes a hub answer questions about its history from rows, oldest first, as the hub does.
func (h *testHub) remembers(moves ...history.Move) {
	h.happened = func(question *endpoint.Question) (*movelist.List, error) {
		list := &movelist.List{Now: metav1.NewTime(now), Namespace: question.Namespace, Moves: []history.Move{}}
		for i := range moves {
			move := &moves[i]
			named := slices.ContainsFunc(question.Objects, func(of endpoint.Object) bool { return of.Kind == move.Kind && of.Name == move.Name }) ||
				slices.Contains(question.Kinds, endpoint.KindRef{Group: move.Group, Kind: move.Kind})
			if named && (question.Namespace == "" || question.Namespace == move.Namespace) &&
				(len(question.Clusters) == 0 || move.Names(question.Clusters)) && (question.Since == nil || !move.Time.Before(question.Since.Time)) {
				list.Moves = append(list.Moves, *move)
			}
		}
		if question.Limit > 0 && len(list.Moves) > question.Limit {
			list.Moves, list.More = list.Moves[len(list.Moves)-question.Limit:], true
		}
		return list, nil
	}
}

// shownAs returns the text of a page as a browser has it.
func shownAs(t *testing.T, pages http.Handler, path string, header ...string) (int, string) {
	t.Helper()
	response := as(t, pages, "jane", http.MethodGet, path, "", header...)
	return response.Code, html.UnescapeString(response.Body.String())
}

// docs/spec/history.md HI21: the pages show the rows of the command with their causes, the latest first.
func TestHI21ThePagesOfTheHistory(t *testing.T) {
	hub := newTestHub(world()...)
	reasoned := moveOf("web", 3, nil, []string{"eu3"})
	reasoned.Reasons, reasoned.Derived = []history.Reason{{Cluster: "eu3", Text: "rank 2, score 87"}}, true
	hidden := moveOf("api", 2, []string{"us1"}, nil)
	hidden.HiddenCauses = 2
	delivered := moveOf("conf", 1, nil, []string{"eu1"})
	delivered.Group, delivered.Kind = "", "ConfigMap"
	granted := moveOf("ci", 1, nil, []string{"shared/workload-1"})
	granted.Group, granted.Kind = requestKind.Group, requestKind.Kind
	hub.remembers(moveOf("web", 2000, []string{"eu1"}, []string{"eu2"}, tainted("eu1", history.Added, "kubectl-edit")), reasoned, hidden, delivered,
		granted)
	pages := newPages(hub)
	for _, tc := range []struct {
		reason, path string
		want, not    []string
	}{
		{
			"all", "/history", []string{
				"<h2>2026-01-31</h2>", "<h2>2026-01-30</h2>", "1–4, the latest first",
				"ManagedCluster eu1 taint maintenance:NoSelect added by kubectl-edit",
				"2 changes of objects that this user may not read", "rank 2, score 87", "as a standby has seen", `<bdi>us1</bdi></span>`,
				`href="/placements/team-a/web/history"`, `href="/requests/team-a/ci/history"`, `<code tabindex="0">placement history -A</code>`,
				`<a href="/history" aria-current="page">`,
			}, []string{"conf", "earlier", `id="timeline"`},
		},
		{
			"a cluster", "/history?cluster=us1,none", []string{"team-a/api", `value="us1,none"`, "placement history --cluster us1 --cluster none -A"},
			[]string{"team-a/web", "eu3"},
		},
		{"a time", "/history?since=1h&namespace=team-a", []string{"team-a/web", "placement history --since 1h -n team-a"}, []string{">eu2<"}},
		{
			"another namespace", "/history?namespace=team-b", []string{"No clusters were gained or lost, as far as the hub remembers."},
			[]string{">eu1<"},
		},
		{
			"a Placement", "/placements/team-a/web/history", []string{
				`<td data-label="Now"><span class="state good">in</span>`, `<td data-label="Now"><span class="state plain">out</span>`,
				`href="/placements/team-a/web?cluster=eu2#detail"`, "eu1: to 2026-01-30 02:40:00 UTC", "<h1><bdi>History of team-a/web</bdi>",
				"placement history team-a/web<", `class="in"`,
			}, []string{"us1", "team-a/api"},
		},
		{
			"a Placement and a cluster", "/placements/team-a/web/history?cluster=eu3",
			[]string{"placement history team-a/web --cluster eu3", "rank 2"}, []string{">eu1<", ">eu2<"},
		},
		{
			"a ClusterRequest", "/requests/team-a/ci/history", []string{
				`<a href="/requests/team-a/ci"><bdi>shared/workload-1</bdi>`, "placement history clusterrequest/ci -n team-a",
				"The hub knows no cause.",
			}, []string{"us1"},
		},
		{
			"a cluster in all decisions", "/clusters/us1/history",
			[]string{`<a href="/placements/team-a/api/history"><bdi>team-a/api</bdi>`, "placement history --cluster us1 -A", "team-a/api: to"},
			[]string{">eu3<"},
		},
		{"a cluster that no decision knows", "/clusters/none/history", []string{"No clusters were gained or lost"}, nil},
	} {
		code, text := shownAs(t, pages, tc.path)
		if code != http.StatusOK {
			t.Errorf("%s: status %d", tc.reason, code)
		}
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q: %s", tc.reason, want, text)
			}
		}
		for _, not := range tc.not {
			if strings.Contains(text, not) {
				t.Errorf("%s has %q: %s", tc.reason, not, text)
			}
		}
	}
	_, text := shownAs(t, pages, "/history")
	if strings.Index(text, "rank 2") > strings.Index(text, "kubectl-edit") {
		t.Error("the latest row is not the first")
	}
	var told happened
	if _, twin := shownAs(t, pages, "/history", "Accept", "application/json"); json.Unmarshal([]byte(twin), &told) != nil || len(told.Moves) != 4 ||
		told.Moves[0].Causes[0].Manager != "kubectl-edit" {
		t.Errorf("the JSON twin is %s", twin)
	}
}

// docs/spec/history.md HI21: the page has a note about what is not known, and is no error.
func TestHI21AHubWithoutAHistory(t *testing.T) {
	pages := newPages(newTestHub(world()...))
	for _, path := range []string{"/history", "/placements/team-a/web/history", "/clusters/eu1/history"} {
		for _, accepted := range []string{"text/html", "application/json"} {
			if code, text := shownAs(t, pages, path, "Accept", accepted); code != http.StatusOK ||
				!strings.Contains(text, "the hub keeps no history of decisions") || strings.Contains(text, `<details class="move"`) {
				t.Errorf("%s: status %d, %s", path, code, text)
			}
		}
	}
	if code, text := shownAs(t, pages, "/"); code != http.StatusOK || strings.Contains(text, "Last moves") || strings.Contains(text, "no history") {
		t.Errorf("the overview: status %d, %s", code, text)
	}
}

// docs/spec/history.md HI21: who may not ask is refused as by the command, and sees no rows on the overview.
func TestHI21RightsAreThoseOfTheCommand(t *testing.T) {
	hub := newTestHub(world()...)
	hub.remembers(moveOf("web", 1, []string{"eu1"}, nil))
	answer := hub.happened
	var refused error
	hub.happened = func(question *endpoint.Question) (*movelist.List, error) {
		if refused != nil {
			return nil, refused
		}
		return answer(question)
	}
	pages := newPages(hub)
	refused = &access.RefusalError{User: "jane", Lacks: []access.Asked{{Verb: "list"}}}
	for _, path := range []string{"/history", "/placements/team-a/web/history", "/clusters/eu1/history"} {
		if code, text := shownAs(t, pages, path); code != http.StatusForbidden || strings.Contains(text, "lost") {
			t.Errorf("%s: status %d, %s", path, code, text)
		}
	}
	if code, text := shownAs(t, pages, "/"); code != http.StatusOK || strings.Contains(text, "Last moves") {
		t.Errorf("the overview: status %d, %s", code, text)
	}
	refused = errors.New("broken")
	if code, text := shownAs(t, newPages(hub), "/"); code != http.StatusOK || !strings.Contains(text, "The last moves are not known") {
		t.Errorf("the overview of a hub that is broken: status %d, %s", code, text)
	}
	refused = nil
	if _, text := shownAs(t, newPages(hub), "/?namespace=team-a"); !strings.Contains(text, "team-a/web</bdi></a> <bdi>lost eu1") ||
		!strings.Contains(text, `href="/history?namespace=team-a"`) || !strings.Contains(text, "/placements/team-a/web/history#move-") {
		t.Errorf("the overview lacks the last moves: %s", text)
	}
}

// docs/spec/history.md HI22: a page of 1,000 rows has 50 of them, by day, and leads to the others. The JSON twin has all.
func TestHI22AThousandRowsArePaged(t *testing.T) {
	var moves []history.Move
	for n := range 1000 {
		cluster := []string{fmt.Sprintf("c%03d", n)}
		moves = append(moves, moveOf("web", 2000-n, cluster, nil, tainted(cluster[0], history.Added, "m")))
	}
	hub := newTestHub(world()...)
	hub.remembers(moves...)
	pages := newPages(hub)
	for _, tc := range []struct {
		path      string
		want, not []string
	}{
		{"/history", []string{"1–50, the latest first", `href="/history?from=50"`, "c999"}, []string{">later<", "c949"}},
		{
			"/history?from=50", []string{"51–100, the latest first", `<a href="/history">later</a>`, `href="/history?from=100"`, "c949"},
			[]string{"c950", "c899"},
		},
		{"/history?from=950", []string{"951–1000", "c000", `href="/history?from=900"`}, []string{">earlier<"}},
		{"/placements/team-a/web/history", []string{"1–50, the latest first", "950 more lines are not shown", "from=50"}, []string{"c949"}},
		{"/placements/team-a/web/history?from=950", []string{"951–1000", "c000"}, []string{">earlier<"}},
	} {
		_, text := shownAs(t, pages, tc.path)
		if rows := strings.Count(text, "<details class=\"move\""); rows != 50 || len(text) > 150<<10 {
			t.Errorf("%s: %d rows in %d bytes", tc.path, rows, len(text))
		}
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", tc.path, want)
			}
		}
		for _, not := range tc.not {
			if strings.Contains(text, not) {
				t.Errorf("%s has %q", tc.path, not)
			}
		}
	}
	var told happened
	if _, twin := shownAs(t, pages, "/history?from=50", "Accept", "application/json"); json.Unmarshal([]byte(twin), &told) != nil ||
		len(told.Moves) != 1000 {
		t.Errorf("the JSON twin has %d rows", len(told.Moves))
	}
}

// docs/spec/history.md HI22: users of several namespaces get the rows of the first ones in one list, one question for each.
func TestHI22NamespacesAreAskedOneByOne(t *testing.T) {
	hub := newTestHub(world()...)
	hub.namespaces = []string{"team-b", "team-a"}
	other := moveOf("theirs", 5, []string{"eu1"}, nil)
	other.Namespace = "team-b"
	hub.remembers(moveOf("web", 9, []string{"eu2"}, nil), other, moveOf("web", 1, []string{"us1"}, nil))
	answer, asked := hub.happened, []string(nil)
	hub.happened = func(question *endpoint.Question) (*movelist.List, error) {
		asked = append(asked, question.Namespace)
		return answer(question)
	}
	var told happened
	_, twin := shownAs(t, newPages(hub), "/history", "Accept", "application/json")
	if err := json.Unmarshal([]byte(twin), &told); err != nil {
		t.Fatal(err)
	}
	var lost []string
	for _, move := range told.Moves {
		lost = append(lost, move.Lost...)
	}
	if diff := cmp.Diff([]string{"eu2", "eu1", "us1"}, lost); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	hub.namespaces, asked = nil, nil
	for n := range namespacesAsked + 5 {
		hub.namespaces = append(hub.namespaces, fmt.Sprintf("ns-%02d", n))
	}
	_, text := shownAs(t, newPages(hub), "/history")
	if len(asked) != namespacesAsked || !strings.Contains(text, "Of the 25 namespaces that you may read") {
		t.Errorf("%d questions: %s", len(asked), text)
	}
}

// docs/spec/history.md HI24: the overview asks for a few rows once in some seconds for each user, however often it is loaded.
func TestHI24TheOverviewAsksForFewRows(t *testing.T) {
	hub := newTestHub(world()...)
	var moves []history.Move
	for n := range 10 {
		moves = append(moves, moveOf("web", 20-n, []string{fmt.Sprintf("c%d", n)}, nil))
	}
	hub.remembers(moves...)
	answer, asked := hub.happened, []int(nil)
	hub.happened = func(question *endpoint.Question) (*movelist.List, error) {
		asked = append(asked, question.Limit)
		return answer(question)
	}
	at := now
	pages := New(hub, NewTokenGate(users{}), func() time.Time { return at })
	for range 3 {
		if _, text := shownAs(t, pages, "/"); !strings.Contains(text, "lost c9") || !strings.Contains(text, "lost c5") ||
			strings.Contains(text, "lost c4") {
			t.Errorf("the overview: %s", text)
		}
	}
	as(t, pages, "ada", http.MethodGet, "/", "")
	at = at.Add(movesKept)
	shownAs(t, pages, "/")
	if diff := cmp.Diff([]int{lastMovesShown, lastMovesShown, lastMovesShown}, asked); diff != "" {
		t.Errorf("questions of jane, ada, and jane again (-want +got):\n%s", diff)
	}
}

// docs/spec/history.md HI24: a page that follows changes asks some seconds after a change, once for all changes in that time.
func TestHI24PagesOfTheHistorySettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := newTestHub(world()...)
		var asked atomic.Int32
		hub.happened = func(*endpoint.Question) (*movelist.List, error) {
			n := int(asked.Add(1))
			return &movelist.List{Moves: []history.Move{moveOf("web", 1, []string{fmt.Sprintf("c%d", n)}, nil)}}, nil
		}
		pages := newPages(hub)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/history", http.NoBody)
		request.Header.Set("Authorization", "Bearer jane")
		into := &stream{writer: httptest.NewRecorder(), inFlight: pages.inFlight, hashes: map[string]string{}, lane: pages.followers}
		into.control = http.NewResponseController(into.writer)
		into.turn, _ = pages.followers.turns.Join("jane")
		shown := &url.URL{Path: "/history"}
		go func() { _ = pages.follow(request, shown, into) }()
		for range 100 { // Ten seconds with a change every 100 milliseconds.
			<-time.After(100 * time.Millisecond)
			select {
			case hub.changes <- struct{}{}:
			default:
			}
		}
		if got := asked.Load(); got < 2 || got > 4 {
			t.Errorf("%d questions within 10 seconds of changes", got)
		}
	})
}

// Pages of the history have the lane of pages that do not take long, whatever their objects are called.
func TestWhichPagesAreOfTheHistory(t *testing.T) {
	for path, want := range map[string]bool{
		"/history": true, "/history?cluster=eu1": true, "/clusters/eu1/history": true, "/placements/a/b/history?cluster=x": true,
		"/objects/a/Deployment.apps/web/history": true, "/clusters/history": false, "/placements/a/history?cluster=x": false, "/": false,
		"/objects/a/Deployment.apps/history": false, "/requests/a/b/history": true, "/clusters/a%2Fb/history": true, "/other/history": false,
	} {
		parsed, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		if isHistory(parsed) != want || want && mayTakeLong(parsed) {
			t.Errorf("%s: it is of the history: %t", path, !want)
		}
	}
}

// Names and texts of users in rows are no part of the page, and do not change the direction of the text around them.
func TestRowsOfTheHistoryAreInert(t *testing.T) {
	const region = "מרכז"
	cause := history.Cause{
		Group: clusterv1.GroupName, Kind: "ManagedCluster", Name: hostile, Action: history.Changed, What: "label " + hostile,
		Field: "metadata.labels[" + hostile + "]", Old: region, New: hostile, Manager: hostile,
	}
	move := moveOf("web", 1, []string{hostile, region}, []string{region + "2"}, cause)
	move.Reasons = []history.Reason{{Cluster: hostile, Text: hostile + region}}
	other := moveOf(region, 2, []string{"eu1"}, nil)
	hub := newTestHub(world()...)
	hub.remembers(other, move)
	pages := newPages(hub)
	for _, path := range []string{"/", "/history", "/placements/team-a/web/history", "/clusters/eu1/history", "/clusters/" + region + "/history"} {
		text := as(t, pages, "jane", http.MethodGet, path, "").Body.String()
		for _, active := range activeParts(t, text) {
			t.Errorf("%s: %s", path, active)
		}
		if strings.Contains(text, "\u202e") {
			t.Errorf("%s has a letter that changes the direction of the text around it", path)
		}
		if outside := valuesOutside(text); outside != "" {
			t.Errorf("%s: a value is outside of bdi: %q", path, outside)
		}
	}
}
