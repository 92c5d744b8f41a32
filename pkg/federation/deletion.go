// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// Deletion is what is left to do for an object that is being deleted (docs/spec/federated-selector.md 3.1.5).
type Deletion struct {
	// Orphan are the clusters whose work must be told first that the copies stay, and Delete those whose work is to be deleted, sorted.
	Orphan, Delete []string
	// Release are the clusters that do not exist any more, whose works are to lose the finalizers of their agents.
	Release []string
	// Waiting are the clusters whose agent has to act, sorted.
	Waiting []string
}

// Done reports whether nothing is left, so that the finalizer of the object can go.
func (d *Deletion) Done() bool {
	return len(d.Orphan) == 0 && len(d.Delete) == 0 && len(d.Release) == 0 && len(d.Waiting) == 0
}

// Deletion plans the deletion of the object. It is meaningful while the State is Deleting.
func (e *Evaluation) Deletion() Deletion {
	var d Deletion
	orphan := e.Object.Meta.Annotations[OrphanAnnotation] == enabled
	for _, work := range e.Works {
		exists := e.snapshot.Cluster(work.Cluster) != nil
		switch {
		case work.Foreign:
		case work.Deleting && !exists:
			d.Release = append(d.Release, work.Cluster)
		case work.Deleting:
			d.Waiting = append(d.Waiting, work.Cluster)
		case orphan && !work.Orphan:
			d.Orphan = append(d.Orphan, work.Cluster)
		case orphan && exists && !work.OrphanSeen:
			d.Waiting = append(d.Waiting, work.Cluster)
		default:
			d.Delete = append(d.Delete, work.Cluster)
		}
	}

	slices.Sort(d.Orphan)
	slices.Sort(d.Delete)
	slices.Sort(d.Release)
	slices.Sort(d.Waiting)
	return d
}

// DeletionTimeout is how long agents may take to remove the copies of an object before they count as away.
const DeletionTimeout = 10 * time.Second

// Away returns the clusters that the deletion of the object waits for and whose agents seem to be away, sorted: those that are not available, and
// all of them once DeletionTimeout is over.
func (e *Evaluation) Away(now time.Time) []string {
	if e.State != Deleting {
		return nil
	}
	late := !now.Before(e.Object.Meta.DeletionTimestamp.Add(DeletionTimeout))
	waiting := e.Deletion().Waiting
	return slices.DeleteFunc(waiting, func(cluster string) bool {
		info := e.snapshot.Cluster(cluster)
		return !late && info != nil && info.Available
	})
}

// Abandoned returns the clusters that do not exist any more, and whose works are being deleted: nobody but the hub removes the finalizers of
// their agents.
func (e *Evaluation) Abandoned() []string {
	var abandoned []string
	for _, work := range e.Works {
		if work.Deleting && !work.Foreign && e.snapshot != nil && e.snapshot.Cluster(work.Cluster) == nil {
			abandoned = append(abandoned, work.Cluster)
		}
	}
	slices.Sort(abandoned)
	return abandoned
}

// WaitingMessage says which clusters the deletion of the object waits for, and which finalizers have kept works for FinalizerTimeout; empty if it
// waits for nobody.
func (e *Evaluation) WaitingMessage(waiting []string, now time.Time) string {
	var parts []string
	if len(waiting) > 0 {
		parts = append(parts, fmt.Sprintf("waiting for clusters %s to remove %s", removalbudget.Name(waiting), e.Object.Identity().NamespacedName))
	}
	if kept, _ := e.KeptByFinalizers(now); kept != "" {
		parts = append(parts, kept)
	}
	return strings.Join(parts, "; ")
}

// delete completes the evaluation of an object that is being deleted.
func (e *Evaluation) delete(now time.Time) *Evaluation {
	return e.hold(Deleting, "", cmp.Or(e.WaitingMessage(e.Deletion().Waiting, now), e.Object.Identity().String()+" is being deleted"))
}
