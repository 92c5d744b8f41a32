// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"time"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// Source reads what a View shows.
type Source struct {
	// Read returns the present board.
	Read func(ctx context.Context) (*document.Board, error)
	// Changed returns a channel that is closed, or receives a value, when it is worth while to read again. Nil reads twice a second, which is made
	// for the few objects of a sample.
	Changed func() <-chan struct{}
}

// readInterval is the time between two reads of a hub with the few objects of a sample.
const readInterval = 500 * time.Millisecond

func (s *Source) changed() <-chan struct{} {
	if s.Changed != nil {
		return s.Changed()
	}
	due := make(chan struct{})
	time.AfterFunc(readInterval, func() { close(due) })
	return due
}

func (s *Source) read(ctx context.Context) (*document.Board, error) {
	b, err := s.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading what the table shows: %w", err)
	}
	return b, nil
}
