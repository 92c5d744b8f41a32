// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/slowclients"
)

const (
	// maxLoginBytes bounds the form of /login, which anybody may send. Tokens have at most maxCookieToken bytes, escaped three times as many.
	maxLoginBytes = 16 << 10
	// maxWantedBytes bounds the address of the page that a login leads to.
	maxWantedBytes = 2 << 10
)

// login takes the token of the form.
func (s *Server) login(w http.ResponseWriter, request *http.Request, gate *TokenGate) {
	form, err := readForm(w, request)
	to := form.Get("to")
	if to == "" {
		to = request.URL.Query().Get("to")
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		s.respondLogin(w, request, to, http.StatusRequestEntityTooLarge, "this is no token: paste one token, and nothing else")
		return
	case err != nil:
		s.respondLogin(w, request, to, http.StatusBadRequest, "the form could not be read; send it again")
		return
	}
	if err := gate.login(w, request, form.Get("token")); err != nil {
		code := http.StatusUnauthorized
		if errors.Is(err, access.ErrTooManyTokens) {
			code = http.StatusTooManyRequests
		}
		s.respondLogin(w, request, to, code, err.Error())
		return
	}
	http.Redirect(w, request, wanted(to), http.StatusSeeOther) //nolint:gosec // It is a path of this server.
}

// readForm reads the form of a request in time. A body of another type has no values.
func readForm(w http.ResponseWriter, request *http.Request) (url.Values, error) {
	text, err := slowclients.ReadBody(w, request, maxLoginBytes)
	if err != nil {
		return nil, err
	}
	if kind, _, _ := strings.Cut(request.Header.Get("Content-Type"), ";"); kind != "application/x-www-form-urlencoded" {
		return nil, nil
	}
	return url.ParseQuery(string(text)) //nolint:wrapcheck // As above.
}

// respondLogin shows the form of the login, which leads to a page of this server.
func (s *Server) respondLogin(w http.ResponseWriter, request *http.Request, to string, code int, because string) {
	made := &page{Title: "Log in", Code: code, JSON: map[string]string{"error": because}}
	made.add("login", "login", map[string]string{"Problem": because, "To": wanted(to)})
	s.rendered(request, nil, made).write(w, request)
}

// wanted returns the page that a form leads to: one of this server with an address of a usual length, or the first page.
func wanted(to string) string {
	if len(to) > maxWantedBytes {
		return "/"
	}
	parsed, err := url.Parse(to)
	if err != nil {
		return "/"
	}
	return ownPath(parsed)
}

// ownPath returns the path and the query of a URL of this server, or the first page for anything else. Browsers leave control characters out, take a
// backslash for a slash, and what begins with two slashes for the name of a host.
func ownPath(of *url.URL) string {
	foreign := func(r rune) bool { return r == '\\' || unicode.IsControl(r) }
	if !strings.HasPrefix(of.Path, "/") || strings.HasPrefix(of.Path, "//") || strings.HasPrefix(of.Path, "/login") ||
		strings.ContainsFunc(of.Path, foreign) {
		return "/"
	}
	own := url.URL{Path: of.Path, RawQuery: of.RawQuery}
	return own.String()
}
