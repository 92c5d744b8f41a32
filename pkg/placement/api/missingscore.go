// SPDX-License-Identifier: Apache-2.0

package api

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MissingScoreAnnotation says what a cluster without a valid score of an AddOnPlacementScore counts. The only value is worstScore; without
// the annotation it counts 0 (docs/spec/differences.md C3).
const MissingScoreAnnotation = "placement-hub.open-cluster-management.io/missing-score"

// worstScore has a cluster without a valid score get the fewest points that the weight allows.
const worstScore = "worst"

// missingIsWorst reports whether missing scores count as the worst ones. Another value is an error, so that a mistake changes no scores.
func (p *Placement) missingIsWorst() (bool, *field.Error) {
	value, annotated := p.Annotations[MissingScoreAnnotation]
	if !annotated || value == worstScore {
		return annotated, nil
	}
	return false, field.Invalid(field.NewPath("metadata", "annotations").Key(MissingScoreAnnotation), value,
		`must be "`+worstScore+`"; remove the annotation to have missing scores count 0`)
}

// Version identifies what Request reads of a Placement: it returns equal Requests for all states of a Placement with one Version.
type Version struct {
	UID        types.UID
	Generation int64

	missingScore string
	annotated    bool
}

// Version returns the Version. An annotation that decides is a part of it, because it changes no generation.
func (p *Placement) Version() Version {
	value, annotated := p.Annotations[MissingScoreAnnotation]
	return Version{UID: p.UID, Generation: p.Generation, missingScore: value, annotated: annotated}
}
