package webhookconfig

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
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/webhook"
	"github.com/placement-hub/placement-hub/pkg/webhook/certificates"
)

// Defaults is the name of the controller that gives ManagedClusters their defaults.
const Defaults = "managedcluster-defaults"

// Names of what the controller keeps, and of what it expects to be installed.
const (
	// Secret holds the certificates, in the hub's namespace.
	Secret = "placement-webhook-certificates"
	// Configuration is the name of the MutatingWebhookConfiguration and of the ValidatingWebhookConfiguration.
	Configuration = "open-cluster-management-placement-hub-managedclusters"
	// Service leads to the webhook, in the hub's namespace.
	Service = "placement-webhook"
)

// shutdownTimeout is how long requests may take that are being answered when the process ends: as long as an API server waits.
const shutdownTimeout = 10 * time.Second

// Options say how the webhook is served.
type Options struct {
	// Listener is where API servers ask. Setup takes it over: it is closed when the manager ends.
	Listener net.Listener
	// TLS are the versions and ciphers to serve with; nil is Go's choice.
	TLS *tls.Config
	// AddReadyCheck takes the check that API servers which ask this process are answered; nil when nobody asks for it.
	AddReadyCheck func(name string, check func(context.Context) error)
	// Schedule says how long certificates are good; the zero value is certificates.Standard.
	Schedule certificates.Schedule
}

// SetupDefaults adds the controller Defaults and its server to the manager.
func SetupDefaults(mgr manager.Manager, s queue.Settings, o Options) error {
	if o.Listener == nil {
		return errors.New("it has no address to listen on")
	}

	if o.Schedule == (certificates.Schedule{}) {
		o.Schedule = certificates.Standard()
	}

	key := types.NamespacedName{Namespace: s.Namespace, Name: Secret}

	answers, err := webhook.NewHandler(s.Clock, mgr.GetAPIReader())
	if err != nil {
		return err
	}

	ring := &certificateSource{reader: mgr.GetClient(), key: key}
	if err := mgr.Add(newServer(o, ring, answers)); err != nil {
		return fmt.Errorf("adding the webhook server: %w", err)
	}

	if o.AddReadyCheck != nil {
		o.AddReadyCheck("webhook", (&readiness{source: ring, reader: mgr.GetClient(), clock: s.Clock}).check)
	}

	r := &reconciler{
		client: mgr.GetClient(), clock: s.Clock, key: key, schedule: o.Schedule, missing: map[string]bool{},
		conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}
	request := reconcile.Request{NamespacedName: key}
	enqueue := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{request}
	})
	start := source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		q.Add(request) // Also where there is neither a Secret nor a configuration.

		return nil
	})

	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(Defaults).
							WatchesRawSource(start).
							Watches(&corev1.Secret{}, enqueue).
							Watches(&admissionregistrationv1.MutatingWebhookConfiguration{}, enqueue).
							Watches(&admissionregistrationv1.ValidatingWebhookConfiguration{}, enqueue).
							WithOptions(queue.SingleWorkerOptions[reconcile.Request](s)).
							Complete(r)
}

// newServer serves the answers on leader and standby alike.
func newServer(o Options, ring *certificateSource, answers http.Handler) *manager.Server {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.TLS != nil {
		config = o.TLS.Clone()
	}

	config.NextProtos = []string{"h2", "http/1.1"}
	config.GetCertificate = ring.GetCertificate

	logger := klog.Background()
	logger.Info("Serving the webhook", "address", o.Listener.Addr().String())

	return &manager.Server{
		Name: "webhook",
		Server: &http.Server{
			Handler:           answers,
			MaxHeaderBytes:    1 << 20,
			IdleTimeout:       90 * time.Second,
			ReadHeaderTimeout: 32 * time.Second,
			// Whoever knocks without asking is no news, nor are those who come before there is a certificate.
			ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(logger.WithName("webhook").V(4)), slog.LevelInfo),
		},
		Listener:        tls.NewListener(o.Listener, config),
		ShutdownTimeout: ptr.To(shutdownTimeout),
	}
}
