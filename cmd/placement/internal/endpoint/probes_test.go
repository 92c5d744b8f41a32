package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/expect"
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
		e.AddReadyCheck("webhook", func(ctx context.Context) error {
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
