// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/placement-hub/placement-hub/test/expect"
)

func TestReadyOnceStarted(t *testing.T) {
	started := make(chan struct{})
	check := startedCheck(started)
	if err := check(nil); err == nil {
		t.Error("ready before anything has started")
	}
	close(started)
	expect.NoError(t, check(nil))
}

func TestReadyWhenEveryCheckPasses(t *testing.T) {
	var able atomic.Bool
	base := serve(t, localServing(), func(e *Server) {
		e.AddWebhookCheck("webhook", func(ctx context.Context) error {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("a check has no deadline, want it to answer before the probe gives up")
			}
			if !able.Load() {
				return errors.New("not yet")
			}
			return nil
		})
	})
	client := newHTTPSClient(t, &tls.Config{})
	if got := get(t, client, base+"/readyz", ""); got.code != http.StatusInternalServerError {
		t.Errorf("a check fails and /readyz answers %d %s", got.code, got.body)
	}
	if got := get(t, client, base+"/healthz", ""); got.code != http.StatusOK {
		t.Errorf("a process that is not ready is alive, and /healthz answers %d %s", got.code, got.body)
	}
	able.Store(true)
	if got := get(t, client, base+"/readyz", ""); got.code != http.StatusOK {
		t.Errorf("every check passes and /readyz answers %d %s", got.code, got.body)
	}
}

// docs/spec/trust.md R4: what breaks evaluation does not take the endpoints of the webhooks away.
func TestWebhooksDecideAboutReadiness(t *testing.T) {
	broken := func(context.Context) error { return errors.New("a watch is broken") }
	works := func(context.Context) error { return nil }
	for _, tc := range []struct {
		reason               string
		evaluation, webhooks func(context.Context) error
		ready, evaluable     int
	}{
		{reason: "without webhooks evaluation decides", evaluation: broken, ready: http.StatusInternalServerError,
			evaluable: http.StatusInternalServerError},
		{reason: "webhooks answer although evaluation is broken", evaluation: broken, webhooks: works, ready: http.StatusOK,
			evaluable: http.StatusInternalServerError},
		{reason: "webhooks do not answer", evaluation: works, webhooks: broken, ready: http.StatusInternalServerError, evaluable: http.StatusOK},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var server *Server
			base := serve(t, localServing(), func(e *Server) {
				server = e
				e.AddEvaluationCheck("watches", tc.evaluation)
				if tc.webhooks != nil {
					e.AddWebhookCheck("webhook", tc.webhooks)
				}
			})
			client := newHTTPSClient(t, &tls.Config{})
			if got := get(t, client, base+"/readyz", ""); got.code != tc.ready {
				t.Errorf("/readyz answers %d %s, want %d", got.code, got.body, tc.ready)
			}
			if got := get(t, client, base+"/readyz/evaluation", ""); got.code != tc.evaluable {
				t.Errorf("/readyz/evaluation answers %d %s, want %d", got.code, got.body, tc.evaluable)
			}
			if got := server.Evaluable(t.Context()); got != (tc.evaluable == http.StatusOK) {
				t.Errorf("evaluable: %t", got)
			}
		})
	}
}
