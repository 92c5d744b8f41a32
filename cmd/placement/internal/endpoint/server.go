// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/pkg/slowclients"
)

// Server is the HTTPS port of the process: probes for everybody, any other path for authorized callers. It listens from New on and serves
// once its runnable is started.
type Server struct {
	listener  net.Listener
	tlsConfig *tls.Config
	// certificates reloads the given pair; nil with a self-signed certificate.
	certificates *certwatcher.CertWatcher
	mux          *http.ServeMux
	gate         *gate
	// live are the checks of /livez, evaluation those of /readyz/evaluation, and webhooks those of /readyz where there are any.
	live, evaluation, webhooks map[string]healthz.Checker
	// notes are lines of the verbose output of /readyz.
	notes map[string]func() string
}

const (
	// readTimeout bounds the time to read a request that a handler does not read earlier.
	readTimeout = 40 * time.Second
	// maxScrapes bounds the answers of /metrics at a time, each of which is in memory until it is written. A further one is 503.
	maxScrapes = 8
)

// The paths of readiness.
const (
	readinessPath  = "/readyz"
	evaluationPath = readinessPath + "/evaluation"
)

// New binds the address and mounts /metrics, /healthz, /livez, /readyz and /readyz/evaluation. config and client reach the API server that
// authenticates (TokenReview) and authorizes (SubjectAccessReview) the callers.
func New(ctx context.Context, o Options, bounds *ReviewBounds, config *rest.Config, client *http.Client) (*Server, error) {
	s := &Server{
		mux:        http.NewServeMux(),
		live:       map[string]healthz.Checker{"ping": healthz.Ping},
		evaluation: map[string]healthz.Checker{},
		webhooks:   map[string]healthz.Checker{},
		notes:      map[string]func() string{},
	}
	var err error
	if s.gate, err = newGate(bounds, config, client, nil); err != nil {
		return nil, fmt.Errorf("finding out who may ask: %w", err)
	}
	if s.tlsConfig, s.certificates, err = o.tlsConfig(); err != nil {
		return nil, err
	}
	series := promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.HTTPErrorOnError, MaxRequestsInFlight: maxScrapes,
	})
	if o.Open {
		s.mux.Handle("/metrics", series)
	} else {
		s.Handle("/metrics", series)
	}
	s.handleProbe("/healthz", s.live)
	s.handleProbe("/livez", s.live)
	s.handleProbe(evaluationPath, s.evaluation)
	s.mux.HandleFunc(readinessPath, s.serveReadiness)
	s.mux.HandleFunc(readinessPath+"/", s.serveReadiness)

	s.mux.HandleFunc("/", noPath)

	var listen net.ListenConfig
	if s.listener, err = listen.Listen(ctx, o.Network, o.Address); err != nil {
		return nil, fmt.Errorf("--listen: %w; choose another address, or port 0 for a free one", err)
	}
	klog.FromContext(ctx).Info("Serving HTTPS", "address", s.listener.Addr().String())
	return s, nil
}

// noPath answers requests for a path that nothing is mounted at, such as those of people who look for the dashboard.
func noPath(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "there is nothing at this path; this port has /metrics, /healthz, /livez and /readyz, and the dashboard has a port of its own "+
		"(--dashboard-listen)", http.StatusNotFound)
}

// Handle mounts a handler for authorized callers, also where the configuration opens /metrics to everybody. The handler finds the user in
// the context (request.UserFrom). Call it before the server starts.
func (s *Server) Handle(pattern string, handler http.Handler) {
	s.mux.Handle(pattern, s.gate.protect(handler))
}

// Access returns the authorizer of the API server (SubjectAccessReview), which caches decisions for ten seconds.
func (s *Server) Access() authorizer.Authorizer { return s.gate.authorizer }

func (s *Server) handleProbe(path string, checks map[string]healthz.Checker) {
	handler := http.StripPrefix(path, &healthz.Handler{Checks: checks})
	s.mux.Handle(path, handler)
	s.mux.Handle(path+"/", handler)
}

// AddTo lets the manager start and stop the server, and the reloading of its certificate, on leader and standby alike.
func (s *Server) AddTo(mgr manager.Manager) error {
	if s.certificates != nil {
		if err := mgr.Add(s.certificates); err != nil {
			return fmt.Errorf("adding the certificate watcher: %w", err)
		}
	}
	if err := mgr.Add(s.runnable()); err != nil {
		return fmt.Errorf("adding the HTTPS server: %w", err)
	}
	return nil
}

func (s *Server) runnable() *manager.Server {
	return &manager.Server{
		Name: "https",
		Server: &http.Server{
			Handler:           slowclients.Handler(s.mux),
			MaxHeaderBytes:    1 << 20,
			IdleTimeout:       90 * time.Second,
			ReadHeaderTimeout: 32 * time.Second,
			// Handlers read bodies within less (slowclients.ReadBody).
			ReadTimeout: readTimeout,
			// TLS handshake errors of port scanners and probes are logged at V(4).
			ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(klog.Background().WithName("https").V(4)), slog.LevelInfo),
		},
		Listener:        tls.NewListener(s.listener, s.tlsConfig),
		ShutdownTimeout: ptr.To(2 * time.Second),
	}
}

// Close releases the address if the manager never started the server.
func (s *Server) Close() error {
	if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing the HTTPS listener: %w", err)
	}
	return nil
}
