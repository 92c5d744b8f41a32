// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/dashboard/runbooks"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/turns"
	"github.com/placement-hub/placement-hub/pkg/slowclients"
)

const (
	// maxRunning bounds the pages that are made at a time, so that readers do not starve the controllers. As many of those run besides that may
	// take long.
	maxRunning = 2
	// maxOpenOfUser bounds the requests of a tenant at a time until they are answered, of which one runs, and one that may take long.
	maxOpenOfUser = 16
	// maxStreams bounds the event streams of all tenants, and maxStreamsOfUser those of one, with as many of pages that may take long.
	maxStreams       = 200
	maxStreamsOfUser = 20
	// pageTimeout bounds a page with waiting, and whatIfTimeout the evaluation of a what-if or of an edited object.
	pageTimeout   = 10 * time.Second
	whatIfTimeout = 2 * time.Second
	// maxBodyBytes bounds an edited object, and maxEchoBytes one that is shown again.
	maxBodyBytes = 1 << 20
	maxEchoBytes = 64 << 10
	// maxProblemBytes bounds the text of a problem.
	maxProblemBytes = 2 << 10
	// maxInFlight bounds the bytes that are being written, and maxInFlightOfUser those of a tenant. One larger page at a time is written.
	maxInFlight       = 32 << 20
	maxInFlightOfUser = 8 << 20
	// retryAfter is the Retry-After header, in seconds.
	retryAfter = "2"
)

// Server serves the pages. It is safe for concurrent use.
type Server struct {
	hub  Hub
	gate Gate
	now  func() time.Time
	// turns are those of the pages, and searches those of the pages that may take long.
	turns, searches *turns.Turns
	streams         *turns.Places
	// inFlight counts the bytes of pages, and of parts of them, that browsers have not taken yet.
	inFlight *turns.Bytes
	// followers are the event streams, and searchers those of pages that may take long.
	followers, searchers *followers
	// changes are the last changes of Placements, and moves those of the overview.
	changes *lastChanges
	moves   *lastMoves
	pages   *http.ServeMux
	all     http.Handler
}

var _ http.Handler = (*Server)(nil)

// clusterPages begins the paths of the pages of clusters, each of which evaluates all Placements.
const clusterPages = "/clusters/"

// New returns a Server. Its arguments must be safe for concurrent use.
func New(hub Hub, gate Gate, now func() time.Time) *Server {
	s := &Server{
		hub: hub, gate: gate, now: now, turns: turns.New(maxRunning, maxOpenOfUser), searches: turns.New(maxRunning, maxOpenOfUser),
		streams: turns.NewPlaces(maxStreams), inFlight: turns.NewBytes(maxInFlight, maxInFlightOfUser),
		followers: newFollowers(), searchers: newFollowers(),
		changes: newLastChanges(), moves: newLastMoves(), pages: http.NewServeMux(),
	}
	for pattern, view := range map[string]view{
		"GET /{$}":                           overview,
		"GET /search":                        search,
		"GET /placements":                    placementsPage,
		"GET /placements/{namespace}/{name}": placementPage,
		"GET /placements/{namespace}/{name}/fleet":   placementFleetPage,
		"GET /placements/{namespace}/{name}/history": placementHistoryPage,
		"GET /fleet": fleetPage,
		"POST /placements/{namespace}/{name}/preview": previewPage,
		"GET /sets":                                      setsPage,
		"GET /clusters":                                  clustersPage,
		"GET " + clusterPages + "{name}":                 clusterPage,
		"GET " + clusterPages + "{name}/history":         clusterHistoryPage,
		"GET /objects":                                   objectsPage,
		"GET /objects/{namespace}/{kind}/{name}":         objectPage,
		"GET /objects/{namespace}/{kind}/{name}/history": objectHistoryPage,
		"GET /history":                                   historyPage,
		"GET /requests":                                  requestsPage,
		"GET /requests/{namespace}/{name}":               requestPage,
		"GET /requests/{namespace}/{name}/history":       requestHistoryPage,
		"GET /workloads":                                 workloadsPage,
		"GET /workloads/{namespace}/{kind}/{name}":       workloadPage,
		"GET /": noPage,
		"/":     noMethod,
	} {
		s.pages.Handle(pattern, s.show(view))
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /assets/", s.assets)
	routes.HandleFunc("GET /events", s.events)
	// Runbooks are for everybody: they are read while the API server, which knows the users, does not answer.
	routes.HandleFunc("GET "+runbooks.Path, s.runbook)
	routes.HandleFunc("GET "+runbooks.Path+"/{name}", s.runbook)
	if gate, tokens := gate.(*TokenGate); tokens {
		routes.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
			s.respondLogin(w, r, r.URL.Query().Get("to"), http.StatusOK, "")
		})
		routes.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) { s.login(w, r, gate) })
		routes.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) {
			gate.logout(w)
			http.Redirect(w, r, "/login", http.StatusSeeOther)
		})
	}
	routes.Handle("/", s.pages)
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(s.refuseOrigin))
	s.all = protection.Handler(routes)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	if s.gate.enter(w, request) {
		request.Body = http.MaxBytesReader(w, request.Body, maxBodyBytes)
		s.all.ServeHTTP(w, request)
	}
}

// collector is a response that takes a page before it is written, for the event stream.
type collector interface{ collect(made *page, err error) }

// show serves a view.
func (s *Server) show(view view) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		ctx, cancel := context.WithTimeout(request.Context(), pageTimeout)
		defer cancel()
		caller, err := s.gate.Caller(request)
		if err != nil {
			s.refuseCaller(w, request, err)
			return
		}
		if into, collects := w.(collector); collects { // A stream has had its turn.
			into.collect(s.make(ctx, caller, request, view))
			return
		}
		answer, leave := s.answer(ctx, caller, w, request, view)
		defer leave()
		answer.write(w, request)
	})
}

// answer makes a page when it is the turn of the caller. The caller calls leave once the page is written.
func (s *Server) answer(
	ctx context.Context, caller user.Info, w http.ResponseWriter, request *http.Request, view view,
) (answer *response, leave func()) {
	lane := s.turns
	if takesLong(request) {
		lane = s.searches
	}
	tenant := turns.TenantOf(caller)
	own, joined := lane.Join(tenant)
	if !joined {
		err := refuse(http.StatusTooManyRequests, "you have %d pages that are being made; try again in some seconds", maxOpenOfUser)
		return s.failed(ctx, caller, request, err), func() {}
	}
	leave = func() { lane.Leave(tenant) }

	if err := readBody(w, request); err != nil {
		return s.failed(ctx, caller, request, err), leave
	}
	done := lane.Take(ctx, own)
	if done == nil {
		return s.failed(ctx, caller, request, errBusy()), leave
	}
	// The turn is kept until the page may be written, so that no more pages are made than are taken. It is that of the tenant alone while other pages
	// of the tenant are not.
	defer done()
	made, err := s.make(ctx, caller, request, view)
	if err != nil {
		return s.failed(ctx, caller, request, err), leave
	}

	answer = s.rendered(request, caller, made)
	release, err := s.inFlight.Acquire(ctx, tenant, int64(len(answer.text)), func() { lane.Suspend(own) })
	if err != nil {
		return s.failed(ctx, caller, request, errBusy()), leave
	}
	return answer, func() {
		release()
		lane.Leave(tenant)
	}
}

// errBusy is about a page for which there is no time.
func errBusy() error {
	return refuse(http.StatusServiceUnavailable, "other pages are being made; try again in some seconds")
}

// failed returns the response for an error.
func (s *Server) failed(ctx context.Context, caller user.Info, request *http.Request, err error) *response {
	return s.rendered(request, caller, problemPage(problemOf(ctx, err)))
}

// readBody reads the body of a request in time, before the request has its turn.
func readBody(w http.ResponseWriter, request *http.Request) error {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return nil
	}
	text, err := slowclients.ReadBody(w, request, maxBodyBytes)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return refuse(http.StatusRequestEntityTooLarge, "the Placement is larger than %d bytes; compare it with placement diff", maxBodyBytes)
	case err != nil:
		return refuse(http.StatusBadRequest, "the Placement could not be read: %s; send it again", err)
	}
	request.Body = io.NopCloser(bytes.NewReader(text))
	return nil
}

// problemPage returns the page of a problem. It repeats little of what the caller has sent: rights were not asked for, perhaps.
func problemPage(told *problem) *page {
	text := endpoint.Shortened(told.text, maxProblemBytes)
	made := &page{Title: http.StatusText(told.code), Code: told.code, JSON: map[string]string{"error": text}}
	made.add("problem", "problem", text)
	return made
}

// make makes a page.
func (s *Server) make(ctx context.Context, caller user.Info, request *http.Request, view view) (*page, error) {
	if err := checkNames(request); err != nil {
		return nil, err
	}
	return view(ctx, &visit{
		hub: s.hub, caller: caller, request: request, now: s.now(), changes: s.changes, moves: s.moves, local: !s.gate.loginPage(),
	})
}

// takesLong reports whether a page may take longer than the evaluation of a Placement does: a preview, a what-if, a search for changes, or a large
// fleet in one page.
func takesLong(request *http.Request) bool {
	return request.Method != http.MethodGet || mayTakeLong(request.URL)
}

// mayTakeLong is takesLong for a page that is only read.
func mayTakeLong(page *url.URL) bool {
	if isHistory(page) {
		return false // Nothing is evaluated for it.
	}
	asked := page.Query()
	return strings.HasPrefix(page.Path, clusterPages) || asked.Has("cluster") || asked.Get("rows") == allRows
}

// refuseCaller responds to a request without valid credentials.
func (s *Server) refuseCaller(w http.ResponseWriter, request *http.Request, err error) {
	told := callerProblem(err)
	switch into, collects := w.(collector); {
	case collects:
		into.collect(nil, told)
	case told.code == http.StatusUnauthorized && s.gate.loginPage() && !wantsJSON(request):
		http.Redirect(w, request, link([]string{"login"}, "to", wanted(request.URL.RequestURI())), http.StatusSeeOther)
	default:
		if told.code == http.StatusUnauthorized && wantsJSON(request) {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		s.rendered(request, nil, problemPage(told)).write(w, request)
	}
}

// callerProblem returns why a request has no caller.
func callerProblem(err error) *problem {
	if errors.Is(err, access.ErrTooManyTokens) {
		return &problem{code: http.StatusTooManyRequests, text: err.Error()}
	}
	return &problem{code: http.StatusUnauthorized, text: err.Error()}
}

// refuseOrigin responds to a form that a page of another site has sent.
func (s *Server) refuseOrigin(w http.ResponseWriter, request *http.Request) {
	told := &problem{code: http.StatusForbidden, text: "this was sent by a page of another site; open the dashboard, and send it from there"}
	s.rendered(request, nil, problemPage(told)).write(w, request)
}

// wantsJSON reports whether a request asks for the JSON twin of a page.
func wantsJSON(request *http.Request) bool {
	accepted := request.Header.Get("Accept")
	return strings.Contains(accepted, "application/json") && !strings.Contains(accepted, "text/html")
}

// response is a page as it is written.
type response struct {
	code           int
	kind, encoding string
	text           []byte
}

// rendered renders a page, and compresses it if the browser takes that.
func (s *Server) rendered(request *http.Request, caller user.Info, made *page) *response {
	r := &response{code: made.Code, kind: "application/json"}
	if r.code == 0 {
		r.code = http.StatusOK
	}
	if wantsJSON(request) {
		r.text = jsonOf(made.JSON)
	} else {
		text, err := s.renderPage(request, caller, made)
		if err != nil {
			klog.FromContext(request.Context()).Error(err, "Cannot render a page of the dashboard", "path", request.URL.Path)
			text = []byte("the page could not be rendered; see the log of the process\n")
			return &response{code: http.StatusInternalServerError, kind: "text/plain; charset=utf-8", text: text}
		}
		r.kind, r.text = "text/html; charset=utf-8", text
	}
	if strings.Contains(request.Header.Get("Accept-Encoding"), "gzip") {
		var compressed bytes.Buffer
		writer := gzip.NewWriter(&compressed)
		if _, err := writer.Write(r.text); err == nil && writer.Close() == nil {
			r.encoding, r.text = "gzip", compressed.Bytes()
		}
	}
	return r
}

// write writes the response.
func (r *response) write(w http.ResponseWriter, request *http.Request) {
	header := w.Header()
	header.Set("Vary", "Accept, Accept-Encoding, Cookie, Authorization")
	header.Set("Content-Type", r.kind)
	if r.encoding != "" {
		header.Set("Content-Encoding", r.encoding)
	}
	switch r.code {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		header.Set("Retry-After", retryAfter)
	case http.StatusMethodNotAllowed:
		header.Set("Allow", http.MethodGet+", "+http.MethodHead)
	}
	w.WriteHeader(r.code)
	if _, err := w.Write(r.text); err != nil { //nolint:gosec // Templates and renderRows escape every text.
		klog.FromContext(request.Context()).V(4).Info("The browser did not take the page", "err", err)
	}
}

// jsonOf returns JSON that is no HTML.
func jsonOf(value any) []byte {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil { // Every value is plain data.
		return []byte(`{"error":"the page has no JSON"}`)
	}
	return append(text, '\n')
}

// runbook serves a runbook, or the list of them.
func (s *Server) runbook(w http.ResponseWriter, request *http.Request) {
	name := request.PathValue("name")
	found, has := runbooks.Find(name)
	if !has {
		told := &problem{code: http.StatusNotFound, text: "there is no such runbook; the list of runbooks has all"}
		s.rendered(request, nil, problemPage(told)).write(w, request)
		return
	}
	made := &page{Title: found.Title, JSON: map[string]string{"title": found.Title, "html": string(found.HTML)}, Static: true}
	if name != "" {
		made.Crumbs = []crumb{{Text: "Runbooks", Link: runbooks.Path}}
	}
	made.add("runbook", "runbook", found.HTML)
	s.rendered(request, nil, made).write(w, request)
}

// noMethod is the view of a path to which a method sends nothing.
func noMethod(_ context.Context, v *visit) (*page, error) {
	return nil, refuse(http.StatusMethodNotAllowed, "nothing is sent here by %s; begin at the overview", v.request.Method)
}

// noPage is the view of a path that has none.
func noPage(context.Context, *visit) (*page, error) {
	return nil, refuse(http.StatusNotFound, "there is no such page; begin at the overview")
}
