// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// checkTimeout bounds a check, so that it responds before the default probe timeout of one second.
const checkTimeout = 500 * time.Millisecond

// AddLiveness adds a check to /healthz and /livez. Call it before the server starts.
func (s *Server) AddLiveness(name string, check healthz.Checker) { s.live[name] = check }

// AddEvaluation makes evaluation ready when the process could lead at once: all runnables of a standby are started, and every cache is in
// sync. Call it before the server starts.
func (s *Server) AddEvaluation(started <-chan struct{}, informers cache.Cache) {
	s.evaluation["started"] = startedCheck(started)
	s.evaluation["caches"] = cachesCheck(informers)
}

// AddEvaluationCheck adds a check to /readyz/evaluation. Call it before the server starts.
func (s *Server) AddEvaluationCheck(name string, check func(context.Context) error) {
	s.evaluation[name] = within(check)
}

// AddWebhookCheck adds a check of the webhooks, which then decide about /readyz. Call it before the server starts.
func (s *Server) AddWebhookCheck(name string, check func(context.Context) error) {
	s.webhooks[name] = within(check)
}

// AddNote adds a line to the verbose output of /readyz, which does not decide about it: the name, and its state. Call it before the server
// starts.
func (s *Server) AddNote(name string, state func() string) { s.notes[name] = state }

// OnUnless returns the state of a note that is off for a reason, or on without one.
func OnUnless(off string) string {
	if off == "" {
		return "on"
	}
	return "off: " + off
}

// within returns a check that is bounded by checkTimeout.
func within(check func(context.Context) error) healthz.Checker {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), checkTimeout)
		defer cancel()
		return check(ctx)
	}
}

// Evaluable reports whether every check of evaluation passes.
func (s *Server) Evaluable(ctx context.Context) bool {
	req := (&http.Request{}).WithContext(ctx)
	for _, check := range s.evaluation {
		if check(req) != nil {
			return false
		}
	}
	return true
}

// serveReadiness answers /readyz. Where the process serves webhooks, they decide: API servers call a Pod only while it is ready, and reviews
// need neither a leader nor the watches of evaluation.
func (s *Server) serveReadiness(w http.ResponseWriter, req *http.Request) {
	checks := s.evaluation
	if len(s.webhooks) > 0 {
		checks = s.webhooks
	}
	http.StripPrefix(readinessPath, &healthz.Handler{Checks: checks}).ServeHTTP(w, req)
	if !req.URL.Query().Has("verbose") {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.notes)) {
		if _, err := fmt.Fprintf(w, "%s: %s\n", name, s.notes[name]()); err != nil {
			return // The caller has gone.
		}
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
