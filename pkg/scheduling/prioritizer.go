// SPDX-License-Identifier: Apache-2.0

package scheduling

// Prioritizer is a weighted source of scores: built-in, or an entry of an AddOnPlacementScore.
type Prioritizer struct {
	// BuiltIn names a built-in prioritizer; empty for an AddOnPlacementScore.
	BuiltIn string
	// Resource is the name of the AddOnPlacementScore object in the namespace of each cluster, and Score the entry in it.
	Resource, Score string
	// Weight multiplies the scores; it is in [-10, 10] and not 0. A negative weight prefers low scores.
	Weight int32
}

// Name returns the built-in name, or "AddOn/<resource>/<score>".
func (p Prioritizer) Name() string {
	if p.BuiltIn != "" {
		return p.BuiltIn
	}
	return "AddOn/" + p.Resource + "/" + p.Score
}

// isAddOn reports whether the scores are those of AddOnPlacementScores.
func (p Prioritizer) isAddOn() bool { return p.BuiltIn == "" }
