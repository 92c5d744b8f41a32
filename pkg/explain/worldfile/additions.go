package worldfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// addableKinds are the kinds that can be added to a world as they are: clusters, and what is said of them.
var addableKinds = []string{"ManagedCluster ", "AddOnPlacementScore "}

// Additions are the clusters and scores that the files hold, to be added to another world. The error of mistakes in the files is an
// *InputError; anything else in the files, and nothing at all, are errors too.
func (r *Reader) Additions() (*explain.State, error) {
	if len(r.problems) > 0 {
		return nil, &InputError{Problems: r.problems}
	}

	for _, identity := range slices.Sorted(maps.Keys(r.seen)) {
		if !slices.ContainsFunc(addableKinds, func(kind string) bool { return strings.HasPrefix(identity, kind) }) {
			return nil, fmt.Errorf("%s: %s cannot be added: leave it out, only ManagedClusters and AddOnPlacementScores can; "+
				"placement diff says what Placements would change", r.seen[identity], identity)
		}
	}

	if len(r.seen) == 0 {
		return nil, errors.New("there is no ManagedCluster and no AddOnPlacementScore in the files, so there is nothing to add")
	}

	return &explain.State{Clusters: r.state.Clusters, Scores: r.state.Scores}, nil
}
