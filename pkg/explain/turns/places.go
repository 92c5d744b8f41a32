// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"errors"
	"sync"
)

// ErrPlaceTaken is the cause with which the context of a place ends that another tenant has got.
var ErrPlaceTaken = errors.New("another tenant, who has fewer, has got the place")

// Places are a number of places for all tenants, for as long as each takes: event streams, or open requests. A tenant below its fair share
// finds one although all are taken: that of the tenant who has most is taken away. Places is safe for concurrent use.
type Places struct {
	total int

	mu    sync.Mutex
	taken int
	of    map[Tenant][]*place // in the order in which they were taken
}

type place struct{ end context.CancelCauseFunc }

// NewPlaces returns so many free places, from 1.
func NewPlaces(total int) *Places { return &Places{total: total, of: map[Tenant][]*place{}} }

// Enter takes a place; false if there is none for the tenant. The context ends with the cause ErrPlaceTaken when the place is taken away.
// The caller leaves it.
func (p *Places) Enter(ctx context.Context, tenant Tenant) (inside context.Context, leave func(), entered bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken == p.total && !p.evict(tenant) {
		return ctx, func() {}, false
	}
	inside, end := context.WithCancelCause(ctx)
	own := &place{end: end}
	p.of[tenant] = append(p.of[tenant], own)
	p.taken++
	return inside, func() { p.leave(tenant, own) }, true
}

// evict takes the newest place away from the tenant who has most, if that one has at least two more than the tenant: the other way around
// it would begin again.
func (p *Places) evict(tenant Tenant) bool {
	var most Tenant
	for other, places := range p.of {
		if len(places) > len(p.of[most]) || len(places) == len(p.of[most]) && other < most {
			most = other
		}
	}
	places := p.of[most]
	if len(places) < len(p.of[tenant])+2 {
		return false
	}
	last := places[len(places)-1]
	last.end(ErrPlaceTaken)
	p.remove(most, len(places)-1)
	return true
}

func (p *Places) leave(tenant Tenant, own *place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own.end(nil)
	for at, other := range p.of[tenant] {
		if other == own {
			p.remove(tenant, at)
			return
		}
	}
}

// remove gives a place back.
func (p *Places) remove(tenant Tenant, at int) {
	places := p.of[tenant]
	p.of[tenant] = append(places[:at:at], places[at+1:]...)
	if len(p.of[tenant]) == 0 {
		delete(p.of, tenant)
	}
	p.taken--
}
