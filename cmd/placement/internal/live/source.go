// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"time"

	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
)

// Source reads what a View shows.
type Source interface {
	// Changed returns a channel that is closed, or receives a value, when it is worth while to read again.
	Changed() <-chan struct{}
	// read returns the present state.
	read(ctx context.Context) (*board, error)
}

// readInterval is the time between two reads of a hub with the few objects of a sample.
const readInterval = 500 * time.Millisecond

// polled is a part of the Sources that read all objects from the API server twice a second, because they are made for the few objects of a sample.
type polled struct{}

// Changed returns a channel that is closed when it is time to read again.
func (polled) Changed() <-chan struct{} {
	due := make(chan struct{})
	time.AfterFunc(readInterval, func() { close(due) })
	return due
}

// Placements returns the Source of a hub that decides placements.
func Placements(watcher *hubstate.Watcher) Source { return placements{watcher} }

type placements struct{ *hubstate.Watcher }

func (p placements) read(ctx context.Context) (*board, error) {
	state, err := p.ReadAll(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("reading what the table shows: %w", err)
	}
	return newPlacementsBoard(state), nil
}
