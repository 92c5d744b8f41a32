// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/test/benchmark/hostile"
)

const (
	// hostileBody is the size of a request body of the accounts, in bytes.
	hostileBody = 1 << 20
	// slowByte is the time between two bytes of a slow body, and holdUnread how long an answer is not read.
	slowByte   = 200 * time.Millisecond
	holdUnread = 20 * time.Second
	// inventedPerSecond is the number of requests with invented tokens per second.
	inventedPerSecond = 800
	// afterRefusal is how long an account waits after a refusal before it tries again.
	afterRefusal = 50 * time.Millisecond
)

// hostileAccount is a ServiceAccount of the hostile tenant.
type hostileAccount struct {
	number                  int
	token                   string
	dashboard, explanations string // addresses
	sent                    int    // posts, and requests with invented tokens
}

// posted is a body of hostileBody bytes, in place of whose dots there are letters, and where it is sent.
type posted struct{ address, path, kind, body string }

// nextPost returns what the account posts next: a question with a mistake at its end, a preview, or a login. Each answer may repeat much of it.
func (a *hostileAccount) nextPost() posted {
	own := hostile.NamespaceName(hostile.Attacker)
	all := []posted{
		{a.explanations, endpoint.Path, "application/json", `{"namespace":"` + own + `","output":"json","manifests":"..."}`},
		{a.explanations, endpoint.Path, "application/json", `{"namespace":"` + own + `","output":"..."}`},
		{a.dashboard, "/placements/" + own + "/edited/preview", "application/yaml", "kind: ..."},
		{a.dashboard, "/login", "application/x-www-form-urlencoded", "token=x&to=%2F..."},
	}
	a.sent++
	return all[a.sent%len(all)]
}

// attackByAccounts has the accounts attack in four ways, each by a quarter of them, until the function that it returns is called. It returns the
// number of the requests by their kind. What becomes of a request does not matter to the accounts.
func attackByAccounts(ctx context.Context, accounts []*hostileAccount) func() map[string]int64 {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	invented := rate.NewLimiter(inventedPerSecond, 1)
	ways := []struct {
		name string
		send func(context.Context, *hostileAccount)
	}{
		{"streams", func(ctx context.Context, a *hostileAccount) { a.stream(ctx) }},
		{"slow-bodies", func(ctx context.Context, a *hostileAccount) { a.post(ctx, slowly) }},
		{"unread-answers", func(ctx context.Context, a *hostileAccount) { a.post(ctx, atOnce) }},
		{"invented-tokens", func(ctx context.Context, a *hostileAccount) { a.invent(ctx, invented) }},
	}
	sent := make([]atomic.Int64, len(ways))
	for i, account := range accounts {
		way := i % len(ways)
		all.Go(func() {
			for ctx.Err() == nil {
				ways[way].send(ctx, account)
				sent[way].Add(1)
				if ways[way].name != "invented-tokens" && pause(ctx, afterRefusal) != nil {
					return
				}
			}
		})
	}
	return func() map[string]int64 {
		cancel()
		all.Wait()
		counts := map[string]int64{}
		for i := range sent {
			if n := sent[i].Load(); n > 0 {
				counts[ways[i].name] = n
			}
		}
		return counts
	}
}

// stream follows a page that the account may not see, as long as it is let.
func (a *hostileAccount) stream(ctx context.Context) {
	page := "/placements/" + hostile.NamespaceName(a.number%hostile.Others) + "/edited"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+a.dashboard+"/events?"+url.Values{"page": {page}}.Encode(),
		http.NoBody)
	if err != nil {
		return
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	transport := newTransport()
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

// slowly writes a byte now and then.
func slowly(ctx context.Context, to io.Writer, _ posted) {
	for range hostileBody {
		if _, err := io.WriteString(to, " "); err != nil || pause(ctx, slowByte) != nil {
			return
		}
	}
}

// atOnce writes a body that is as large as it may be.
func atOnce(ctx context.Context, to io.Writer, p posted) {
	before, after, _ := strings.Cut(p.body, "...")
	body := before + strings.Repeat("x", hostileBody-len(before)-len(after)) + after
	if _, err := io.WriteString(to, body); err == nil {
		_ = pause(ctx, holdUnread) // Nothing is read meanwhile.
	}
}

// post sends what the account posts next on a connection of its own, and writes the body by a function. It never reads the answer.
func (a *hostileAccount) post(ctx context.Context, write func(context.Context, io.Writer, posted)) {
	next := a.nextPost()
	dialer := tls.Dialer{
		NetDialer: &net.Dialer{Timeout: 5 * time.Second}, Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}},
	}
	connection, err := dialer.DialContext(ctx, "tcp", next.address)
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer func() {
		stop()
		_ = connection.Close()
	}()
	buffered := bufio.NewWriter(connection)
	fmt.Fprintf(buffered, "POST %s HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		next.path, a.token, next.kind, hostileBody)
	if buffered.Flush() == nil {
		write(ctx, connection, next)
	}
}

// invent sends requests with tokens that nobody has, until the phase ends.
func (a *hostileAccount) invent(ctx context.Context, limit *rate.Limiter) {
	if limit.Wait(ctx) != nil {
		return
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+a.dashboard+"/", http.NoBody)
	if err != nil {
		return
	}
	// The form of a token of a ServiceAccount, so that it is not refused by its form.
	scheme := []string{"Bearer", "bearer", "BEARER"}[a.sent%3]
	a.sent++
	request.Header.Set("Authorization", scheme+" eyJhbGciOiJSUzI1NiJ9."+rand.Text()+"."+rand.Text())
	response, err := inventing.RoundTrip(request)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

// inventing keeps the connections of requests with invented tokens.
var inventing = func() *http.Transport {
	transport := newTransport()
	transport.MaxIdleConnsPerHost = hostile.Accounts
	return transport
}()
