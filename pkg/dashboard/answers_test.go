// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/turns"
)

const (
	placementPath = "/placements/team-a/web"
	previewPath   = placementPath + "/preview"
)

// refusals are the ways in which the pages refuse a request, with the words that say what to do next. Nothing here forwards requests, so that there
// is no 502.
var refusals = []struct {
	reason       string
	method, path string
	body         string
	header       []string
	nobody       bool // without credentials
	local        bool // of the dashboard on this machine
	err          error
	prepare      func(s *Server)
	code         int
	next         string
}{
	{reason: "an API that does not exist", path: placementPath + "?api=v9", code: http.StatusBadRequest, next: "leave it out, or use v1alpha1"},
	{reason: "a what-if with a mistake", path: "/clusters/us1?label=region", code: http.StatusBadRequest, next: "Write it as region=eu"},
	{reason: "a time that is none", path: "/history?since=yesterday", code: http.StatusBadRequest, next: "a duration such as 24h"},
	{reason: "too many clusters", path: "/history?cluster=" + strings.Repeat("c,", 21), code: http.StatusBadRequest, next: "Name at most 20"},
	{
		reason: "a preview of nothing", method: http.MethodPost, path: previewPath, header: []string{"Content-Type", "application/yaml"},
		code: http.StatusBadRequest, next: "send the Placement that would be applied",
	},
	{reason: "events of another server", path: "/events?page=https%3A%2F%2Fa.example", code: http.StatusBadRequest, next: "name a page"},

	{reason: "another browser", path: "/", nobody: true, local: true, code: http.StatusUnauthorized, next: "open the URL that the command has"},
	{
		reason: "a program without a token", path: "/", nobody: true, header: []string{"Accept", "application/json"}, code: http.StatusUnauthorized,
		next: "log in with a bearer token",
	},
	{reason: "events without a token", path: "/events?page=%2F", nobody: true, code: http.StatusUnauthorized, next: "log in with a bearer token"},
	{reason: "an empty form", method: http.MethodPost, path: "/login", nobody: true, code: http.StatusUnauthorized, next: "enter a token"},
	{
		reason: "a form that is too large", method: http.MethodPost, path: "/login", nobody: true, body: strings.Repeat("x", maxBodyBytes+1),
		header: []string{"Content-Type", "application/x-www-form-urlencoded"}, code: http.StatusRequestEntityTooLarge, next: "Enter a bearer token",
	},

	{
		reason: "a page of another site", method: http.MethodPost, path: "/logout", header: []string{"Sec-Fetch-Site", "cross-site"},
		code: http.StatusForbidden, next: "open the dashboard",
	},
	{
		reason: "a right that the user lacks", path: placementPath, code: http.StatusForbidden, next: "a RoleBinding to view",
		err: apierrors.NewForbidden(schema.GroupResource{Resource: "placements"}, "", errors.New("refused")),
	},
	{
		reason: "an explanation that the user may not ask for", path: placementPath, code: http.StatusForbidden, next: "permits the explanation",
		err: &access.RefusalError{User: "jane", Lacks: []access.Asked{{
			Verb: "get", Resource: schema.GroupVersionResource{Resource: "placements"}, Namespace: "team-a", Name: "web",
		}}},
	},

	{reason: "no page", path: "/none", code: http.StatusNotFound, next: "begin at the overview"},
	{reason: "a preview that is opened", path: previewPath, code: http.StatusNotFound, next: "begin at the overview"},
	{reason: "no asset", path: "/assets/none.js", code: http.StatusNotFound, next: "begin at the overview"},
	{reason: "the directory of assets", path: "/assets/", code: http.StatusNotFound, next: "begin at the overview"},
	{reason: "a name that none can have", path: "/clusters/a%2Fb", code: http.StatusNotFound, next: "correct it"},
	{reason: "no cluster", path: "/clusters/none", code: http.StatusNotFound, next: "correct the name"},
	{reason: "what happened to another kind", path: "/objects/team-a/Pod/x/history", code: http.StatusNotFound, next: "correct the kind"},
	{reason: "no placement", path: "/placements/team-a/none", code: http.StatusNotFound, next: "correct the name"},
	{
		reason: "an answer without an object", path: placementPath, code: http.StatusNotFound, next: "correct the namespace",
		err: &endpoint.AnswerError{Err: errors.New("there is none; correct the namespace")},
	},
	{
		reason: "an object that was deleted", path: placementPath, code: http.StatusNotFound, next: "correct the name",
		err: apierrors.NewNotFound(schema.GroupResource{Resource: "placements"}, "web"),
	},
	{
		reason: "a system that is not installed", path: placementPath, code: http.StatusNotFound, next: "install it",
		err: &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "a.example", Kind: "A"}},
	},

	{reason: "a form that is sent to a page", method: http.MethodPost, path: "/", code: http.StatusMethodNotAllowed, next: "begin at the overview"},
	{reason: "a deletion", method: http.MethodDelete, path: placementPath, code: http.StatusMethodNotAllowed, next: "begin at the overview"},
	{reason: "an asset that is replaced", method: http.MethodPut, path: "/assets/app.js", code: http.StatusMethodNotAllowed, next: "begin at the"},

	{
		reason: "a preview that is too large", method: http.MethodPost, path: previewPath, body: strings.Repeat("x", maxBodyBytes+1),
		header: []string{"Content-Type", "application/yaml"}, code: http.StatusRequestEntityTooLarge, next: "placement diff",
	},
	{
		reason: "a preview of something else", method: http.MethodPost, path: previewPath, body: "x", header: []string{"Content-Type", "text/csv"},
		code: http.StatusUnsupportedMediaType, next: "send the Placement as application/yaml",
	},
	{
		reason: "the name of another host", path: "http://other.example:8484/", local: true, code: http.StatusMisdirectedRequest,
		next: "open the dashboard by an address of this machine",
	},
	{
		reason: "a preview that the hub refuses", method: http.MethodPost, path: previewPath, body: "x",
		header: []string{"Content-Type", "application/yaml"}, code: http.StatusUnprocessableEntity, next: "is required",
		err: &endpoint.AnswerError{Err: errors.New("apiVersion: is required")},
	},

	{
		reason: "many pages at once", path: "/", code: http.StatusTooManyRequests, next: "try again in some seconds",
		prepare: func(s *Server) {
			for range maxOpenOfUser {
				s.turns.Join("jane")
			}
		},
	},
	{
		reason: "many pages that follow changes", path: "/events?page=%2F", code: http.StatusTooManyRequests, next: "close some",
		prepare: func(s *Server) {
			for range maxStreamsOfUser {
				s.followers.turns.Join("jane")
			}
		},
	},

	{reason: "an error", path: placementPath, err: errors.New("broken"), code: http.StatusInternalServerError, next: "see the log"},
	{reason: "a slow page", path: placementPath, err: context.DeadlineExceeded, code: http.StatusServiceUnavailable, next: "try again in some"},
	{reason: "a hub that is down", path: placementPath, err: syscall.ECONNREFUSED, code: http.StatusServiceUnavailable, next: "try again in"},
	{reason: "a hub that restarts", path: placementPath, err: syscall.ECONNRESET, code: http.StatusServiceUnavailable, next: "try again in"},
	{reason: "a request that ends", path: placementPath, err: context.Canceled, code: http.StatusServiceUnavailable, next: "try again"},
	{
		reason: "all streams", path: "/events?page=%2F", code: http.StatusServiceUnavailable, next: "reload it",
		prepare: func(s *Server) {
			for n := range maxStreams {
				s.streams.Enter(context.Background(), turns.Tenant(strconv.Itoa(n)))
			}
		},
	},
}

// A browser shows an error of its own, or nothing, for a refusal without a body; a person who sees the name of a status code alone does not know what
// to do.
func TestEveryRefusalSaysWhatToDo(t *testing.T) {
	seen := map[int]bool{}
	for _, c := range refusals {
		t.Run(fmt.Sprint(c.code, " ", c.reason), func(t *testing.T) {
			hub := newTestHub(world()...)
			hub.err = c.err
			var gate Gate = NewTokenGate(users{})
			if c.local {
				gate = NewLocalGate(&user.DefaultInfo{Name: "jane"})
			}
			pages := New(hub, gate, func() time.Time { return now })
			if c.prepare != nil {
				c.prepare(pages)
			}
			name := "jane"
			if c.nobody {
				name = ""
			}
			path := c.path
			if c.local && strings.HasPrefix(path, "/") {
				path = "http://127.0.0.1:8484" + path
			}
			method := c.method
			if method == "" {
				method = http.MethodGet
			}
			response := as(t, pages, name, method, path, c.body, c.header...)
			if response.Code != c.code {
				t.Errorf("status %d, want %d", response.Code, c.code)
			}
			wantShown(t, response)
			if text := html.UnescapeString(response.Body.String()); !strings.Contains(text, c.next) {
				t.Errorf("%q is missing:\n%s", c.next, text)
			}
			if c.code == http.StatusMethodNotAllowed && response.Header().Get("Allow") == "" {
				t.Error("the methods that are allowed are missing")
			}
		})
		seen[c.code] = true
	}
	for code, file := range statusCodes(t) {
		if !seen[code] {
			t.Errorf("%s has status %d, which no case has", file, code)
		}
	}
}

// wantShown expects that a browser shows a response, and that it says more than the name of its status code.
func wantShown(t *testing.T, response *httptest.ResponseRecorder) {
	t.Helper()
	kind, _, _ := strings.Cut(response.Header().Get("Content-Type"), ";")
	if !slices.Contains([]string{"text/html", "text/plain", "application/json"}, kind) {
		t.Errorf("a browser does not show the content type %q", kind)
	}
	text := strings.TrimSpace(response.Body.String())
	if bare := regexp.MustCompile(`^\d* ?`).ReplaceAllString(text, ""); bare == "" || bare == "page not found" ||
		bare == http.StatusText(response.Code) {
		t.Errorf("status %d with the text %q alone", response.Code, text)
	}
	if kind == "text/html" && !strings.Contains(text, `class="problem"`) && !strings.Contains(text, `class="mistake"`) {
		t.Errorf("the page has no problem:\n%s", text)
	}
}

// statusCodes returns the status codes of errors that the package names, each with a file.
func statusCodes(t *testing.T) map[int]string {
	t.Helper()
	byName := map[string]int{}
	for code := http.StatusBadRequest; code < 600; code++ {
		byName["Status"+strings.NewReplacer(" ", "", "-", "", "'", "").Replace(http.StatusText(code))] = code
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	named := map[int]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`http\.(Status[A-Z]\w+)`).FindAllStringSubmatch(string(content), -1) {
			if code, isError := byName[match[1]]; isError && !strings.HasSuffix(file, "_test.go") {
				named[code] = file
			}
		}
	}
	if len(named) < 10 {
		t.Fatalf("found %v alone", slices.Collect(maps.Keys(named)))
	}
	return named
}

// No method on any path has an answer of the router alone.
func TestEveryMethodOnEveryPathHasAnAnswer(t *testing.T) {
	paths := append([]string{
		previewPath, "/events", "/login", "/logout", "/assets/app.js", "/assets/none", "/none", "/placements/", "/clusters/",
	}, allPaths...)
	for _, gate := range []Gate{NewTokenGate(users{}), NewLocalGate(&user.DefaultInfo{Name: "jane"})} {
		pages := New(newTestHub(world()...), gate, func() time.Time { return now })
		for _, path := range paths {
			for _, method := range []string{
				http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace,
			} {
				for _, name := range []string{"jane", ""} {
					response := as(t, pages, name, method, "http://127.0.0.1"+path, "")
					if response.Code < http.StatusBadRequest {
						continue
					}
					wantShown(t, response)
					if t.Failed() {
						t.Fatalf("%s %s as %q", method, path, name)
					}
				}
			}
		}
	}
}
