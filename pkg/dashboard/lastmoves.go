// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/turns"
)

const (
	// lastMovesShown is the number of rows of the history on the overview.
	lastMovesShown = 5
	// movesKept is how long the last moves of a user are not asked for again: the overview is made several times a second while it follows changes.
	movesKept = 5 * time.Second
	// usersKept bounds the users whose moves are kept. The tenant who has most loses those that were not looked at for the longest time.
	usersKept = 500
)

// lastMoves has the rows of the overview, for the users who may read them. It is safe for concurrent use.
type lastMoves struct {
	kept *turns.Cache[movesKey, keptMoves]
}

// movesKey is a user, by name and groups, with the namespace of the page.
type movesKey struct{ user, namespace string }

// keptMoves are the rows of a user, and when they were read.
type keptMoves struct {
	lines []moveLine
	read  time.Time
}

func newLastMoves() *lastMoves {
	return &lastMoves{kept: turns.NewCache[movesKey, keptMoves](usersKept)}
}

// of returns the last moves that the caller may read in the namespaces of namespacesShown, the latest first; none where the hub keeps no history.
func (l *lastMoves) of(ctx context.Context, v *visit, namespaces []string) ([]moveLine, error) {
	key := movesKey{v.caller.GetName() + "\x00" + strings.Join(v.caller.GetGroups(), "\x00"), v.namespace()}
	if known, has := l.kept.Get(key); has && v.now.Sub(known.read) < movesKept && !v.now.Before(known.read) {
		return known.lines, nil
	}
	question := (&historyFilter{}).question()
	question.Limit = lastMovesShown
	told, err := v.happenedIn(ctx, namespaces, question)
	if isRefused(err) {
		told, err = &happened{}, nil
	}
	if err != nil {
		return nil, err
	}
	var lines []moveLine
	for i := range told.Moves {
		lines = append(lines, lineOf(&told.Moves[i]))
	}
	slices.Reverse(lines)
	l.kept.Add(turns.TenantOf(v.caller), key, keptMoves{lines, v.now})
	return lines, nil
}

// isRefused reports whether an error is that the caller lacks a right.
func isRefused(err error) bool {
	if apierrors.IsForbidden(err) {
		return true
	}
	_, refused := errors.AsType[*access.RefusalError](err)
	return refused
}
