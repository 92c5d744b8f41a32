// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers the metrics of the Go runtime, as in the command
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/placement-hub/placement-hub/test/expect"
)

// newReviewer is an API server that knows the tokens "scraper" and "stranger" and lets only the scraper get /metrics and /whoami.
func newReviewer(t *testing.T) *rest.Config {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /apis/authentication.k8s.io/v1/tokenreviews", func(w http.ResponseWriter, req *http.Request) {
		review := &authenticationv1.TokenReview{}
		serveReview(t, w, req, review, func() {
			review.Status.Authenticated = review.Spec.Token == "scraper" || review.Spec.Token == "stranger"
			review.Status.User.Username = review.Spec.Token
		})
	})
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/subjectaccessreviews", func(w http.ResponseWriter, req *http.Request) {
		review := &authorizationv1.SubjectAccessReview{}
		serveReview(t, w, req, review, func() {
			asked := review.Spec.NonResourceAttributes
			review.Status.Allowed = review.Spec.User == "scraper" && asked != nil && asked.Verb == "get" &&
				(asked.Path == "/metrics" || asked.Path == "/whoami")
		})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func serveReview(t *testing.T, w http.ResponseWriter, req *http.Request, review any, decide func()) {
	t.Helper()
	if err := json.NewDecoder(req.Body).Decode(review); err != nil {
		t.Errorf("decoding %s: %v", req.URL.Path, err)
	}
	decide()
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(review); err != nil {
		t.Errorf("answering %s: %v", req.URL.Path, err)
	}
}

func localServing() Options { return Options{Address: "127.0.0.1:0", Network: "tcp"} }

// serve starts an endpoint, returns its base URL, and stops it when the test ends.
func serve(t *testing.T, o Options, prepare func(*Server)) string {
	t.Helper()
	e, err := New(t.Context(), o, NewReviewBounds(), newReviewer(t), http.DefaultClient)
	expect.NoError(t, err)
	if prepare != nil {
		prepare(e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.runnable().Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		expect.NoError(t, <-done)
		expect.NoError(t, e.Close())
	})
	return "https://" + e.listener.Addr().String()
}

func newHTTPSClient(t *testing.T, config *tls.Config) *http.Client {
	t.Helper()
	config.InsecureSkipVerify = true
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// response is what the endpoint said, and how it was reached.
type response struct {
	code       int
	body       string
	protocol   int
	tlsVersion uint16
}

func get(t *testing.T, client *http.Client, url, token string) response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	expect.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	expect.NoError(t, err)
	defer func() { expect.NoError(t, resp.Body.Close()) }()
	body, err := io.ReadAll(resp.Body)
	expect.NoError(t, err)
	return response{code: resp.StatusCode, body: string(body), protocol: resp.ProtoMajor, tlsVersion: resp.TLS.Version}
}

func TestWhoMayReadWhat(t *testing.T) {
	base := serve(t, localServing(), func(e *Server) {
		e.Handle("/debug/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	})
	client := newHTTPSClient(t, &tls.Config{})
	for _, tc := range []struct {
		reason, path, token string
		want                int
	}{
		{"probes come without credentials", "/healthz", "", http.StatusOK},
		{"probes come without credentials", "/livez", "", http.StatusOK},
		{"probes come without credentials", "/readyz", "", http.StatusOK},
		{"a single check can be asked for", "/healthz/ping", "", http.StatusOK},
		{"metrics are for known callers", "/metrics", "", http.StatusUnauthorized},
		{"metrics are for known callers", "/metrics", "forged", http.StatusUnauthorized},
		{"a known caller needs the right", "/metrics", "stranger", http.StatusForbidden},
		{"a caller with the right is served", "/metrics", "scraper", http.StatusOK},
		{"every other handler is protected, too", "/debug/x", "", http.StatusUnauthorized},
		{"the right to /metrics is not a right to all", "/debug/x", "scraper", http.StatusForbidden},
		{"nothing else is there", "/", "scraper", http.StatusNotFound},
	} {
		t.Run(tc.path+": "+tc.reason, func(t *testing.T) {
			if got := get(t, client, base+tc.path, tc.token); got.code != tc.want {
				t.Errorf("GET %s as %q answers %d %s, want %d", tc.path, tc.token, got.code, got.body, tc.want)
			}
		})
	}
	if got := get(t, client, base+"/", ""); !strings.Contains(got.body, "--dashboard-listen") {
		t.Errorf("who looks for the dashboard reads %q", got.body)
	}
	if got := get(t, client, base+"/metrics", "scraper"); !strings.Contains(got.body, "# TYPE go_goroutines gauge") {
		t.Errorf("/metrics does not show the registry:\n%s", got.body)
	}
}

// docs/spec/trust.md T22: the refusal of a long path is short.
func TestT22RefusedPathsAreHardlyRepeated(t *testing.T) {
	base := serve(t, localServing(), func(e *Server) { e.Handle("/debug/", http.NotFoundHandler()) })
	got := get(t, newHTTPSClient(t, &tls.Config{}), base+"/debug/"+strings.Repeat("x", 100<<10), "stranger")
	if got.code != http.StatusForbidden || len(got.body) > 1<<10 {
		t.Errorf("status %d with %d bytes", got.code, len(got.body))
	}
}

func TestHandlersKnowTheUser(t *testing.T) {
	base := serve(t, localServing(), func(e *Server) {
		e.Handle("/whoami", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if user, ok := request.UserFrom(req.Context()); !ok || user.GetName() != "scraper" {
				t.Errorf("the handler sees user %v", user)
			}
			w.WriteHeader(http.StatusTeapot)
		}))
	})
	if got := get(t, newHTTPSClient(t, &tls.Config{}), base+"/whoami", "scraper"); got.code != http.StatusTeapot {
		t.Errorf("GET /whoami answers %d %s", got.code, got.body)
	}
}

func TestReviewerThatFails(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	e, err := New(t.Context(), localServing(), NewReviewBounds(), &rest.Config{Host: server.URL}, http.DefaultClient)
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, e.Close()) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil)
	req.Header.Set("Authorization", "Bearer scraper")
	recorder := httptest.NewRecorder()
	e.mux.ServeHTTP(recorder, req)
	if recorder.Code != http.StatusUnauthorized {
		t.Errorf("without an answer from the API server /metrics answers %d, want 401", recorder.Code)
	}
}

func TestOpenMetrics(t *testing.T) {
	o := localServing()
	o.Open = true
	if got := get(t, newHTTPSClient(t, &tls.Config{}), serve(t, o, nil)+"/metrics", ""); got.code != http.StatusOK {
		t.Errorf("authentication and authorization are disabled, but /metrics answers %d", got.code)
	}
}

// What the configuration opens is the metrics, not what others mount.
func TestOpenMetricsOpenNothingElse(t *testing.T) {
	o := localServing()
	o.Open = true
	base := serve(t, o, func(e *Server) {
		e.Handle("/whoami", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	})
	client := newHTTPSClient(t, &tls.Config{})
	for token, want := range map[string]int{"": http.StatusUnauthorized, "stranger": http.StatusForbidden, "scraper": http.StatusTeapot} {
		if got := get(t, client, base+"/whoami", token); got.code != want {
			t.Errorf("GET /whoami as %q answers %d, want %d", token, got.code, want)
		}
	}
}

// docs/spec/upstream-placement.md 1.17: all that is known of a user is passed on when it is asked what he may do.
func TestAccessPassesTheUserOn(t *testing.T) {
	var asked authorizationv1.SubjectAccessReviewSpec
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		review := &authorizationv1.SubjectAccessReview{}
		serveReview(t, w, req, review, func() { asked, review.Status.Allowed = review.Spec, true })
	}))
	t.Cleanup(server.Close)
	e, err := New(t.Context(), localServing(), NewReviewBounds(), &rest.Config{Host: server.URL}, http.DefaultClient)
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, e.Close()) })

	decision, _, err := e.Access().Authorize(t.Context(), authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: "ada", UID: "7", Groups: []string{"team-a"}, Extra: map[string][]string{"scopes": {"debug", "more"}}},
		Verb: "get", Namespace: "team-a", Name: "rollout", APIGroup: "g", APIVersion: "v", Resource: "placements", ResourceRequest: true,
	})
	expect.NoError(t, err)
	if decision != authorizer.DecisionAllow {
		t.Errorf("decision %v", decision)
	}
	want := authorizationv1.SubjectAccessReviewSpec{
		User: "ada", UID: "7", Groups: []string{"team-a"}, Extra: map[string]authorizationv1.ExtraValue{"scopes": {"debug", "more"}},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "get", Namespace: "team-a", Name: "rollout", Group: "g", Version: "v", Resource: "placements",
		},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("SubjectAccessReview (-want +got):\n%s", diff)
	}
}

func TestProbesFollowTheirChecks(t *testing.T) {
	failing := healthz.Checker(func(*http.Request) error { return errors.New("not yet") })
	base := serve(t, localServing(), func(e *Server) { e.evaluation["caches"] = failing })
	client := newHTTPSClient(t, &tls.Config{})
	if got := get(t, client, base+"/readyz", ""); got.code != http.StatusInternalServerError || !strings.Contains(got.body, "[-]caches failed") {
		t.Errorf("/readyz answers %d %s although a check fails", got.code, got.body)
	}
	if got := get(t, client, base+"/healthz", ""); got.code != http.StatusOK {
		t.Errorf("/healthz answers %d %s: a process that is not ready is alive all the same", got.code, got.body)
	}
}

func TestEndpointAddressInUse(t *testing.T) {
	base := serve(t, localServing(), nil)
	o := localServing()
	o.Address = strings.TrimPrefix(base, "https://")
	_, err := New(t.Context(), o, NewReviewBounds(), newReviewer(t), http.DefaultClient)
	expect.Error(t, err, []string{"--listen", o.Address, "in use", "choose another"})
}

func TestProtocols(t *testing.T) {
	o := localServing()
	o.MinTLSVersion = "VersionTLS13"
	base := serve(t, o, nil)

	got := get(t, newHTTPSClient(t, &tls.Config{}), base+"/healthz", "")
	if got.protocol != 2 || got.tlsVersion != tls.VersionTLS13 {
		t.Errorf("served over HTTP/%d with TLS version %x, want HTTP/2 over TLS 1.3", got.protocol, got.tlsVersion)
	}
	address := strings.TrimPrefix(base, "https://")
	if _, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}); err == nil {
		t.Error("TLS 1.2 was accepted although the minimum is 1.3")
	}
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
	expect.NoError(t, err)
	expect.NoError(t, conn.Close())
}

func TestCertificateFilesThatCannotBeLoaded(t *testing.T) {
	o := localServing()
	o.CertFile, o.KeyFile = filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	_, err := New(t.Context(), o, NewReviewBounds(), newReviewer(t), http.DefaultClient)
	expect.Error(t, err, []string{o.CertFile, o.KeyFile, "no such file", "servingInfo"})
}
