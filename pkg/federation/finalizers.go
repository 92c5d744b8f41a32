// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// FinalizerTimeout is how long finalizers may keep a ManifestWork that is being deleted before an Event about the object names them.
const FinalizerTimeout = time.Minute

const (
	// maxKeptClusters is how many clusters a text about finalizers names, and maxKeptFinalizers how many finalizers of each.
	maxKeptClusters   = 3
	maxKeptFinalizers = 3
)

// KeptByFinalizers describes the works of the object that finalizers have kept for FinalizerTimeout since their deletion, with the clusters and the
// finalizers; empty if there are none. The duration is the time until the next work is kept for so long, zero if there is none.
func (e *Evaluation) KeptByFinalizers(now time.Time) (string, time.Duration) {
	var (
		kept []string
		next time.Duration
	)
	for _, work := range e.Works {
		switch left := work.DeletedAt.Add(FinalizerTimeout).Sub(now); {
		case work.Foreign || work.KeptBy == "":
		case left <= 0:
			kept = append(kept, fmt.Sprintf("%s (%s)", work.Cluster, work.KeptBy))
		case next == 0 || left < next:
			next = left
		}
	}
	if len(kept) == 0 {
		return "", next
	}

	slices.Sort(kept)
	return fmt.Sprintf("finalizers keep the ManifestWork %s, which was deleted more than a minute ago, in clusters %s; "+
		"ask an administrator of the hub if the agents do not remove them",
		e.Object.Identity().WorkName(), enumerate(kept, maxKeptClusters)), next
}

// enumerate joins the first names, and counts the others.
func enumerate(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
