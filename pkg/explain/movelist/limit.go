// SPDX-License-Identifier: Apache-2.0

package movelist

import (
	"context"

	"github.com/placement-hub/placement-hub/pkg/history"
)

// Sight is how much of a cause a user may see.
type Sight int

// The sights. Value is all but the field manager.
const (
	Nothing Sight = iota
	Value
	All
)

// Rules decide what a user may see.
type Rules struct {
	// Shown reports whether a row is shown: not that of a former namespace.
	Shown func(ctx context.Context, move *history.Move) (bool, error)
	// Sight returns how much of a cause is shown, for a decision of a namespace.
	Sight func(ctx context.Context, namespace string, cause *history.Cause) (Sight, error)
}

// Select returns the rows that are shown, with what is shown of their causes. The rows of the history stay as they are.
func Select(ctx context.Context, moves []*history.Move, rules Rules) ([]history.Move, error) {
	selected := make([]history.Move, 0, len(moves))
	for _, move := range moves {
		shown, err := rules.Shown(ctx, move)
		if err != nil {
			return nil, err
		}
		if !shown {
			continue
		}
		copied := *move
		copied.Causes = nil
		for i := range move.Causes {
			cause := move.Causes[i]
			sight, err := rules.Sight(ctx, move.Namespace, &cause)
			switch {
			case err != nil:
				return nil, err
			case sight == Nothing:
				copied.HiddenCauses++
				continue
			case sight == Value:
				cause.Manager, cause.Operation = "", ""
			}
			copied.Causes = append(copied.Causes, cause)
		}
		selected = append(selected, copied)
	}
	return selected, nil
}
