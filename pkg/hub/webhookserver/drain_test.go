// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// review sends a request over a connection that stays open, and reports whether the server closes it after the answer.
func review(t *testing.T, connection io.ReadWriter) (closes bool) {
	t.Helper()
	if _, err := io.WriteString(connection, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"); err != nil {
		t.Fatalf("sending a review: %v", err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatalf("reading the answer: %v", err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusNoContent {
		t.Errorf("answered %s", response.Status)
	}
	return response.Close
}

func hasEnded(ctx context.Context) bool {
	synctest.Wait()
	return ctx.Err() != nil
}

func noContent(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

// An API server does not repeat a review whose connection is closed while it is on its way. So the server does not close a connection that is in
// use: it says with an answer that the connection ends, also to an API server that has connected since, and serves on until then.
func TestNoConnectionInUseIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper()
		k.want(t, "nothing is there", "create "+Secret)
		var o Options
		process, terminate := context.WithCancel(t.Context())
		running := o.DrainAfter(process)
		at, stop, ended := serving(t, k, o, noContent)
		defer context.AfterFunc(running, stop)()
		inUse, err := at.dial(t.Context(), &tls.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if review(t, inUse) {
			t.Error("the connection of the first review is closed although the process goes on")
		}

		terminate()
		<-time.After(drainTimeout / 3)
		if hasEnded(running) {
			t.Fatal("the server ends before the API server knows that")
		}
		for _, connection := range []*tls.Conn{inUse, nil} {
			if connection == nil {
				if connection, err = at.dial(t.Context(), &tls.Config{}); err != nil {
					t.Fatalf("it is not served any more: %v", err)
				}
			}
			if !review(t, connection) {
				t.Error("the connection stays open after the answer")
			}
			if _, err := connection.Read(make([]byte, 1)); err == nil {
				t.Error("there is more to read than the answer")
			}
			if err := connection.Close(); err != nil && !errors.Is(err, io.ErrClosedPipe) {
				t.Error(err)
			}
		}
		<-time.After(drainInterval)
		if !hasEnded(running) {
			t.Error("the server goes on without a connection")
		}
		<-ended
	})
}

func TestIdleConnectionsDelayTheEndOfTheProcess(t *testing.T) {
	for name, test := range map[string]struct {
		connections int
		want        time.Duration
	}{
		"none": {0, 0},
		"one":  {1, drainTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKeeper()
				k.want(t, "nothing is there", "create "+Secret)
				var o Options
				process, terminate := context.WithCancel(t.Context())
				running := o.DrainAfter(process)
				at, stop, ended := serving(t, k, o, noContent)
				for range test.connections {
					connection, err := at.dial(t.Context(), &tls.Config{})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { connection.Close() }) //nolint:errcheck // The server has closed it.
					review(t, connection)
				}
				began := time.Now()
				terminate()
				<-running.Done()
				if took := time.Since(began); took != test.want {
					t.Errorf("it took %v, not %v", took, test.want)
				}
				stop()
				<-ended
			})
		})
	}
}
