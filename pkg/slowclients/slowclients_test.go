// SPDX-License-Identifier: Apache-2.0

package slowclients

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// deadlines is a writer that notes the deadlines that are set.
type deadlines struct {
	*httptest.ResponseRecorder

	read, written []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.read = append(d.read, at)
	return nil
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.written = append(d.written, at)
	return nil
}

// docs/spec/trust.md R9, T22: a response has a deadline from its first byte on, and a handler that sets its own keeps it.
func TestT22ResponsesHaveADeadline(t *testing.T) {
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	own := time.Now().Add(time.Hour)
	Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		if err := http.NewResponseController(w).SetWriteDeadline(own); err != nil {
			t.Error(err)
		}
		for range 3 {
			if _, err := io.WriteString(w, "tea"); err != nil {
				t.Error(err)
			}
		}
	})).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if len(w.written) != 2 || time.Until(w.written[0]) > writeTime || !w.written[1].Equal(own) {
		t.Errorf("deadlines %v, want one within %v, and the own one", w.written, writeTime)
	}
	if w.Code != http.StatusTeapot || w.Body.String() != "teateatea" {
		t.Errorf("response %d %q", w.Code, w.Body)
	}
}

// A client that does not read, over HTTP/1.1: the write fails, and the handler returns.
func TestT22AnswersThatNobodyReadsEnd(t *testing.T) {
	failed := make(chan error, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Error(err)
		}
		_, err := w.Write(bytes.Repeat([]byte("x"), 64<<20))
		failed <- err
	}))
	server.Config.Handler = Handler(server.Config.Handler)
	server.Start()
	defer server.Close()
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the write ended with %v, want that its time is over", err)
	}
}

func TestBodiesAreReadInTime(t *testing.T) {
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	text, err := ReadBody(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("tea")), 3)
	if err != nil || string(text) != "tea" {
		t.Errorf("body %q, error %v", text, err)
	}
	if len(w.read) != 2 || time.Until(w.read[0]) > readTime || !w.read[1].IsZero() {
		t.Errorf("deadlines %v, want one within %v, and none afterwards", w.read, readTime)
	}
	var tooLarge *http.MaxBytesError
	if _, err := ReadBody(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("coffee")), 3); !errors.As(err, &tooLarge) {
		t.Errorf("error %v, want that the body is too large", err)
	}
}

// A body whose end does not come has its error, and a client that waits for the response keeps its connection.
func TestSlowBodies(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		text, err := ReadBody(w, request, 100)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = w.Write(text)
	}))
	defer server.Close()
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	answers := bufio.NewReader(connection)
	for range 2 {
		if _, err := io.WriteString(connection, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\ntea"); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK || string(text) != "tea" {
			t.Errorf("answer %d %q, error %v", answer.StatusCode, text, err)
		}
	}
}

// A body that does not come in time ends, over HTTP/1.1 and HTTP/2; one that has come lets its client wait.
func TestBodiesEnd(t *testing.T) {
	t.Parallel()
	for _, protocol := range []int{1, 2} {
		t.Run(fmt.Sprint("HTTP/", protocol), func(t *testing.T) {
			t.Parallel()
			const within = 3 * time.Second // A body that has been sent comes in this time on a busy machine.
			ended := make(chan error, 1)
			server := httptest.NewUnstartedServer(Bodies(within, http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
				_, err := io.ReadAll(request.Body)
				if err == nil {
					select {
					case <-time.After(within + time.Second):
					case <-request.Context().Done():
						err = request.Context().Err()
					}
				}
				ended <- err
			})))
			server.EnableHTTP2 = protocol == 2
			server.StartTLS()
			defer server.Close()
			send := func(body io.Reader) {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body)
				if err != nil {
					t.Fatal(err)
				}
				response, err := server.Client().Do(request)
				if err != nil {
					return // The server may close the connection.
				}
				if response.ProtoMajor != protocol {
					t.Errorf("the response came over HTTP/%d", response.ProtoMajor)
				}
				_ = response.Body.Close()
			}
			send(strings.NewReader("tea"))
			if err := <-ended; err != nil {
				t.Errorf("a body that has come: %v", err)
			}
			slow, end := io.Pipe()
			defer func() { _ = end.Close() }()
			go func() { _, _ = io.WriteString(end, "t") }()
			var sent sync.WaitGroup
			sent.Go(func() { send(slow) })
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a body that does not come ends with %v", err)
			}
			_ = end.Close()
			sent.Wait()
		})
	}
}

// docs/spec/trust.md T22: over HTTP/2 each stream has its own write deadline. A stream that nobody reads ends, and the others of its connection do
// not.
func TestT22StreamsThatNobodyReadsEnd(t *testing.T) {
	failed := make(chan error, 1)
	server := httptest.NewUnstartedServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/other" {
			_, _ = io.WriteString(w, "tea")
			return
		}
		control := http.NewResponseController(w) // The client has the header, however late the body begins.
		if err := errors.Join(control.Flush(), control.SetWriteDeadline(time.Now().Add(300*time.Millisecond))); err != nil {
			t.Error(err)
		}
		_, err := w.Write(bytes.Repeat([]byte("x"), 64<<20))
		failed <- err
	})))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	get := func(path string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if response.ProtoMajor != 2 {
			t.Errorf("%s came over HTTP/%d", path, response.ProtoMajor)
		}
		return response
	}
	unread := get("/unread")
	defer func() { _ = unread.Body.Close() }()
	if err := <-failed; err == nil {
		t.Error("the write of a stream that nobody reads has ended without an error")
	}
	other := get("/other")
	defer func() { _ = other.Body.Close() }()
	if text, err := io.ReadAll(other.Body); err != nil || string(text) != "tea" {
		t.Errorf("another stream reads %q, error %v", text, err)
	}
}

// The deadline that Handler sets by itself holds over HTTP/2, too.
func TestT22HandlerSetsTheDeadlineOfStreams(t *testing.T) {
	began, failed := time.Now(), make(chan error, 1)
	server := httptest.NewUnstartedServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(bytes.Repeat([]byte("x"), 64<<20))
		failed <- err
	})))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := <-failed; err == nil || time.Since(began) < writeTime-time.Second || time.Since(began) > writeTime+time.Minute {
		t.Errorf("the write ended after %v with %v, want an error after %v", time.Since(began), err, writeTime)
	}
}
