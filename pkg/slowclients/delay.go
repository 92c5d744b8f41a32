// SPDX-License-Identifier: Apache-2.0

package slowclients

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// refusalDelay is how long a refusal waits. A client that tries again at once would cost a TLS handshake or a review for each refusal.
	refusalDelay = 2 * time.Second
	// maxDelayed bounds the refusals of all servers that wait. A further one is sent at once.
	maxDelayed = 256
)

// delayed counts the refusals that wait.
var delayed = semaphore.NewWeighted(maxDelayed)

// Delay waits two seconds before a refusal is sent to a client that will try again, or until ctx ends. It returns at once while many refusals wait.
// The caller should hold nothing that others wait for.
func Delay(ctx context.Context) {
	if !delayed.TryAcquire(1) {
		return
	}
	defer delayed.Release(1)
	timer := time.NewTimer(refusalDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
