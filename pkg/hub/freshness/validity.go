// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
)

// Validity is how long after it was proved a plan may remove clusters.
const Validity = 5 * time.Second

// Plan is a plan of writes that remove clusters from an object. It is not carried on past a change of the object, nor on an old proof
// (docs/spec/differences.md B13).
type Plan struct {
	// Meta is the metadata of the object as it was evaluated; nil if it did not exist.
	Meta *metav1.ObjectMeta
	// Annotations returns those annotations of the object that Meta has; nil if Meta has all.
	Annotations func(map[string]string) map[string]string
	// ProvedAt is when the removals were proved. What was read for that can be older by the duration of the proof and by listTimeout.
	ProvedAt time.Time
}

// Proceed returns nil if the next write of the plan may remove clusters. latest is the metadata of the object now; nil if it does not exist.
// Otherwise Proceed returns ErrObjectChanged or ErrProofExpired, and what is left of the plan is to be dropped and made again.
func (p Plan) Proceed(latest *metav1.ObjectMeta, now time.Time) error {
	switch {
	case (p.Meta == nil) != (latest == nil), p.Meta != nil && !sameObject(p.Meta, latest, p.Annotations):
		return ErrObjectChanged
	case now.Sub(p.ProvedAt) > Validity:
		return ErrProofExpired
	default:
		return nil
	}
}

// sameObject reports whether an object is as it was evaluated. Its status and labels do not count, nor does the mark of unreadable fields, which
// only objects in the memory of the hub have.
func sameObject(evaluated, latest *metav1.ObjectMeta, annotations func(map[string]string) map[string]string) bool {
	read := latest.Annotations
	if annotations != nil {
		read = annotations(read)
	}
	return latest.UID == evaluated.UID && latest.Generation == evaluated.Generation &&
		(latest.DeletionTimestamp == nil) == (evaluated.DeletionTimestamp == nil) &&
		maps.Equal(unreadable.WithoutMark(read), unreadable.WithoutMark(evaluated.Annotations))
}
