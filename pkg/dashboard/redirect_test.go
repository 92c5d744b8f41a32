// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// elsewhere reports whether a browser takes a Location for one of another host, as the URL standard of WHATWG says it: it drops leading and trailing
// control characters and spaces, and tabs and line breaks everywhere, and takes a backslash for a slash.
func elsewhere(location string) bool {
	location = strings.TrimFunc(location, func(r rune) bool { return r <= ' ' })
	location = strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(location)
	return !strings.HasPrefix(location, "/") || strings.HasPrefix(location, "//")
}

// No path of a URL with a token, and no page that a form names, leads to another host.
func TestNoRedirectLeadsElsewhere(t *testing.T) {
	check := func(t rapid.TB, path string) {
		gate := NewLocalGate(&user.DefaultInfo{Name: "jane"})
		request := &http.Request{
			Method: http.MethodGet, Host: "127.0.0.1:8484", URL: &url.URL{Path: path, RawQuery: "token=x"}, Header: http.Header{},
		}
		w := httptest.NewRecorder()
		if gate.enter(w, request) || w.Code != http.StatusSeeOther {
			t.Fatalf("%q: response %d, want a redirect", path, w.Code)
		}
		for _, location := range []string{w.Header().Get("Location"), wanted(path)} {
			if elsewhere(location) {
				t.Fatalf("%q leads to %q", path, location)
			}
		}
	}
	for _, path := range []string{
		"/\t/host", "//host", "/\n/host", "/\r\n/host", `/\host`, `\\host`, "/\x00/host", "/ /host", " //host", "/./\t/host", "/%09/host",
		"/%2f/host", "/%5chost",
		"https://host", "host", "/.//host", "/a/..//host", "/\u00a0/host", "/\u2028/host",
	} {
		check(t, path)
	}
	property.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{
			"/", `\`, "\t", "\n", "\r", " ", ".", "..", "%", "09", "2f", "5c", "host", ":", "@", "?", "#", "\x01", "é",
		}))
		check(t, "/"+strings.Join(pieces.Draw(t, "path"), ""))
	})
	if got := wanted("/placements/team-a/web?rows=all"); got != "/placements/team-a/web?rows=all" {
		t.Errorf("a page of this server became %q", got)
	}
}
