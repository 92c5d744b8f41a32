// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Bytes bounds the bytes of answers that are being written: those of a tenant, and then those of all. A larger answer than the share of a tenant
// takes the whole share, and of all such answers one is written at a time. Who waits for the own share keeps nobody else waiting. Bytes is safe for
// concurrent use.
type Bytes struct {
	ofTenant   int64
	all, large *semaphore.Weighted

	mu     sync.Mutex
	shares map[Tenant]*share
}

// share is that of a tenant, for as long as there are answers that take of it or wait for it.
type share struct {
	answers int
	left    *semaphore.Weighted
}

// NewBytes returns bounds without answers. ofTenant is at most total.
func NewBytes(total, ofTenant int64) *Bytes {
	return &Bytes{
		ofTenant: ofTenant, all: semaphore.NewWeighted(total), large: semaphore.NewWeighted(1), shares: map[Tenant]*share{},
	}
}

// Acquire waits until an answer of size bytes may be written, or until ctx ends. It calls waits first if the share of the tenant is taken; nil for
// nothing. The caller calls release when the answer is written; it is not nil.
func (b *Bytes) Acquire(ctx context.Context, tenant Tenant, size int64, waits func()) (release func(), err error) {
	var taken []func()
	release = func() {
		for _, give := range taken {
			give()
		}
	}
	defer func() {
		if err != nil {
			release()
			release = func() {}
		}
	}()
	counted := min(size, b.ofTenant)

	own := b.enter(tenant)
	taken = append(taken, func() { b.leave(tenant) })
	if !own.TryAcquire(counted) {
		if waits != nil {
			waits()
		}
		if err := own.Acquire(ctx, counted); err != nil {
			return release, fmt.Errorf("waiting for other answers of %s: %w", tenant, err)
		}
	}
	taken = append(taken, func() { own.Release(counted) })
	if size > b.ofTenant {
		if err := b.large.Acquire(ctx, 1); err != nil {
			return release, fmt.Errorf("waiting for another large answer: %w", err)
		}
		taken = append(taken, func() { b.large.Release(1) })
	}

	if err := b.all.Acquire(ctx, counted); err != nil {
		return release, fmt.Errorf("waiting for other answers: %w", err)
	}
	taken = append(taken, func() { b.all.Release(counted) })
	return release, nil
}

func (b *Bytes) enter(tenant Tenant) *semaphore.Weighted {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.shares[tenant]
	if own == nil {
		own = &share{left: semaphore.NewWeighted(b.ofTenant)}
		b.shares[tenant] = own
	}
	own.answers++
	return own.left
}

func (b *Bytes) leave(tenant Tenant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.shares[tenant]
	own.answers--
	if own.answers == 0 {
		delete(b.shares, tenant)
	}
}
