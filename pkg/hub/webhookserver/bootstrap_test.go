// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// start runs the bootstrap of a process for a time, and returns its writes and whether it has ended by itself.
func start(t *testing.T, k *keeper, length time.Duration) (sent []string, ended bool) {
	t.Helper()
	k.sent = nil
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), length)
		defer cancel()
		if err := (&bootstrap{reconciler: k.reconciler, ready: readinessOf(k).check, interval: bootstrapInterval}).Start(ctx); err != nil {
			t.Error(err)
		}
		ended = ctx.Err() == nil
	})
	return k.sent, ended
}

// A rollout that turns a system on has a leader that does not know the webhook of the system.
func TestAProcessGetsReadyBesideALeaderWithoutItsWebhook(t *testing.T) {
	k := newKeeper(leading("https://hub.example.com/mutate", ""))
	webhooks := k.webhooks
	k.webhooks = nil
	k.want(t, "the leader makes the certificates", "create "+Secret)

	k.webhooks = webhooks
	sent, ended := start(t, k, 2*bootstrapInterval+time.Second)
	if !ended || !slices.Contains(sent, "patch "+testConfiguration) {
		t.Errorf("the writes are %q and it ended: %t, want the authorities in the configuration and an end", sent, ended)
	}
	if err := readinessOf(k).check(t.Context()); err != nil {
		t.Errorf("the process is not ready: %v", err)
	}
}

func TestAProcessMakesTheCertificatesThatNoLeaderMakes(t *testing.T) {
	k := newKeeper(leading("https://hub.example.com/mutate", ""))
	sent, ended := start(t, k, 2*bootstrapInterval+time.Second)
	if want := []string{"create " + Secret, "patch " + testConfiguration}; !ended || !slices.Equal(sent, want) {
		t.Errorf("the writes are %q and it ended: %t, want %q and an end", sent, ended, want)
	}
}

func TestAProcessLeavesTheWorkToTheLeader(t *testing.T) {
	k := newKeeper(leading("https://hub.example.com/mutate", ""))
	k.want(t, "the leader has done it", "create "+Secret, "patch "+testConfiguration)
	if sent, ended := start(t, k, bootstrapInterval+time.Second); len(sent) > 0 || !ended {
		t.Errorf("the writes are %q and it ended: %t, want none and an end", sent, ended)
	}
	if sent, ended := start(t, newKeeper(leading("https://hub.example.com/mutate", "")), bootstrapInterval/2); len(sent) > 0 || ended {
		t.Errorf("the writes before the leader had time are %q, want none", sent)
	}
}
