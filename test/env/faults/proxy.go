// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
)

// loopback is the address of the proxy.
const loopback = "127.0.0.1"

// headerTimeout is how long a client may take to send the header of a request.
const headerTimeout = 10 * time.Second

// requestInfo parses the path and the method of a request.
var requestInfo = apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// Proxy forwards requests to an API server, except those that a rule breaks. Its methods are safe for concurrent use.
type Proxy struct {
	target  *rest.Config
	url     string
	trust   []byte // the certificate of the proxy
	pair    tls.Certificate
	forward *httputil.ReverseProxy

	mu       sync.Mutex
	server   *http.Server // nil while connections are refused
	rules    []*rule
	requests []Request
	open     map[*openWatch]bool
}

// rule is a Rule in force.
type rule struct {
	Rule

	passed int
	broken bool // a request
	ended  chan struct{}
}

// next returns the fault of the next request that the rule breaks; "" if the request passes.
func (r *rule) next() Fault {
	if r.passed < r.After {
		r.passed++
		return ""
	}
	fault := r.Fault
	if r.broken && r.Then != "" {
		fault = r.Then
	}
	r.broken = true
	return fault
}

// wait returns nil when the rule has ended, and an error if ctx ends first.
func (r *rule) wait(ctx context.Context) error {
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the end of a rule: %w", ctx.Err())
	}
}

// openWatch is an open watch.
type openWatch struct {
	request Request
	cancel  context.CancelFunc
}

// Start listens on a free port of loopback until Close. The target must use a bearer token: the proxy cannot forward a client certificate.
func Start(target *rest.Config) (*Proxy, error) {
	if len(target.CertData) > 0 || target.CertFile != "" {
		return nil, errors.New("a proxy cannot pass a client certificate on: use the configuration of a service account")
	}
	upstream, err := url.Parse(target.Host)
	if err != nil {
		return nil, fmt.Errorf("the address of the API server: %w", err)
	}
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(target))
	if err != nil {
		return nil, fmt.Errorf("a transport to %s: %w", target.Host, err)
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey(loopback, []net.IP{net.ParseIP(loopback)}, nil)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("reading the new certificate: %w", err)
	}
	p := &Proxy{target: target, trust: certificate, pair: pair, open: map[*openWatch]bool{}}
	p.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport:     transport,
		FlushInterval: -1,                         // Events of a watch are forwarded at once.
		ErrorLog:      log.New(io.Discard, "", 0), // Broken connections are expected.
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	address, err := p.listen(net.JoinHostPort(loopback, "0"))
	if err != nil {
		return nil, err
	}
	p.url = "https://" + address
	return p, nil
}

// listen serves at an address and returns it.
func (p *Proxy) listen(address string) (string, error) {
	// Without HTTP/2 every request has its own connection, which can be broken without affecting others.
	listener, err := tls.Listen("tcp", address, &tls.Config{
		Certificates: []tls.Certificate{p.pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	})
	if err != nil {
		return "", fmt.Errorf("listening for clients: %w", err)
	}
	// Connections that a client or a rule breaks are expected and not logged.
	server := &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: headerTimeout, ErrorLog: log.New(io.Discard, "", 0)}
	p.mu.Lock()
	p.server = server
	p.mu.Unlock()
	go func() { _ = server.Serve(listener) }() // Ends with ErrServerClosed, by Close and Refuse alone.
	return listener.Addr().String(), nil
}

// Close ends all connections.
func (p *Proxy) Close() error {
	p.mu.Lock()
	server := p.server
	p.server = nil
	p.mu.Unlock()
	if server == nil {
		return nil
	}
	if err := server.Close(); err != nil {
		return fmt.Errorf("closing the proxy at %s: %w", p.url, err)
	}
	return nil
}

// Refuse ends all connections and accepts none until the returned function is called.
func (p *Proxy) Refuse() (accept func() error, err error) {
	if err := p.Close(); err != nil {
		return nil, err
	}
	return func() error {
		_, err := p.listen(strings.TrimPrefix(p.url, "https://"))
		return err
	}, nil
}

// Config returns the configuration of the target with the address of the proxy.
func (p *Proxy) Config() *rest.Config {
	config := rest.CopyConfig(p.target)
	config.Host = p.url
	config.TLSClientConfig = rest.TLSClientConfig{CAData: p.trust}
	return config
}

// Break puts a rule into force and returns the function that ends it; further calls of it do nothing. The first rule that matches a request
// applies. Matching open watches are broken, except by Delay, which delays their events.
func (p *Proxy) Break(r Rule) (mend func()) {
	added := &rule{Rule: r, ended: make(chan struct{})}

	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, added)
	for w := range p.open {
		if r.Fault != Delay && r.breaks(w.request) {
			w.cancel()
		}
	}
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rules = slices.DeleteFunc(p.rules, func(other *rule) bool { return other == added })
		close(added.ended)
	})
}

// Requests returns the requests so far that match, in the order of their arrival.
func (p *Proxy) Requests(m Match) []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.requests), func(r Request) bool { return !m.Matches(r) })
}

// enter records a request and returns the rule that breaks it, with the fault; nil if there is none.
func (p *Proxy) enter(r Request) (*rule, Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r)
	i := slices.IndexFunc(p.rules, func(rule *rule) bool { return rule.breaks(r) })
	if i < 0 {
		return nil, ""
	}
	return p.rules[i], p.rules[i].next()
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	asked, err := parse(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	broken, fault := p.enter(asked)
	switch {
	case asked.Verb == "watch" && (fault == "" || fault == Delay):
		p.watch(w, r, asked)
	case fault == "":
		p.forward.ServeHTTP(w, r)
	case fault == Delay:
		ctx := r.Context()
		p.forward.ServeHTTP(&delayedResponse{ResponseWriter: w, wait: func() error { return broken.wait(ctx) }}, r)
	case fault == Hang || fault == Stall:
		if fault == Hang || sendHeader(w) == nil {
			_ = broken.wait(r.Context()) // The connection is reset in any case.
		}
		reset(w)
	case fault == Reset:
		reset(w)
	case fault == Lost:
		p.forward.ServeHTTP(&discardedResponse{header: http.Header{}}, r)
		reset(w)
	default:
		respond(w, fault, asked)
	}
}

// sendHeader sends the header of a successful response; it fails if the client has gone.
func sendHeader(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	return http.NewResponseController(w).Flush() //nolint:wrapcheck // The caller asks only whether it failed.
}

// watch forwards a watch until a rule breaks it.
func (p *Proxy) watch(w http.ResponseWriter, r *http.Request, asked Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	open := &openWatch{request: asked, cancel: cancel}
	p.mu.Lock()
	p.open[open] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, open)
	}()
	p.forward.ServeHTTP(&delayedEvents{ResponseWriter: w, wait: func() error { return p.waitDelayed(ctx, asked) }}, r.WithContext(ctx))
}

// waitDelayed returns once no rule delays a watch.
func (p *Proxy) waitDelayed(ctx context.Context, asked Request) error {
	for {
		p.mu.Lock()
		i := slices.IndexFunc(p.rules, func(rule *rule) bool { return rule.Fault == Delay && rule.breaks(asked) })
		if i < 0 {
			p.mu.Unlock()
			return nil
		}
		delaying := p.rules[i]
		p.mu.Unlock()
		if err := delaying.wait(ctx); err != nil {
			return err
		}
	}
}

// parse converts an HTTP request.
func parse(r *http.Request) (Request, error) {
	info, err := requestInfo.NewRequestInfo(r)
	if err != nil {
		return Request{}, fmt.Errorf("what %s %s asks for: %w", r.Method, r.URL, err)
	}
	return Request{
		Verb: info.Verb, Resource: path.Join(info.Resource, info.Subresource), Namespace: info.Namespace, Name: info.Name,
		Resumed:  info.Verb == "watch" && r.URL.Query().Get("sendInitialEvents") != "true",
		Metadata: strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata"),
		Since:    strings.TrimPrefix(r.URL.Query().Get("resourceVersion"), "0"), // No version begins with 0 but "0".
	}, nil
}

// respond responds with the status of a fault, as an API server does.
func respond(w http.ResponseWriter, fault Fault, asked Request) {
	status := statuses[fault]
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(status.code), Reason: status.reason,
		Message: fmt.Sprintf("a fault was asked for: %s of %s %q is refused", asked.Verb, asked.Resource, asked.Name),
	})
	if err != nil {
		panic(err) // A Status is made of strings.
	}
	w.Header().Set("Content-Type", "application/json")
	if fault == TooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status.code)
	_, _ = w.Write(body) // Fails only if the client has gone.
}

// reset drops the connection at once with a TCP reset.
func reset(w http.ResponseWriter) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	connection, _, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if secured, ok := connection.(*tls.Conn); ok {
		connection = secured.NetConn()
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // An error leaves a graceful close, which ends the connection as well.
	}
	_ = connection.Close() // The client cannot receive an error any more.
}

// delayedResponse waits before it sends the header of a response.
type delayedResponse struct {
	http.ResponseWriter

	wait func() error
}

func (d *delayedResponse) WriteHeader(code int) {
	if err := d.wait(); err != nil {
		panic(http.ErrAbortHandler) // The client has gone.
	}
	d.ResponseWriter.WriteHeader(code)
}

// delayedEvents sends the header at once, and waits before each part of the body.
type delayedEvents struct {
	http.ResponseWriter

	wait func() error
}

// WriteHeader sends the header, which otherwise would wait for the first part.
func (d *delayedEvents) WriteHeader(code int) {
	d.ResponseWriter.WriteHeader(code)
	_ = http.NewResponseController(d.ResponseWriter).Flush() // A client that has gone needs no header.
}

func (d *delayedEvents) Write(b []byte) (int, error) {
	if err := d.wait(); err != nil {
		return 0, err
	}
	return d.ResponseWriter.Write(b) //nolint:wrapcheck // The method replaces that of the writer.
}

// Unwrap lets http.ResponseController flush the events.
func (d *delayedEvents) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// discardedResponse ignores a response.
type discardedResponse struct{ header http.Header }

func (d *discardedResponse) Header() http.Header         { return d.header }
func (d *discardedResponse) Write(b []byte) (int, error) { return len(b), nil }
func (d *discardedResponse) WriteHeader(int)             {}
