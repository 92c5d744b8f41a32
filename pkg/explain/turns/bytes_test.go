// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// docs/spec/trust.md R9, T22: the answers that a tenant does not read keep those of others neither from being made nor from being written.
func TestT22BytesOfATenantAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bytes := NewBytes(40, 10)
		waited := 0
		var answers []func()
		acquire := func(tenant Tenant, size int64) (func(), chan struct{}) {
			acquired, done := make(chan struct{}), make(chan struct{})
			go func() {
				release, err := bytes.Acquire(t.Context(), tenant, size, func() { waited++ })
				if err != nil {
					return
				}
				close(acquired)
				<-done
				release()
			}()
			synctest.Wait()
			answers = append(answers, sync.OnceFunc(func() { close(done) }))
			return answers[len(answers)-1], acquired
		}
		is := func(reason string, acquired chan struct{}, want bool) {
			t.Helper()
			got := false
			select {
			case <-acquired:
				got = true
			default:
			}
			if got != want {
				t.Errorf("%s: acquired %t, want %t", reason, got, want)
			}
		}
		first, _ := acquire("attacker", 7)
		_, second := acquire("attacker", 7)
		is("more than the share of a tenant", second, false)
		_, other := acquire("team-a", 10)
		is("the share of another tenant", other, true)
		if waited != 1 {
			t.Errorf("%d have waited for their own share, want 1", waited)
		}

		large, acquired := acquire("team-b", 1000)
		is("a large answer", acquired, true)
		_, alone := acquire("team-c", 11)
		is("a large answer beside another one", alone, false)
		_, small := acquire("team-d", 10)
		is("a small answer beside a large one", small, true)

		first()
		large()
		synctest.Wait()
		is("after the first is written", second, true)
		is("a large answer after the other", alone, true)
		for _, read := range answers {
			read()
		}
	})
}

// Whoever waits and gives up: no share is lost, and no tenant is remembered.
func TestBytesAreGivenBack(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		bytes := NewBytes(20, 8)
		var held []func()
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(held) > 0 && rapid.Bool().Draw(t, "release") {
				held[0]()
				held = held[1:]
				continue
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // It gives up if it has to wait.
			tenant := Tenant(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "tenant"))
			release, err := bytes.Acquire(ctx, tenant, rapid.Int64Range(0, 12).Draw(t, "size"), nil)
			if err == nil {
				held = append(held, release)
			}
		}
		for _, release := range held {
			release()
		}
		if len(bytes.shares) > 0 || !bytes.all.TryAcquire(20) || !bytes.large.TryAcquire(1) {
			t.Fatalf("shares are left: %v", bytes.shares)
		}
	})
}
