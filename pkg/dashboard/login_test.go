// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bufio"
	"bytes"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// docs/spec/trust.md T22: /login asks for no rights, so that it repeats nothing of a request but the address of a page.
func TestT22LoginRepeatsLittle(t *testing.T) {
	pages := newPages(newTestHub(world()...))
	long := "/clusters?q=" + strings.Repeat("x", 12<<10)
	form, multi := url.Values{"to": {long}}.Encode(), &bytes.Buffer{}
	writer := multipart.NewWriter(multi)
	if err := writer.WriteField("to", long); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	const urlencoded = "application/x-www-form-urlencoded"
	for _, tc := range []struct {
		reason, method, path, body, kind string
		code                             int
	}{
		{"a form", http.MethodPost, "/login", form, urlencoded, http.StatusUnauthorized},
		{"a form of a megabyte", http.MethodPost, "/login", "to=%2F" + strings.Repeat("x", 1<<20-10), urlencoded, http.StatusRequestEntityTooLarge},
		{"a form of several parts", http.MethodPost, "/login", multi.String(), writer.FormDataContentType(), http.StatusUnauthorized},
		{"a form of several parts that is read", http.MethodGet, "/login", multi.String(), writer.FormDataContentType(), http.StatusOK},
		{"a parameter", http.MethodGet, "/login?to=" + url.QueryEscape(long), "", "", http.StatusOK},
		{"a parameter of a form", http.MethodPost, "/login?to=" + url.QueryEscape(long), "token=", urlencoded, http.StatusUnauthorized},
		{"a namespace", http.MethodGet, "/login?namespace=" + strings.Repeat("x", 12<<10), "", "", http.StatusOK},
		{"a page", http.MethodGet, long, "", "", http.StatusSeeOther},
		{"a page of another site", http.MethodPost, "/login?namespace=" + strings.Repeat("x", 12<<10), "", "", http.StatusForbidden},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			header := []string{"Content-Type", tc.kind}
			if tc.code == http.StatusForbidden {
				header = append(header, "Sec-Fetch-Site", "cross-site")
			}
			got := as(t, pages, "", tc.method, tc.path, tc.body, header...)
			if got.Code != tc.code {
				t.Errorf("status %d, want %d", got.Code, tc.code)
			}
			if size := got.Body.Len() + len(got.Header().Get("Location")); size > 6<<10 {
				t.Errorf("the answer has %d bytes", size)
			}
		})
	}
	// The address of a page of a usual length is kept.
	got := as(t, pages, "", http.MethodPost, "/login", "token=&to=%2Fclusters%3Fset%3Dprod", "Content-Type", urlencoded)
	if !strings.Contains(got.Body.String(), `value="/clusters?set=prod"`) {
		t.Errorf("the form has lost the page:\n%s", got.Body)
	}
}

// Neither does a user without rights have an answer that is much longer than the question.
func TestT22ProblemsRepeatLittle(t *testing.T) {
	pages := newPages(newTestHub(world()...))
	long := strings.Repeat("%3C", 12<<10)
	for _, path := range []string{"/?namespace=" + long, "/placements/" + long + "/web", "/clusters/a%2F" + long, "/none?namespace=" + long} {
		for _, accepted := range []string{"text/html", "application/json"} {
			got := as(t, pages, "jane", http.MethodGet, path, "", "Accept", accepted)
			if got.Code != http.StatusNotFound || got.Body.Len() > 20<<10 {
				t.Errorf("%.20s as %s: status %d with %d bytes", path, accepted, got.Code, got.Body.Len())
			}
		}
	}
}

// A form whose end does not come is refused after five seconds.
func TestLoginDoesNotWaitForSlowForms(t *testing.T) {
	server := httptest.NewServer(newPages(newTestHub(world()...)))
	defer server.Close()
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	_, err = io.WriteString(connection, "POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n"+
		"Content-Length: 10\r\n\r\nto")
	if err != nil {
		t.Fatal(err)
	}
	if err := connection.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d, want 400", answer.StatusCode)
	}
}
