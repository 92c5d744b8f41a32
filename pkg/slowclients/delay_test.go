// SPDX-License-Identifier: Apache-2.0

package slowclients

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// docs/spec/trust.md T22: who asked too often waits for the refusal, others do not wait, and the number of those who wait is bounded.
func TestT22RefusalsAreDelayed(t *testing.T) {
	respond := func(ctx context.Context, code int) time.Duration {
		w, begin := httptest.NewRecorder(), time.Now()
		Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })).
			ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody))
		if w.Code != code {
			t.Errorf("the response has the status %d, want %d", w.Code, code)
		}
		return time.Since(begin)
	}
	for code, want := range map[int]time.Duration{
		http.StatusOK: 0, http.StatusForbidden: 0, http.StatusServiceUnavailable: 0, http.StatusTooManyRequests: refusalDelay,
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := respond(t.Context(), code); got != want {
				t.Errorf("the status %d takes %v, want %v", code, got, want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		left, leave := context.WithCancel(t.Context())
		leave()
		if got := respond(left, http.StatusTooManyRequests); got != 0 {
			t.Errorf("a client that has left is waited for %v", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var waiting sync.WaitGroup
		for range maxDelayed {
			waiting.Go(func() { Delay(t.Context()) })
		}
		synctest.Wait()
		if got := respond(t.Context(), http.StatusTooManyRequests); got != 0 {
			t.Errorf("with %d that wait, one more takes %v", maxDelayed, got)
		}
		waiting.Wait()
		if got := respond(t.Context(), http.StatusTooManyRequests); got != refusalDelay {
			t.Errorf("after them, one takes %v, want %v", got, refusalDelay)
		}
	})
}
