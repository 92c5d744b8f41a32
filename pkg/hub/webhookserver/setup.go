// SPDX-License-Identifier: Apache-2.0

package webhookserver

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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/hub/extracache"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver/certificates"
	"github.com/placement-hub/placement-hub/pkg/slowclients"
)

// Names of the objects that the controller writes or expects.
const (
	// Secret has the certificates. It is in the namespace of the hub.
	Secret = "placement-webhook-certificates"
	// Service is the Service of the webhooks in the namespace of the hub.
	Service = "placement-webhook"
)

// controllerName is the name of the controller in metrics and logs. It runs for all webhooks together.
const controllerName = "webhook-certificates"

// Webhook is what a controller of the hub serves to API servers.
type Webhook struct {
	// Controller is the name of the controller, as --controllers takes it.
	Controller string
	// Mutating and Validating are the names of its MutatingWebhookConfiguration and its ValidatingWebhookConfiguration; empty for none.
	Mutating, Validating string
	// Manifests is the directory of the configurations, for messages: manifests/webhook.
	Manifests string
	// Handlers answer the reviews, by path. They run on every replica and are called concurrently.
	Handlers map[string]admission.Handler
	// Paths and Route take the place of Handlers where these come and go. An error of Route is answered as a server error, so that the API server
	// applies the failure policy and tells the user.
	Paths []string
	Route func(path string) (http.Handler, error)
	// Synced returns an error that names a cache that the handlers read and that has not synced; nil for handlers without caches.
	Synced func() error
	// FailurePolicy is written to every entry of the configurations. Nil leaves what is there.
	FailurePolicy *admissionregistrationv1.FailurePolicyType
}

// shutdownTimeout is how long open requests may take when the process ends. It equals the timeout of an API server.
const shutdownTimeout = 10 * time.Second

// bodyTime is how long an API server may take to send a review. Bodies are not counted: an API server sends its reviews over few connections, and one
// whose body waits to be read would keep the others of its connection waiting.
const bodyTime = 10 * time.Second

// Options configure how the webhooks are served.
type Options struct {
	// Listener accepts the connections of API servers. Setup takes ownership: the manager closes it when it ends.
	Listener net.Listener
	// TLS has the versions and ciphers; nil means the defaults of Go with TLS 1.2 as the minimum.
	TLS *tls.Config
	// AddReadyCheck registers the readiness check of the webhooks; nil for no check.
	AddReadyCheck func(name string, check func(context.Context) error)
	// Schedule has the lifetimes of certificates; the zero value means certificates.Standard.
	Schedule certificates.Schedule
	// Off has paths of webhooks that are not served, and why. A configuration that is left of one has the API server ask all the same.
	Off map[string]error
	// Published is served beside the webhooks; nil for none.
	Published *Published
	// NewInformer creates the informers of the configurations; nil means client-go's shared index informers.
	NewInformer func(
		toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers,
	) toolscache.SharedIndexInformer

	drain *drain // of DrainAfter; nil for none
}

// Setup adds the server of the webhooks to the manager, and the controller of their certificates and configurations. It returns an error
// without a Listener.
func Setup(mgr manager.Manager, s queue.Settings, o Options, webhooks []Webhook) error {
	if o.Listener == nil {
		return errors.New("it has no address to listen on")
	}
	if o.Schedule == (certificates.Schedule{}) {
		o.Schedule = certificates.Standard()
	}
	answers, err := mount(webhooks, o.Off, o.Published)
	if err != nil {
		return err
	}

	key := types.NamespacedName{Namespace: s.Namespace, Name: Secret}

	certs := &certificateSource{reader: mgr.GetClient(), key: key}
	if err := mgr.Add(newServer(o, certs, answers)); err != nil {
		return fmt.Errorf("adding the webhook server: %w", err)
	}

	r := &reconciler{
		client: mgr.GetClient(), clock: s.Clock, key: key, schedule: o.Schedule, missing: map[absent]bool{},
		conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}
	if o.Published != nil {
		r.published = &publisher{Published: o.Published, client: mgr.GetClient(), reader: mgr.GetAPIReader(), namespace: s.Namespace}
	}

	request := reconcile.Request{NamespacedName: key}
	start := source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		q.Add(request) // Even without a Secret or a configuration.
		return nil
	})
	control := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		WatchesRawSource(start).
		Watches(&corev1.Secret{}, always[client.Object](request), builder.WithPredicates(predicate.NewPredicateFuncs(func(o client.Object) bool {
			return client.ObjectKeyFromObject(o) == key
		}))).
		WithOptions(queue.SingleWorkerOptions[reconcile.Request](s))

	for _, webhook := range webhooks {
		configurations, err := configurationCache(mgr, o, webhook)
		if err != nil {
			return err
		}
		r.webhooks = append(r.webhooks, &watched{webhook, configurations})
		if webhook.Mutating != "" {
			control.WatchesRawSource(source.Kind(configurations, &admissionregistrationv1.MutatingWebhookConfiguration{},
				always[*admissionregistrationv1.MutatingWebhookConfiguration](request)))
		}

		if webhook.Validating != "" {
			control.WatchesRawSource(source.Kind(configurations, &admissionregistrationv1.ValidatingWebhookConfiguration{},
				always[*admissionregistrationv1.ValidatingWebhookConfiguration](request)))
		}
	}

	ready := &readiness{source: certs, webhooks: r.webhooks, clock: s.Clock}
	if o.AddReadyCheck != nil {
		o.AddReadyCheck("webhook", ready.check)
	}
	if err := mgr.Add(newBootstrap(*r, ready)); err != nil {
		return fmt.Errorf("adding the start of the webhooks: %w", err)
	}
	return control.Complete(r) //nolint:wrapcheck // Named by the caller.
}

// always returns a handler that enqueues the only request of the controller.
func always[object any](request reconcile.Request) handler.TypedEventHandler[object, reconcile.Request] {
	return handler.TypedEnqueueRequestsFromMapFunc(func(context.Context, object) []reconcile.Request {
		return []reconcile.Request{request}
	})
}

// configurationCache adds a cache of the configurations of one webhook to the manager. It is a cache of its own because a watch selects
// one name only, and the hub may not read the configurations of others.
func configurationCache(mgr manager.Manager, o Options, webhook Webhook) (cache.Cache, error) {
	named := func(name string) cache.ByObject {
		return cache.ByObject{Field: fields.OneTermEqualSelector(metav1.ObjectNameField, name)}
	}
	return extracache.Add(mgr, "the webhook configurations of "+webhook.Controller, cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(), NewInformer: o.NewInformer,
		ByObject: map[client.Object]cache.ByObject{
			&admissionregistrationv1.MutatingWebhookConfiguration{}:   named(webhook.Mutating),
			&admissionregistrationv1.ValidatingWebhookConfiguration{}: named(webhook.Validating),
		},
	})
}

// mount returns the handler of all webhooks by their paths, those that are off included, and of what is published.
func mount(webhooks []Webhook, off map[string]error, published *Published) (http.Handler, error) {
	mux := http.NewServeMux()
	for path, why := range off {
		mux.Handle(path, routed(path, func(string) (http.Handler, error) { return nil, why }))
	}
	if published != nil {
		mux.Handle(published.Path, published.Handler)
	}

	for _, webhook := range webhooks {
		handlers, err := Standalone(webhook.Handlers)
		if err != nil {
			return nil, err
		}
		for path := range webhook.Handlers {
			mux.Handle(path, handlers[path])
		}
		for _, path := range webhook.Paths {
			mux.Handle(path, routed(path, webhook.Route))
		}
	}

	return mux, nil
}

// Standalone returns HTTP handlers that answer AdmissionReviews by handlers, each by its path.
func Standalone(handlers map[string]admission.Handler) (map[string]http.Handler, error) {
	served := make(map[string]http.Handler, len(handlers))
	for path, handler := range handlers {
		hook, err := admission.StandaloneWebhook(&admission.Webhook{Handler: handler},
			admission.StandaloneOptions{Logger: klog.Background(), MetricsPath: path})
		if err != nil {
			return nil, fmt.Errorf("mounting %s: %w", path, err)
		}
		served[path] = hook
	}
	return served, nil
}

// routed returns a handler that calls the present handler of a path.
func routed(path string, route func(path string) (http.Handler, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		handler, err := route(path)
		if err != nil {
			klog.FromContext(request.Context()).V(2).Info("A review has no answer", "path", path, "reason", err.Error())
			http.Error(w, err.Error(), http.StatusInternalServerError) // Of other codes the API server does not show the text.
			return
		}
		handler.ServeHTTP(w, request)
	})
}

// newServer returns the server of the webhook, which runs on leader and standby.
func newServer(o Options, certs *certificateSource, answers http.Handler) *manager.Server {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.TLS != nil {
		config = o.TLS.Clone()
	}
	config.NextProtos = []string{"h2", "http/1.1"}
	config.GetCertificate = certs.GetCertificate

	connections := o.drain
	if connections == nil {
		connections = &drain{}
	}
	logger := klog.Background()
	logger.Info("Serving the webhooks", "address", o.Listener.Addr().String())
	return &manager.Server{
		Name: "webhook",
		Server: &http.Server{
			Handler:           connections.answers(slowclients.Handler(slowclients.Bodies(bodyTime, answers))),
			ConnState:         connections.count,
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
