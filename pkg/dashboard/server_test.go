// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/explain/turns"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

func globalSet() *clusterv1beta2.ManagedClusterSet {
	return &clusterv1beta2.ManagedClusterSet{
		ObjectMeta: metav1.ObjectMeta{Name: "prod"},
		Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: clusterv1beta2.ManagedClusterSelector{
			SelectorType: clusterv1beta2.ExclusiveClusterSetLabel,
		}},
	}
}

func globalBinding() *clusterv1beta2.ManagedClusterSetBinding {
	return &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "prod"}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "prod"},
		Status: clusterv1beta2.ManagedClusterSetBindingStatus{Conditions: []metav1.Condition{{
			Type: "Bound", Status: metav1.ConditionTrue, Reason: "ClusterSetBound",
		}}},
	}
}

func TestPlacementPage(t *testing.T) {
	pages := newPages(newTestHub(world()...))
	for _, tc := range []struct {
		reason, path string
		code         int
		want, not    []string
	}{
		{
			"clusters and stages", "/placements/team-a/web", http.StatusOK,
			[]string{"eu1", "us1", "Predicate 1", "label region In [eu]: is us", "1–2 of 2 clusters", "placement explain team-a/web", "1 of 1"},
			nil,
		},
		{
			"the clusters of a verdict", "/placements/team-a/web?verdict=Predicate", http.StatusOK, []string{"us1</bdi></a>", "1–1 of 1 cluster"},
			[]string{"eu1</bdi></a>"},
		},
		{"the clusters of a name", "/placements/team-a/web?name=EU", http.StatusOK, []string{"eu1</bdi></a>"}, []string{"us1</bdi></a>"}},
		{
			"a page of clusters", "/placements/team-a/web?rows=1&from=1", http.StatusOK, []string{"2–2 of 2 clusters", "previous"},
			[]string{"eu1</bdi></a>"},
		},
		{
			"what would select a cluster", "/placements/team-a/web?cluster=us1", http.StatusOK,
			[]string{"would be selected if label region were eu", "--cluster us1"}, nil,
		},
		{"no such Placement", "/placements/team-a/none", http.StatusNotFound, []string{"there is no such Placement"}, nil},
		{"an API that does not exist", "/placements/team-a/web?api=v9", http.StatusBadRequest, []string{"v1alpha1"}, nil},
		{"a cluster", "/clusters/us1", http.StatusOK, []string{"team-a/web", "label region In [eu]: is us", "region=us"}, nil},
		{
			"a what-if", "/clusters/us1?label=region%3Deu", http.StatusOK,
			[]string{
				"1 placement gains 1 cluster", `href="/placements/team-a/web"`, `<td data-label="Gained"><a class="chip good" href="/clusters/us1">`,
				`data-label="Lost"`, `data-label="Kept"`, `data-label="Why"`,
				`name="label" value="region=eu"`,
			}, []string{"data-follows"},
		},
		{
			"a what-if with a mistake", "/clusters/us1?label=region&taint=gpu%3Aa%3ANoSelect", http.StatusBadRequest,
			[]string{
				`id="label-mistake">Write it as region=eu, or region- to remove it.`, `name="label" value="region"`,
				`name="taint" value="gpu:a:NoSelect"`, "Placements",
			}, []string{"c7:", "taint-mistake"},
		},
		{
			"a what-if that is refused", "/clusters/us1?taint=a:Nonsense", http.StatusBadRequest,
			[]string{`id="taint-mistake">a taint has no effect`, `value="a:Nonsense"`}, []string{"label-mistake"},
		},
		{"no such cluster", "/clusters/none", http.StatusNotFound, []string{"correct the name"}, nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			response := as(t, pages, "jane", http.MethodGet, tc.path, "")
			if response.Code != tc.code {
				t.Errorf("status %d, want %d", response.Code, tc.code)
			}
			for _, want := range tc.want {
				if !strings.Contains(response.Body.String(), want) {
					t.Errorf("%q is missing: %s", want, response.Body)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(response.Body.String(), not) {
					t.Errorf("%q is shown: %s", not, response.Body)
				}
			}
		})
	}
}

// A token is taken once, from the URL of the command, by the browser that opens it.

func TestTheURLOpensOneBrowser(t *testing.T) {
	gate := NewLocalGate(&user.DefaultInfo{Name: "jane"})
	pages := New(newTestHub(world()...), gate, func() time.Time { return now })
	local := func(target, host string, cookies ...*http.Cookie) *http.Response {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
		request.Host = host
		for _, cookie := range cookies {
			request.AddCookie(cookie)
		}
		recorder := httptest.NewRecorder()
		pages.ServeHTTP(recorder, request)
		return recorder.Result()
	}
	opened := gate.URL(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8484})
	if code := local("/", "127.0.0.1:8484").StatusCode; code != http.StatusUnauthorized {
		t.Errorf("without a cookie the status is %d", code)
	}
	if code := local(opened, "evil.example:8484").StatusCode; code != http.StatusMisdirectedRequest {
		t.Errorf("by the name of another host the status is %d", code)
	}
	first := local(opened, "127.0.0.1:8484")
	cookies := first.Cookies()
	if first.StatusCode != http.StatusSeeOther || first.Header.Get("Location") != "/" || len(cookies) != 1 {
		t.Fatalf("status %d to %q with cookies %v", first.StatusCode, first.Header.Get("Location"), cookies)
	}
	if cookie := cookies[0]; !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode {
		t.Errorf("the cookie is %v", cookie)
	}
	if code := local("/", "localhost:8484", cookies...).StatusCode; code != http.StatusOK {
		t.Errorf("with the cookie the status is %d", code)
	}
	if second := local(opened, "127.0.0.1:8484"); len(second.Cookies()) != 0 {
		t.Error("the URL has opened a second browser")
	}
}

func TestLogin(t *testing.T) {
	rejected := map[string]bool{"old": true}
	pages := New(newTestHub(world()...), NewTokenGate(users{rejected}), func() time.Time { return now })
	if got := as(t, pages, "", http.MethodGet, "/clusters?set=prod", ""); got.Code != http.StatusSeeOther ||
		got.Header().Get("Location") != "/login?to=%2Fclusters%3Fset%3Dprod" {
		t.Errorf("without a token: %d to %s", got.Code, got.Header().Get("Location"))
	}
	if got := as(t, pages, "", http.MethodGet, "/", "", "Accept", "application/json"); got.Code != http.StatusUnauthorized {
		t.Errorf("a program without a token: %d", got.Code)
	}
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	for token, code := range map[string]int{
		"old": http.StatusUnauthorized, "": http.StatusUnauthorized, strings.Repeat("x", 4000): http.StatusUnauthorized,
		"a b":  http.StatusUnauthorized,
		"jane": http.StatusSeeOther,
	} {
		got := as(t, pages, "", http.MethodPost, "/login", "to=/clusters&token="+token, form...)
		if got.Code != code || (code == http.StatusSeeOther) != (len(got.Result().Cookies()) == 1) {
			t.Errorf("token %.10q: status %d, cookies %v", token, got.Code, got.Result().Cookies())
		}
		if code != http.StatusSeeOther {
			continue
		}
		cookie := got.Result().Cookies()[0]
		if !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" ||
			!strings.HasPrefix(cookie.Name, "__Host-") {
			t.Errorf("the cookie is %v", cookie)
		}
		if shown := as(t, pages, "", http.MethodGet, "/", "", "Cookie", cookie.String()); !strings.Contains(shown.Body.String(), ">jane<") {
			t.Errorf("with the cookie: %d", shown.Code)
		}
		rejected["jane"] = true // The token has expired.
		if shown := as(t, pages, "", http.MethodGet, "/", "", "Cookie", cookie.String()); shown.Code != http.StatusSeeOther {
			t.Errorf("after the token has expired: %d", shown.Code)
		}
		delete(rejected, "jane")
	}
	for to, want := range map[string]string{"//evil.example": "/", "https://evil.example": "/", "/\\evil.example": "/", "/clusters": "/clusters"} {
		got := as(t, pages, "", http.MethodPost, "/login", "token=jane&to="+to, form...)
		if location := got.Header().Get("Location"); location != want {
			t.Errorf("after the login with to=%s the page is %s, want %s", to, location, want)
		}
	}
	out := as(t, pages, "jane", http.MethodPost, "/logout", "")
	if cookies := out.Result().Cookies(); len(cookies) != 1 || cookies[0].MaxAge >= 0 {
		t.Errorf("after the logout the cookies are %v", cookies)
	}
}

// Pages of other sites can neither log a user out nor have an object compared.
func TestOtherSitesArePowerless(t *testing.T) {
	pages := newPages(newTestHub(world()...))
	for _, path := range []string{"/logout", "/login", "/placements/team-a/web/preview"} {
		got := as(t, pages, "jane", http.MethodPost, path, "manifest=x", "Sec-Fetch-Site", "cross-site",
			"Content-Type", "application/x-www-form-urlencoded")
		if got.Code != http.StatusForbidden {
			t.Errorf("%s: status %d", path, got.Code)
		}
	}
}

func TestPreviewsAreBounded(t *testing.T) {
	pages := newPages(newTestHub(world()...))
	const path = "/placements/team-a/web/preview"
	for reason, tc := range map[string]struct {
		body, kind string
		code       int
	}{
		"too large":       {strings.Repeat("x", maxBodyBytes+1), "application/yaml", http.StatusRequestEntityTooLarge},
		"nothing":         {"", "application/yaml", http.StatusBadRequest},
		"another content": {"x", "text/csv", http.StatusUnsupportedMediaType},
	} {
		if got := as(t, pages, "jane", http.MethodPost, path, tc.body, "Content-Type", tc.kind); got.Code != tc.code {
			t.Errorf("%s: status %d, want %d", reason, got.Code, tc.code)
		}
	}
}

// visitAs gets a page of a server as a user, and returns the status code.
func visitAs(t *testing.T, server *httptest.Server, name, path string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
	if err != nil {
		t.Error(err)
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+name)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return 0
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	return response.StatusCode
}

// One page of a user is made at a time; more than some that wait are refused, and do not keep others from theirs.
func TestUsersDoNotKeepOthersWaiting(t *testing.T) {
	hub := newTestHub(world()...)
	hub.block = make(chan struct{})
	pages := newPages(hub)
	const open = 3 // Each page of a user who hurries waits ten times as long as the one before took.
	pages.turns = turns.New(maxRunning, open)
	server := httptest.NewServer(pages)
	defer server.Close()
	codes := make(chan int, open+4)
	get := func(name string) { codes <- visitAs(t, server, name, "/placements/team-a/web") }
	for range open + 4 {
		go get("greedy")
	}
	for range 4 {
		if code := <-codes; code != http.StatusTooManyRequests {
			t.Errorf("status %d, want 429", code)
		}
	}
	other := make(chan struct{})
	go func() { get("jane"); close(other) }()
	close(hub.block)
	for range open + 1 {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("status %d, want 200", code)
		}
	}
	<-other
}

// A slow search of one user delays neither the pages of other users nor the other pages of that user.
func TestWhatIfsDoNotKeepPagesWaiting(t *testing.T) {
	hub := newTestHub(world()...)
	hub.block, hub.blocked = make(chan struct{}), func(question *Question) bool { return len(question.Clusters) > 0 }
	server := httptest.NewServer(newPages(hub))
	t.Cleanup(server.Close)
	codes := make(chan int)
	get := func(name, path string) { codes <- visitAs(t, server, name, path) }
	go get("greedy", "/placements/team-a/web?cluster=eu1")
	for _, name := range []string{"jane", "greedy"} {
		go get(name, "/placements/team-a/web")
		if code := <-codes; code != http.StatusOK {
			t.Errorf("%s: status %d, want 200", name, code)
		}
	}
	close(hub.block)
	<-codes
}

// event is one of an event stream.
type event struct{ name, data string }

// eventsOf opens an event stream, and returns its events.
func eventsOf(t *testing.T, server *httptest.Server, name, query string) (<-chan event, int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/events?"+query, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+name)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	})
	events := make(chan event, 100)
	go func() {
		defer close(events)
		var current event
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			switch kind, value, _ := strings.Cut(lines.Text(), ": "); kind {
			case "event":
				current.name = value
			case "data":
				current.data = value
				events <- current
			}
		}
	}()
	return events, response.StatusCode
}

// A page is urgent while its Placement has changed since it was made.
func TestPagesOfChangedPlacementsAreUrgent(t *testing.T) {
	hub, key := newTestHub(), inventory.NewPlacementKey(inventory.V1beta1, "team-a", "web")
	hub.versions = map[inventory.Key]uint64{key: 2}
	for _, tc := range []struct {
		reason string
		last   *state
		want   bool
	}{
		{"a page that was never made", nil, false},
		{"a page of no Placement", &state{own: 1}, false},
		{"a page of a Placement as it is", &state{placement: key, own: 2}, false},
		{"a page of a Placement as it was", &state{placement: key, own: 1}, true},
	} {
		if got := newPages(hub).isUrgent(tc.last); got != tc.want {
			t.Errorf("%s: urgent is %t, want %t", tc.reason, got, tc.want)
		}
	}
}

// A stream goes on after the time in which a server wants to have read a request.
func TestEventsOutliveTheTimeToReadARequest(t *testing.T) {
	hub := newTestHub(world()...)
	server := httptest.NewUnstartedServer(newPages(hub))
	server.Config.ReadTimeout = 2 * time.Second
	server.Start()
	t.Cleanup(server.Close)
	events, code := eventsOf(t, server, "jane", "page=%2Fplacements%2Fteam-a%2Fweb")
	if code != http.StatusOK {
		t.Fatalf("status %d", code)
	}
	for range 4 {
		<-events
	}
	<-time.After(server.Config.ReadTimeout)
	moved := cluster("us1", "eu")
	moved.ResourceVersion = "999"
	if err := hub.Update(t.Context(), moved); err != nil {
		t.Fatal(err)
	}
	hub.changes <- struct{}{}
	if changed, open := <-events; !open || changed.name != "part" {
		t.Errorf("after the time to read the request there is %v, and the stream is open: %t", changed, open)
	}
}

// The stream has what changes, and only that, and ends when the user may no longer see the page.
func TestEvents(t *testing.T) {
	hub := newTestHub(world()...)
	server := httptest.NewServer(newPages(hub))
	t.Cleanup(server.Close) // The streams end before.

	events, code := eventsOf(t, server, "jane", "page=%2Fplacements%2Fteam-a%2Fweb")
	if code != http.StatusOK {
		t.Fatalf("status %d", code)
	}
	first := map[string]update{}
	for range 4 { // The parts, none of which the browser has.
		var got update
		if err := json.Unmarshal([]byte((<-events).data), &got); err != nil {
			t.Fatal(err)
		}
		first[got.ID] = got
	}

	moved := cluster("us1", "eu")
	moved.ResourceVersion = "999"
	if err := hub.Update(t.Context(), moved); err != nil {
		t.Fatal(err)
	}
	hub.changes <- struct{}{}
	changed := map[string]bool{}
	for range 2 {
		var got update
		if err := json.Unmarshal([]byte((<-events).data), &got); err != nil {
			t.Fatal(err)
		}
		changed[got.ID] = true
		if got.Hash == first[got.ID].Hash {
			t.Errorf("part %s was sent without a change", got.ID)
		}
	}
	if !changed["matrix"] || !changed["summary"] {
		t.Errorf("the parts %v have changed, want summary and matrix", changed)
	}

	hub.refused["jane"] = true
	hub.changes <- struct{}{}
	if last := <-events; last.name != "end" || !strings.Contains(last.data, "403") {
		t.Errorf("after the right was taken away the event is %v", last)
	}
	if more, open := <-events; open {
		t.Errorf("after the end there is %v", more)
	}

	for range maxStreamsOfUser {
		if _, code := eventsOf(t, server, "greedy", "page=%2Fclusters"); code != http.StatusOK {
			t.Fatalf("a stream of a user has status %d", code)
		}
	}
	if _, code := eventsOf(t, server, "greedy", "page=%2Fclusters"); code != http.StatusTooManyRequests {
		t.Errorf("one more stream of the user has status %d", code)
	}
	if _, code := eventsOf(t, server, "ada", "page=%2Fclusters"); code != http.StatusOK {
		t.Errorf("a stream of another user has status %d", code)
	}

	if _, code := eventsOf(t, server, "jane", "page=https%3A%2F%2Fevil.example%2F"); code != http.StatusBadRequest {
		t.Errorf("a page of another server has status %d", code)
	}
}
