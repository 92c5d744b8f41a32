// SPDX-License-Identifier: Apache-2.0

package debug_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/explain/debug"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/expect"
)

const (
	beta  = ".cluster.open-cluster-management.io"
	alpha = ".placement.open-cluster-management.io"
)

// everything has the objects that the Placements depend on.
var everything = []string{
	"get team-a/rollout" + beta, "get team-a/typo" + beta, "get team-a/by-hand" + beta, "get team-a/missing" + beta, "get team-b/stuck" + beta,
	"get team-a/rollout" + alpha, "create team-a/" + beta, "create team-a/" + alpha,
}

var asker = &user.DefaultInfo{Name: "ada", UID: "7", Groups: []string{"team-a"}, Extra: map[string][]string{"scopes": {"debug"}}}

// getDecision puts a question; the body is sent if there is one.
func getDecision(t *testing.T, h *hub, r *rights, caller user.Info, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	ctx := t.Context()
	if caller != nil {
		ctx = request.WithUser(ctx, caller)
	}
	recorder := httptest.NewRecorder()
	debug.New(h, r, admission, func() time.Time { return noon }).
		ServeHTTP(recorder, httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body)))
	return recorder
}

func decode(t *testing.T, recorder *httptest.ResponseRecorder) debug.Response {
	t.Helper()
	var answer debug.Response
	must(t, json.Unmarshal(recorder.Body.Bytes(), &answer))
	if got := recorder.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	return answer
}

const sent = `{"apiVersion":"cluster.open-cluster-management.io/v1beta1","kind":"Placement","metadata":{"namespace":"team-a","name":"new"},"spec":{}}`

// docs/spec/upstream-placement.md 1.17: every code, in the order in which they are found out. Whoever is refused has had nothing looked up.
func TestCodes(t *testing.T) {
	get := "/debug/placements/team-a/rollout"
	for _, tc := range []struct {
		reason, method, target, body string
		nobody                       bool
		allowed                      []string
		prepare                      func(*hub, *rights)
		want                         int
		says                         string
		asked                        string
		lookups                      int
	}{
		{
			reason: "200 for a placement that is there", method: "GET", target: get, allowed: everything, want: 200,
			asked: "get team-a/rollout" + beta, lookups: 3,
		},
		{
			reason: "200 for one that is sent", method: "POST", target: debug.Path, body: sent, allowed: everything, want: 200,
			asked: "create team-a/" + beta + ", get team-a/new" + beta, lookups: 1,
		},
		{
			reason: "405 comes first", method: "DELETE", target: get, nobody: true, want: 405, says: "use GET for a placement of the hub, or POST",
		},
		{reason: "405 for HEAD", method: "HEAD", target: get, allowed: everything, want: 405, says: "method HEAD"},
		{reason: "401 without a user", method: "GET", target: get, nobody: true, want: 401, says: "bearer token"},
		{reason: "401 whatever is sent", method: "POST", target: debug.Path, body: "{", nobody: true, want: 401, says: "bearer token"},
		{reason: "400 without a placement", method: "GET", target: debug.Path, allowed: everything, want: 400, says: "<namespace>/<name>"},
		{reason: "404 without a name", method: "GET", target: debug.Path + "team-a/", allowed: everything, want: 404, says: "<namespace>/<name>"},
		{reason: "400 without namespace", method: "GET", target: debug.Path + "/rollout", allowed: everything, want: 400, says: "<namespace>/<name>"},
		{reason: "400 for more than a name", method: "GET", target: get + "/status", allowed: everything, want: 400, says: "<namespace>/<name>"},
		{reason: "400 for a slash in disguise", method: "GET", target: debug.Path + "team-a%2Fx/y", allowed: everything, want: 400, says: "<name>"},
		{reason: "400 for another API", method: "GET", target: get + "?api=apps", allowed: everything, want: 400, says: `"apps"]: use one of`},
		{
			reason: "403 without the right", method: "GET", target: get, want: 403,
			says:  `user "ada" does not have permission to get placements rollout of ` + beta[1:] + " in namespace team-a",
			asked: "get team-a/rollout" + beta,
		},
		{
			reason: "403 although it is not there", method: "GET", target: debug.Path + "team-a/missing", want: 403,
			says:  "does not have permission to get placements",
			asked: "get team-a/missing" + beta,
		},
		{
			reason: "403 before it shows that nothing is known yet", method: "GET", target: get, want: 403,
			says:    "does not have permission to get placements",
			prepare: func(h *hub, _ *rights) { h.syncing = true }, asked: "get team-a/rollout" + beta,
		},
		{
			reason: "the right to get is not that to create", method: "POST", target: debug.Path, body: sent, allowed: everything[:6], want: 403,
			says: "does not have permission to create placements", asked: "create team-a/" + beta,
		},
		{
			reason: "404 for those who may get it", method: "GET", target: debug.Path + "team-a/missing", allowed: everything, want: 404,
			says: "no Placement team-a/missing", asked: "get team-a/missing" + beta, lookups: 1,
		},
		{
			reason: "400 for an API that is not served", method: "GET", target: get + "?api=placement.open-cluster-management.io",
			allowed: everything, want: 400, says: "not served here", asked: "get team-a/rollout" + alpha,
			prepare: func(h *hub, _ *rights) { h.apis = []api.Adapter{api.V1beta1} },
		},
		{
			reason: "500 when nobody can say what is allowed, and not why", method: "GET", target: get, want: 500, says: "try again",
			prepare: func(_ *hub, r *rights) { r.broken = errDown }, asked: "get team-a/rollout" + beta,
		},
		{
			reason: "500 when nothing can be read", method: "GET", target: get, allowed: everything, want: 500, says: "try again",
			prepare: func(h *hub, _ *rights) { h.broken = errDown }, asked: "get team-a/rollout" + beta, lookups: 1,
		},
		{
			reason: "503 while the hub is read", method: "GET", target: get, allowed: everything, want: 503, says: "has not read everything yet",
			prepare: func(h *hub, _ *rights) { h.syncing = true }, asked: "get team-a/rollout" + beta,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h, r := newHub(t), &rights{allowed: tc.allowed}
			if tc.prepare != nil {
				tc.prepare(h, r)
			}
			var caller user.Info = asker
			if tc.nobody {
				caller = nil
			}
			recorder := getDecision(t, h, r, caller, tc.method, tc.target, tc.body)
			answer := decode(t, recorder)
			if recorder.Code != tc.want {
				t.Errorf("code %d, want %d: %s", recorder.Code, tc.want, recorder.Body)
			}

			if !strings.Contains(answer.Error, tc.says) || (tc.want != 200) != (answer.Error != "") || strings.Contains(answer.Error, "10.0.0.1") {
				t.Errorf("error %q, want one with %q", answer.Error, tc.says)
			}
			if got := r.questions(); got != tc.asked {
				t.Errorf("asked %q, want %q", got, tc.asked)
			}
			if h.lookups != tc.lookups {
				t.Errorf("%d lookups, want %d", h.lookups, tc.lookups)
			}

			if allow := recorder.Header().Get("Allow"); (allow == "GET, POST") != (tc.want == http.StatusMethodNotAllowed) {
				t.Errorf("Allow: %q", allow)
			}
			if retry := recorder.Header().Get("Retry-After"); (retry != "") != (tc.want == http.StatusServiceUnavailable) {
				t.Errorf("Retry-After: %q", retry)
			}
		})
	}
}

// No existence leak: without the right, a placement that is there and one that is not have one answer, but for the name that was asked for.
func TestRefusalsAreAlike(t *testing.T) {
	h, r := newHub(t), &rights{}
	there := getDecision(t, h, r, asker, "GET", "/debug/placements/team-a/rollout", "")
	missing := getDecision(t, h, r, asker, "GET", "/debug/placements/team-a/missing", "")
	if diff := cmp.Diff(there.Body.String(), strings.ReplaceAll(missing.Body.String(), "missing", "rollout")); diff != "" {
		t.Errorf("the answers differ (-there +missing):\n%s", diff)
	}
	if diff := cmp.Diff(there.Header(), missing.Header()); diff != "" {
		t.Errorf("the headers differ (-there +missing):\n%s", diff)
	}
}

// docs/spec/upstream-placement.md 1.17: the API server is asked about the user as he is, Extra passed through, for placements of the API.
func TestRightsAreReviewedForTheUser(t *testing.T) {
	for _, tc := range []struct{ target, version string }{
		{"/debug/placements/team-a/rollout", "v1beta1"},
		{"/debug/placements/team-a/rollout?api=placement.open-cluster-management.io", "v1alpha1"},
	} {
		r := &rights{allowed: everything}
		if recorder := getDecision(t, newHub(t), r, asker, "GET", tc.target, ""); recorder.Code != http.StatusOK {
			t.Fatalf("%s: code %d: %s", tc.target, recorder.Code, recorder.Body)
		}
		asked := r.asked[0]
		if diff := cmp.Diff(user.Info(asker), asked.GetUser()); diff != "" {
			t.Errorf("user (-want +got):\n%s", diff)
		}

		if asked.GetResource() != "placements" || asked.GetAPIVersion() != tc.version || !asked.IsResourceRequest() || asked.GetSubresource() != "" {
			t.Errorf("asked about %s %s, subresource %q", asked.GetAPIVersion(), asked.GetResource(), asked.GetSubresource())
		}
	}
}

// The whole answer, byte for byte: upstream's names and ours.
func TestResponses(t *testing.T) {
	for _, tc := range []struct{ golden, method, target, body string }{
		{"get.json", "GET", "/debug/placements/team-a/rollout", ""},
		{"get-v1alpha1.json", "GET", "/debug/placements/team-a/rollout?api=placement.open-cluster-management.io", ""},
		{"misconfigured.json", "GET", "/debug/placements/team-a/typo", ""},
		{"brokenset.json", "GET", "/debug/placements/team-b/stuck", ""},
		{"disabled.json", "GET", "/debug/placements/team-a/by-hand", ""},
		{
			"post.json", "POST", debug.Path,
			`{"metadata":{"namespace":"team-a"},"spec":{"numberOfClusters":3,"tolerations":[{"key":"gpu","operator":"Exists"}]}}`,
		},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			recorder := getDecision(t, newHub(t), &rights{allowed: everything}, asker, tc.method, tc.target, tc.body)
			if recorder.Code != http.StatusOK {
				t.Fatalf("code %d: %s", recorder.Code, recorder.Body)
			}
			expect.Golden(t, filepath.Join("testdata", tc.golden), recorder.Body.String())
			again := getDecision(t, newHub(t), &rights{allowed: everything}, asker, tc.method, tc.target, tc.body)
			if again.Body.String() != recorder.Body.String() {
				t.Error("the same question has another answer")
			}
		})
	}
}

// docs/spec/upstream-placement.md 1.17: clients decode what the answer is about into the type of the API.
func TestThePlacementIsAnObject(t *testing.T) {
	h := newHub(t)
	for _, object := range h.state.Placements {
		if placement, is := object.(*clusterv1beta1.Placement); is && placement.Name == "rollout" {
			placement.Status.NumberOfSelectedClusters = 1
			placement.Status.Conditions = []metav1.Condition{{Type: "Other", Status: metav1.ConditionTrue, Reason: "R"}}
		}
	}

	for _, tc := range []struct {
		reason, method, target, body string
		want                         clusterv1beta1.Placement
	}{
		{
			reason: "as it is on the hub", method: "GET", target: debug.Path + "team-a/rollout",
			want: clusterv1beta1.Placement{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: "team-a", Name: "rollout", Labels: map[string]string{"app": "shop"},
					Annotations: map[string]string{"example.com/why": "a < b"},
				},
				Spec: clusterv1beta1.PlacementSpec{NumberOfClusters: new(int32(1))},
				Status: clusterv1beta1.PlacementStatus{
					NumberOfSelectedClusters: 1,
					Conditions:               []metav1.Condition{{Type: "Other", Status: metav1.ConditionTrue, Reason: "R"}},
				},
			},
		},
		{
			reason: "as it was sent", method: "POST", target: debug.Path, body: `{"metadata":{"namespace":"team-a"},"spec":{"numberOfClusters":3}}`,
			want: clusterv1beta1.Placement{
				ObjectMeta: metav1.ObjectMeta{Namespace: "team-a"}, Spec: clusterv1beta1.PlacementSpec{NumberOfClusters: new(int32(3))},
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			recorder := getDecision(t, h, &rights{allowed: everything}, asker, tc.method, tc.target, tc.body)
			var got struct {
				Placement clusterv1beta1.Placement `json:"placement"`
			}
			decoder := json.NewDecoder(recorder.Body)
			must(t, decoder.Decode(&got))
			tc.want.TypeMeta = metav1.TypeMeta{APIVersion: clusterv1beta1.GroupVersion.String(), Kind: "Placement"}

			number := got.Placement.Spec.NumberOfClusters
			got.Placement.Spec = clusterv1beta1.PlacementSpec{NumberOfClusters: number} // The rest are defaults, which the golden files have.
			if diff := cmp.Diff(tc.want, got.Placement); diff != "" {
				t.Errorf("placement (-want +got):\n%s", diff)
			}
		})
	}
}
