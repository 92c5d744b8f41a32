// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// Source reads what a View shows.
type Source struct {
	// Read returns the present board.
	Read func(ctx context.Context) (*document.Board, error)
	// Changed returns a channel that receives a value when it is worth while to read again.
	Changed func() <-chan struct{}
}

func (s *Source) read(ctx context.Context) (*document.Board, error) {
	b, err := s.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading what the table shows: %w", err)
	}
	return b, nil
}
