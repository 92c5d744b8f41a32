// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
)

// Gate tells who sends a request.
type Gate interface {
	// Caller returns the user of a request. The error is for the caller.
	Caller(request *http.Request) (user.Info, error)
	// enter handles a request before pages do; false if it has responded.
	enter(w http.ResponseWriter, request *http.Request) bool
	// loginPage reports whether a token can be entered at /login.
	loginPage() bool
}

const (
	localCookie = "placement-dashboard"
	// tokenCookie has a prefix with which browsers send the cookie over TLS to the host that has set it alone.
	tokenCookie = "__Host-placement-token"
	// tokenParameter is the parameter of the URL that opens the local dashboard.
	tokenParameter = "token"
	// maxCookieToken bounds a token in a cookie, in bytes: browsers drop larger ones.
	maxCookieToken = 3800
)

// errNoSession is about a request without the cookie of the local dashboard.
var errNoSession = errors.New("this dashboard is open to the browser that was started with its URL; open the URL that the command has " +
	"printed, or start " +
	"placement dashboard again")

// LocalGate admits the browser that opens the URL of the command, once: it gets a cookie. All requests are of one user. It is safe for concurrent
// use.
type LocalGate struct {
	who user.Info

	mu      sync.Mutex
	once    string // empty after it was used
	session string
}

var _ Gate = (*LocalGate)(nil)

// NewLocalGate returns a gate for the user of the process.
func NewLocalGate(who user.Info) *LocalGate {
	return &LocalGate{who: who, once: rand.Text(), session: rand.Text()}
}

// URL returns the URL that opens the dashboard at an address, once.
func (g *LocalGate) URL(address net.Addr) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	opened := url.URL{Scheme: "http", Host: address.String(), Path: "/", RawQuery: url.Values{tokenParameter: {g.once}}.Encode()}
	return opened.String()
}

// Caller implements Gate.
func (g *LocalGate) Caller(request *http.Request) (user.Info, error) {
	cookie, err := request.Cookie(localCookie)
	if err != nil || subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(g.session)) != 1 {
		return nil, errNoSession
	}
	return g.who, nil
}

// enter refuses hosts other than loopback, to which a page of another site could have a name resolved, and takes the token of the URL.
func (g *LocalGate) enter(w http.ResponseWriter, request *http.Request) bool {
	host, _, err := net.SplitHostPort(request.Host)
	if err != nil {
		host = request.Host
	}
	if address := net.ParseIP(strings.Trim(host, "[]")); host != "localhost" && (address == nil || !address.IsLoopback()) {
		http.Error(w, "open the dashboard by an address of this machine, such as 127.0.0.1", http.StatusMisdirectedRequest)
		return false
	}
	given := request.URL.Query().Get(tokenParameter)
	if given == "" || request.Method != http.MethodGet {
		return true
	}
	if g.redeem(given) {
		//nolint:gosec // Pages on loopback have no TLS.
		http.SetCookie(w, &http.Cookie{Name: localCookie, Value: g.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
	http.Redirect(w, request, ownPath(&url.URL{Path: request.URL.Path}), http.StatusSeeOther)
	return false
}

// redeem reports whether a token is the one that was not used yet, and marks it as used.
func (g *LocalGate) redeem(given string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	valid := g.once != "" && subtle.ConstantTimeCompare([]byte(given), []byte(g.once)) == 1
	if valid {
		g.once = ""
	}
	return valid
}

func (*LocalGate) loginPage() bool { return false }

// TokenGate admits the users that the API server of the hub authenticates, by the Authorization header, a client certificate, or a token in a cookie.
// Every replica admits the same requests. It is safe for concurrent use.
type TokenGate struct{ users authenticator.Request }

var _ Gate = (*TokenGate)(nil)

// NewTokenGate returns a gate. users authenticates requests.
func NewTokenGate(users authenticator.Request) *TokenGate { return &TokenGate{users: users} }

// errLogin is about a request without credentials that are valid.
var errLogin = errors.New("log in with a bearer token that the API server of the hub accepts, such as that of kubectl create token")

// Caller implements Gate.
func (g *TokenGate) Caller(request *http.Request) (user.Info, error) {
	asked := request.Clone(request.Context()) // The authenticator takes credentials out of the header.
	if cookie, err := request.Cookie(tokenCookie); err == nil && asked.Header.Get("Authorization") == "" {
		asked.Header.Set("Authorization", "Bearer "+cookie.Value)
	}
	response, known, err := g.users.AuthenticateRequest(asked)
	if errors.Is(err, access.ErrTooManyTokens) {
		return nil, err //nolint:wrapcheck // It is for the caller.
	}
	if err != nil || !known || response.User.GetName() == "" || response.User.GetName() == user.Anonymous {
		return nil, errLogin
	}
	return response.User, nil
}

func (*TokenGate) enter(http.ResponseWriter, *http.Request) bool { return true }

func (*TokenGate) loginPage() bool { return true }

// login takes a token that is entered at /login into a cookie, if it is valid. It returns an error for the caller.
func (g *TokenGate) login(w http.ResponseWriter, request *http.Request, token string) error {
	token = strings.TrimSpace(token)
	switch {
	case token == "":
		return errors.New("enter a token")
	case len(token) > maxCookieToken || strings.ContainsAny(token, " \t\r\n\",;\\"):
		return errors.New("this is no token that a browser keeps: it has spaces, or more than 3800 characters; use a token of kubectl " +
			"create token, or send it " +
			"in the Authorization header")
	}
	asked := request.Clone(request.Context())
	asked.Header.Set("Authorization", "Bearer "+token)
	asked.Header.Del("Cookie")
	if _, err := g.Caller(asked); errors.Is(err, access.ErrTooManyTokens) {
		return err
	} else if err != nil {
		return errors.New("the API server of the hub does not accept this token; it may have expired")
	}
	http.SetCookie(w, &http.Cookie{
		Name: tokenCookie, Value: token, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode,
	})
	return nil
}

// logout deletes the cookie.
func (*TokenGate) logout(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{
		Name: tokenCookie, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode, MaxAge: -1,
	})
}
