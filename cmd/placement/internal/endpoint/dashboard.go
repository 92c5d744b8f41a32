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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/slowclients"
)

// The ConfigMap in which API servers publish who signs the certificates of their clients.
const (
	clientAuthorityNamespace = "kube-system"
	clientAuthorityConfigMap = "extension-apiserver-authentication"
	clientAuthorityKey       = "client-ca-file"
)

// People returns what authenticates people, by bearer token and by the client certificates that the API server accepts, and what authorizes them. Run
// keeps the authorities of these certificates up to date. As long as the ConfigMap with them cannot be read, tokens alone count.
func People(bounds *ReviewBounds, config *rest.Config, client *http.Client) (*Reviewers, error) {
	hub, err := kubernetes.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("making the client for client certificates: %w", err)
	}
	authorities, err := dynamiccertificates.NewDynamicCAFromConfigMapController(
		"client-ca", clientAuthorityNamespace, clientAuthorityConfigMap, clientAuthorityKey, hub)
	if err != nil {
		return nil, fmt.Errorf("preparing to verify client certificates: %w", err)
	}
	g, err := newGate(bounds, config, client, authorities)
	if err != nil {
		return nil, err
	}
	return &Reviewers{Authenticator: g.authenticator, Authorizer: g.authorizer, authorities: authorities, hub: hub}, nil
}

// Reviewers authenticate and authorize people.
type Reviewers struct {
	Authenticator authenticator.Request
	Authorizer    authorizer.Authorizer

	// authorities sign client certificates. It accepts none before it has read them.
	authorities *dynamiccertificates.ConfigMapCAController
	hub         kubernetes.Interface
}

// lookAgain is how often the ConfigMap with the authorities is looked for, while it cannot be read.
const lookAgain = 10 * time.Second

// Run keeps the authorities of client certificates up to date until ctx ends. The informer of the authorities would log an error for each attempt to
// read a ConfigMap that may not be read, so it starts with the first success, and one line says why it has not.
func (r *Reviewers) Run(ctx context.Context) {
	logged := ""
	err := wait.PollUntilContextCancel(ctx, lookAgain, true, func(ctx context.Context) (bool, error) {
		hint, err := r.readAuthorities(ctx)
		if hint == "" {
			return true, nil
		}
		if hint != logged && ctx.Err() == nil {
			logged = hint
			klog.FromContext(ctx).Info(
				"Client certificates are not accepted, because the authorities that sign them cannot be read; tokens are. "+hint,
				"configMap", klog.KRef(clientAuthorityNamespace, clientAuthorityConfigMap), "err", err)
		}
		return false, nil
	})
	if err == nil {
		r.authorities.Run(ctx, 1)
	}
}

// readAuthorities returns what to do where the authorities of client certificates cannot be read; empty if they can.
func (r *Reviewers) readAuthorities(ctx context.Context) (hint string, err error) {
	published, err := r.hub.CoreV1().ConfigMaps(clientAuthorityNamespace).Get(ctx, clientAuthorityConfigMap, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err):
		hint = "Bind the Role extension-apiserver-authentication-reader in kube-system to the ServiceAccount of the hub, " +
			"as deploy/components/dashboard does"
	case apierrors.IsNotFound(err), err == nil && published.Data[clientAuthorityKey] == "":
		hint = "An API server publishes them if it verifies client certificates (its flag client-ca-file); otherwise nothing is to be done"
	case err != nil:
		hint = "The hub tries again"
	}
	return hint, err //nolint:wrapcheck // The line of the log names the ConfigMap.
}

// Pages is an HTTPS server for people, on leader and standby alike.
type Pages struct {
	listener net.Listener
	server   manager.Server
	options  Options
}

// NewPages binds an address. Its certificate is that of the options, whose address it ignores.
func NewPages(ctx context.Context, o Options, address string) (*Pages, error) {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, o.Network, address)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another address, or port 0 for a free one", err)
	}
	return &Pages{listener: listener, options: o}, nil
}

// Address is where the pages are.
func (p *Pages) Address() net.Addr { return p.listener.Addr() }

// AddTo lets the manager serve a handler. Clients may send a certificate.
func (p *Pages) AddTo(mgr manager.Manager, handler http.Handler) error {
	config, certificates, err := p.options.tlsConfig()
	if err != nil {
		return err
	}
	config.ClientAuth = tls.RequestClientCert // The authenticator verifies it.
	if certificates != nil {
		if err := mgr.Add(certificates); err != nil {
			return fmt.Errorf("adding the certificate watcher of the dashboard: %w", err)
		}
	}
	p.server = manager.Server{
		Name: "dashboard", Server: PageServer(handler), Listener: tls.NewListener(p.listener, config), ShutdownTimeout: ptr.To(2 * time.Second),
	}
	if err := mgr.Add(&p.server); err != nil {
		return fmt.Errorf("adding the server of the dashboard: %w", err)
	}
	return nil
}

// Close releases the address if the manager never started the server. There is nothing to close of nil.
func (p *Pages) Close() error {
	if p == nil {
		return nil
	}
	if err := p.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing the listener of the dashboard: %w", err)
	}
	return nil
}

// PageServer returns a server of pages for people. A response has no time limit, because event streams have none; each write of them has.
func PageServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: slowclients.Handler(handler), MaxHeaderBytes: 64 << 10,
		IdleTimeout: 90 * time.Second, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(klog.Background().WithName("dashboard").V(4)), slog.LevelInfo),
	}
}
