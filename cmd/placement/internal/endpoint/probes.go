package endpoint

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// checkTimeout bounds a check, so that it responds before the default probe timeout of one second.
const checkTimeout = 500 * time.Millisecond

// AddLiveness adds a check to /healthz and /livez. Call it before the server starts.
func (e *Server) AddLiveness(name string, check healthz.Checker) { e.live[name] = check }

// AddReadiness makes the process ready when it could lead at once: all runnables of a standby are started, and every cache is in sync. Call
// it before the server starts.
func (e *Server) AddReadiness(started <-chan struct{}, informers cache.Cache) {
	e.ready["started"] = startedCheck(started)
	e.ready["caches"] = cachesCheck(informers)
}

// AddReadyCheck adds a check to /readyz. Call it before the server starts.
func (e *Server) AddReadyCheck(name string, check func(context.Context) error) {
	e.ready[name] = func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), checkTimeout)
		defer cancel()
		return check(ctx)
	}
}

func startedCheck(started <-chan struct{}) healthz.Checker {
	return func(*http.Request) error {
		select {
		case <-started:
			return nil
		default:
			return errors.New("the controllers are still starting")
		}
	}
}

func cachesCheck(informers cache.Cache) healthz.Checker {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), checkTimeout)
		defer cancel()
		if !informers.WaitForCacheSync(ctx) {
			return errors.New("the caches are not in sync with the API server yet")
		}
		return nil
	}
}
