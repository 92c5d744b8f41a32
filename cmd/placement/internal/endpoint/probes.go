package endpoint

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// AddLiveness adds a check to /healthz and /livez. Call it before the server starts.
func (e *Server) AddLiveness(name string, check healthz.Checker) { e.live[name] = check }

// AddReadiness makes the process ready when it could take over at once: everything that a standby runs is started, every cache in sync, and
// no watch broken for long. Call it before the server starts.
func (e *Server) AddReadiness(started <-chan struct{}, informers cache.Cache, watches healthz.Checker) {
	e.ready["started"] = startedCheck(started)
	e.ready["caches"] = cachesCheck(informers)
	e.ready["watches"] = watches
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
		// Probes give up after a second by default; this answer comes before.
		ctx, cancel := context.WithTimeout(req.Context(), 500*time.Millisecond)
		defer cancel()
		if !informers.WaitForCacheSync(ctx) {
			return errors.New("the caches are not in sync with the API server yet")
		}
		return nil
	}
}
