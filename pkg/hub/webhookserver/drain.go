// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
)

const (
	// drainTimeout is how long API servers have to close their connections. A Pod that is deleted has waited for the time of preStop before, so
	// that new connections go to other Pods.
	drainTimeout = 3 * time.Second
	// drainInterval is how often the open connections are counted meanwhile.
	drainInterval = 50 * time.Millisecond
)

// DrainAfter returns a context for the manager that serves the webhooks. It ends after ctx, when API servers have closed their connections: at
// once without connections, and at the latest three seconds later. Call it before Setup.
func (o *Options) DrainAfter(ctx context.Context) context.Context {
	o.drain = &drain{}
	return o.drain.after(ctx)
}

// drain has API servers close their connections before the server closes them.
//
// API servers send reviews by HTTP/1.1 over connections that stay open. A server that closes such a connection may do so while a review is on
// its way. The API server does not send the review again, because a POST may have had an effect, and the request of its user fails with "EOF".
// So the server first answers with "Connection: close", after which an API server uses another connection, to another Pod.
type drain struct {
	ending atomic.Bool
	open   atomic.Int64 // connections
}

// after returns a context that ends when ctx has ended and the connections are closed, or the timeout is over.
func (d *drain) after(ctx context.Context) context.Context {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		defer end()
		d.ending.Store(true)
		timeout := time.NewTimer(drainTimeout)
		defer timeout.Stop()
		tick := time.NewTicker(drainInterval)
		defer tick.Stop()

		for d.open.Load() > 0 {
			select {
			case <-tick.C:
			case <-timeout.C:
				klog.FromContext(ctx).V(2).Info("Closing idle connections of API servers", "connections", d.open.Load())
				return
			}
		}
	})

	return running
}

// count is called at each change of a connection.
func (d *drain) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		d.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		d.open.Add(-1)
	case http.StateActive, http.StateIdle:
	}
}

// answers returns a handler that closes the connection of each answer while the process ends.
func (d *drain) answers(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if d.ending.Load() {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, request)
	})
}
