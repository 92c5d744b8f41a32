// SPDX-License-Identifier: Apache-2.0

package slowclients

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// writeTime is how long a client may take for a response, from its first byte on, over HTTP/1.1 and for each stream of HTTP/2.
	writeTime = 10 * time.Second
	// readTime is how long a client may take to send a body.
	readTime = 5 * time.Second
)

// Handler ends responses that a client does not take in time. A handler that sets write deadlines of its own, as an event stream does, goes on. It
// delays the status 429 by Delay.
func Handler(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		handler.ServeHTTP(&writer{ResponseWriter: w, ctx: request.Context()}, request)
	})
}

// writer sets the deadline before the first byte.
type writer struct {
	http.ResponseWriter

	ctx   context.Context //nolint:containedctx // It is the context of the one request.
	begun bool
}

// Unwrap lets http.ResponseController find the writer of the server.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) begin() {
	if w.begun {
		return
	}
	w.begun = true
	// A writer without deadlines is none of a server.
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTime))
}

// SetWriteDeadline is for http.ResponseController: the deadline of the handler counts.
func (w *writer) SetWriteDeadline(at time.Time) error {
	w.begun = true
	return http.NewResponseController(w.ResponseWriter).SetWriteDeadline(at) //nolint:wrapcheck // It is the writer of the server.
}

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(code int) {
	if code == http.StatusTooManyRequests {
		Delay(w.ctx)
	}
	w.begin()
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *writer) Write(text []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(text) //nolint:wrapcheck // It is the writer of the server.
}

// Bodies ends bodies that do not come within a time. It is for handlers that do not read them by ReadBody.
func Bodies(within time.Duration, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		control := http.NewResponseController(w)
		// A writer without deadlines is none of a server.
		if request.Body != http.NoBody && control.SetReadDeadline(time.Now().Add(within)) == nil {
			asked := *request
			asked.Body = &body{ReadCloser: request.Body, control: control}
			request = &asked
		}
		handler.ServeHTTP(w, request)
	})
}

// body ends the deadline with its last byte, because the response may take longer than the body.
type body struct {
	io.ReadCloser

	control *http.ResponseController
}

// Read implements io.Reader.
func (b *body) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{}) // It was set before.
	}
	return n, err //nolint:wrapcheck // Readers tell errors apart.
}

// ReadBody reads the body of a request in time, of at most so many bytes. The error wraps *http.MaxBytesError for a larger one.
func ReadBody(w http.ResponseWriter, request *http.Request, most int64) ([]byte, error) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(readTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, fmt.Errorf("limiting the time to read a body: %w", err)
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, request.Body, most))
	if err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	// Whoever waits for the response may take longer.
	if err := control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, fmt.Errorf("ending the limit of the time to read a body: %w", err)
	}
	return text, nil
}
