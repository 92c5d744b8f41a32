package decision

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/facts"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Group is one decision group.
type Group struct {
	// Index counts from 0 without gaps.
	Index int
	// Name is the name of the rule that made it, or empty for the rest. Several groups may carry one name.
	Name string
	// Clusters are the members, sorted by name.
	Clusters []string
}

// Groups divides the selected clusters: each rule in its order takes the matching ones that are left, the rest follows, and every
// portion is cut into pieces of the group length in the order of the names. A rule that matches none makes no group; when nothing is
// selected there is one empty group.
func Groups(result *scheduling.Result) []Group {
	left := make([]*facts.Facts, 0, len(result.Selected))
	for _, verdict := range result.Selected {
		left = append(left, verdict.Cluster)
	}

	length := result.Request.GroupLength.Of(len(left))

	var groups []Group

	for _, rule := range result.Request.Groups {
		var members []string

		pass := &selector.Pass{}
		left = slices.DeleteFunc(left, func(f *facts.Facts) bool {
			if !rule.Selector.Matches(f, pass) {
				return false
			}

			members = append(members, f.Name)

			return true
		})
		groups = appendPieces(groups, rule.Name, members, length)
	}

	rest := make([]string, 0, len(left))
	for _, f := range left {
		rest = append(rest, f.Name)
	}

	groups = appendPieces(groups, "", rest, length)
	if len(groups) == 0 {
		return []Group{{}}
	}

	return groups
}

func appendPieces(groups []Group, name string, members []string, length int) []Group {
	slices.Sort(members)

	for piece := range slices.Chunk(members, length) {
		groups = append(groups, Group{Index: len(groups), Name: name, Clusters: piece})
	}

	return groups
}
