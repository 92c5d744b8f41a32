// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"

	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
)

// Source reads what a View shows.
type Source interface {
	// Changed returns a channel that is closed, or receives a value, when it is worth while to read again.
	Changed() <-chan struct{}
	// read returns the present state.
	read(ctx context.Context) (content, error)
}

// content is the state of a hub at one moment, as displays show it.
type content interface {
	// summary counts the objects.
	summary() string
	// body is the table with its title.
	body() []string
	// changes has a line for each object, for displays that print changes.
	changes() []change
	// pending lists what has not settled.
	pending() []string
	// version changes whenever one of the objects does.
	version() string
}

// change is the line of one object.
type change struct {
	title, line string
	unsettled   bool
}

// Placements returns the Source of a hub that decides placements.
func Placements(watcher *hubstate.Watcher) Source { return placements{watcher} }

type placements struct{ *hubstate.Watcher }

func (p placements) read(ctx context.Context) (content, error) {
	state, err := p.ReadAll(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("reading what the table shows: %w", err)
	}
	return newTable(state), nil
}
