// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"
)

// pipes is a listener in memory, whose connections make progress without a clock.
type pipes struct {
	pending chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newPipes() *pipes { return &pipes{pending: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case connection := <-p.pending:
		return connection, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "pipe"} }

// dial connects without verifying the certificate.
func (p *pipes) dial(ctx context.Context, config *tls.Config) (*tls.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.pending <- far:
	case <-p.closed:
		return nil, net.ErrClosed
	}
	config.InsecureSkipVerify = true
	connection := tls.Client(near, config)
	err := connection.HandshakeContext(ctx)
	return connection, err
}

// serving runs a server with the certificate of a keeper until stop is called; ended is closed when it has stopped.
func serving(t *testing.T, k *keeper, o Options, answers http.HandlerFunc) (at *pipes, stop context.CancelFunc, ended <-chan struct{}) {
	t.Helper()
	at = newPipes()
	o.Listener = at
	server := newServer(o, &certificateSource{reader: k.client, key: k.key}, answers)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Start(ctx); err != nil {
			t.Errorf("serving: %v", err)
		}
	}()
	return at, stop, done
}

func TestVersionsOfTLSAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper()
		k.want(t, "nothing is there", "create "+Secret)
		at, stop, ended := serving(t, k, Options{TLS: &tls.Config{MinVersion: tls.VersionTLS13}}, http.NotFound)
		if _, err := at.dial(t.Context(), &tls.Config{MaxVersion: tls.VersionTLS12}); err == nil {
			t.Error("TLS 1.2 was accepted although the minimum is 1.3")
		}
		connection, err := at.dial(t.Context(), &tls.Config{})
		if err != nil {
			t.Fatalf("TLS 1.3: %v", err)
		}
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
		stop()
		<-ended
	})
}

func TestReviewsInFlightAreServedAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper()
		k.want(t, "nothing is there", "create "+Secret)
		answer := make(chan struct{})
		at, stop, ended := serving(t, k, Options{}, func(w http.ResponseWriter, _ *http.Request) {
			<-answer
			w.WriteHeader(http.StatusTeapot)
		})
		connection, err := at.dial(t.Context(), &tls.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()

		stop()
		// An API server waits for ten seconds, as the configurations say.
		<-time.After(9 * time.Second)
		synctest.Wait()
		select {
		case <-ended:
			t.Error("it ended before it answered")
		default:
		}
		if _, err := at.dial(t.Context(), &tls.Config{}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("it is asked more while it ends (%v)", err)
		}
		close(answer)
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Fatalf("no answer: %v", err)
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusTeapot {
			t.Errorf("answered %s (%v)", response.Status, err)
		}
		if err := connection.Close(); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		<-ended
	})
}

func TestFailedHandshakesAreLoggedAtVerbosity4(t *testing.T) {
	for _, tc := range []struct {
		verbosity string
		want      bool
	}{{"3", false}, {"4", true}} {
		t.Run("-v="+tc.verbosity, func(t *testing.T) {
			t.Cleanup(klog.CaptureState().Restore)
			flags := flag.NewFlagSet("", flag.ContinueOnError)
			klog.InitFlags(flags)
			if err := flags.Set("v", tc.verbosity); err != nil {
				t.Fatal(err)
			}
			var (
				mu     sync.Mutex
				logged strings.Builder
			)
			klog.SetLogger(funcr.New(func(_, line string) {
				mu.Lock()
				defer mu.Unlock()
				logged.WriteString(line + "\n")
			}, funcr.Options{Verbosity: 9}))

			synctest.Test(t, func(t *testing.T) { // There is no Secret to serve with.
				at, stop, ended := serving(t, newKeeper(), Options{}, http.NotFound)
				if _, err := at.dial(t.Context(), &tls.Config{}); err == nil {
					t.Error("a handshake without a certificate succeeded")
				}
				synctest.Wait()
				stop()
				<-ended
			})
			mu.Lock()
			defer mu.Unlock()
			if got := strings.Contains(logged.String(), "TLS handshake error"); got != tc.want {
				t.Errorf("logged: %t, want %t:\n%s", got, tc.want, logged.String())
			}
		})
	}
}

// An API server shows its user the text of an answer 500, and of no other.
func TestAWebhookThatIsOffSaysWhy(t *testing.T) {
	answers, err := mount(nil, map[string]error{"/off": errors.New("the controller is off; enable it")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/off": "500 the controller is off; enable it\n", "/other": "404 404 page not found\n"} {
		answer := httptest.NewRecorder()
		answers.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, http.NoBody))
		if got := fmt.Sprint(answer.Code, " ", answer.Body); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
