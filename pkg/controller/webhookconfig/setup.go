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

// Defaults is the name of the controller that serves the defaults of ManagedClusters.
const Defaults = "managedcluster-defaults"

// Names of the objects that the controller writes or expects.
const (
	// Secret has the certificates. It is in the namespace of the hub.
	Secret = "placement-webhook-certificates"
	// Configuration is the name of the MutatingWebhookConfiguration and of the ValidatingWebhookConfiguration.
	Configuration = "open-cluster-management-placement-hub-managedclusters"
	// Service is the Service of the webhook in the namespace of the hub.
	Service = "placement-webhook"
)

// shutdownTimeout is how long open requests may take when the process ends. It equals the timeout of an API server.
const shutdownTimeout = 10 * time.Second

// Options configure how the webhook is served.
type Options struct {
	// Listener accepts the connections of API servers. Setup takes ownership: the manager closes it when it ends.
	Listener net.Listener
	// TLS has the versions and ciphers; nil means the defaults of Go with TLS 1.2 as the minimum.
	TLS *tls.Config
	// AddReadyCheck registers the readiness check of the webhook; nil for no check.
	AddReadyCheck func(name string, check func(context.Context) error)
	// Schedule has the lifetimes of certificates; the zero value means certificates.Standard.
	Schedule certificates.Schedule
}

// SetupDefaults adds the controller Defaults and its server to the manager. It returns an error without a Listener.
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

	certs := &certificateSource{reader: mgr.GetClient(), key: key}
	if err := mgr.Add(newServer(o, certs, answers)); err != nil {
		return fmt.Errorf("adding the webhook server: %w", err)
	}

	if o.AddReadyCheck != nil {
		o.AddReadyCheck("webhook", (&readiness{source: certs, reader: mgr.GetClient(), clock: s.Clock}).check)
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
		q.Add(request) // Even without a Secret or a configuration.

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

// newServer returns the server of the webhook, which runs on leader and standby.
func newServer(o Options, certs *certificateSource, answers http.Handler) *manager.Server {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.TLS != nil {
		config = o.TLS.Clone()
	}

	config.NextProtos = []string{"h2", "http/1.1"}
	config.GetCertificate = certs.GetCertificate

	logger := klog.Background()
	logger.Info("Serving the webhook", "address", o.Listener.Addr().String())

	return &manager.Server{
		Name: "webhook",
		Server: &http.Server{
			Handler:           answers,
			MaxHeaderBytes:    1 << 20,
			IdleTimeout:       90 * time.Second,
			ReadHeaderTimeout: 32 * time.Second,
			// Failed TLS handshakes, for instance of port scanners or before a certificate exists, are logged at V(4).
			ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(logger.WithName("webhook").V(4)), slog.LevelInfo),
		},
		Listener:        tls.NewListener(o.Listener, config),
		ShutdownTimeout: ptr.To(shutdownTimeout),
	}
}
