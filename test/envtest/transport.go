// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"time"
)

const (
	connectTimeout  = 5 * time.Second
	responseTimeout = 10 * time.Second
	maxIndexBytes   = 16 << 20
	maxArchiveBytes = 1 << 30
)

// errTooLarge is the error of a response that is larger than an index or an archive can be.
var errTooLarge = errors.New("the response is too large")

// boundedTransport returns a transport whose connections and responses do not keep a user waiting.
func boundedTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout:   connectTimeout,
		ResponseHeaderTimeout: responseTimeout,
		ForceAttemptHTTP2:     true,
	}
}

// limitedTransport says each URL before it is requested, takes archives from the mirror, and limits the size of responses.
type limitedTransport struct {
	next          http.RoundTripper
	index, mirror string
	out           io.Writer
	said          string
}

func (t *limitedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	limit := int64(maxIndexBytes)
	if request.URL.String() != t.index {
		limit = maxArchiveBytes
		if t.mirror != "" {
			mirrored, err := url.Parse(t.mirror + "/" + path.Base(request.URL.Path))
			if err != nil {
				return nil, fmt.Errorf("the mirror: %w", err)
			}
			request = request.Clone(request.Context())
			request.URL, request.Host = mirrored, ""
		}
	}
	if at := request.URL.Redacted(); at != t.said {
		t.said = at
		fmt.Fprintf(t.out, "  GET %s\n", at)
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err //nolint:wrapcheck // The client names the request.
	}
	response.Body = &limitedBody{ReadCloser: response.Body, left: limit}
	return response, nil
}

// limitedBody is a body that fails beyond its limit.
type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLarge
	}
	return n, err //nolint:wrapcheck // io.EOF has to stay what it is.
}
