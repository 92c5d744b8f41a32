// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/apply"
)

// notes are what a cycle has written, and what has kept it from writing. The methods are safe for concurrent use; the fields are read once the writes
// have ended.
type notes struct {
	mu sync.Mutex
	// delivered and withdrawn are the clusters whose work was created and deleted; count is the number of all requests that succeeded.
	delivered, withdrawn []string
	count                int
	// taken are the clusters in which a work of that name is not the hub's, and failed those of which a write has failed.
	taken, failed []string
	// missed are the clusters whose namespace does not exist, or is terminating; told is true after an Event was recorded about them.
	missed []string
	told   bool
	// refused are the writes on the way to the delivery that the API server refuses, with its reasons, and keptBack are those by which works
	// and finalizers are removed.
	refused, keptBack []string
	// held is why nothing is withdrawn, with the reason of the Event; empty for none.
	heldReason, held string
	// tooLarge has the size of a payload that is too large; nil if it is not.
	tooLarge *federation.TooLargeError
}

// unserved returns the clusters that could not get the object.
func (n *notes) unserved() []string { return slices.Concat(n.taken, n.failed) }

// wrote counts a request that succeeded. The cluster is one that did not have the object if delivered is true.
func (n *notes) wrote(cluster string, delivered bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.count++
	if delivered {
		n.delivered = append(n.delivered, cluster)
	}
}

// withdrew notes a cluster whose work was deleted.
func (n *notes) withdrew(cluster string) { n.add(&n.withdrawn, cluster) }

// took notes a cluster in which the name of the work is taken.
func (n *notes) took(cluster string) { n.add(&n.taken, cluster) }

// fail notes a cluster of which a write has failed.
func (n *notes) fail(cluster string) { n.add(&n.failed, cluster) }

// miss notes a cluster whose work cannot be created yet.
func (n *notes) miss(cluster string) { n.add(&n.missed, cluster) }

// add adds a cluster to one of the lists.
func (n *notes) add(to *[]string, cluster string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	*to = append(*to, cluster)
}

// isRefusal reports whether the API server, or an admission webhook that it calls, refuses a request, so that a retry alone does not mend it.
func isRefusal(err error) bool {
	var older *apply.OlderDefinitionError
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || errors.As(err, &older)
}

// refuse notes a write on the way to the delivery if the error is a refusal.
func (n *notes) refuse(what string, err error) { n.noteRefusal(&n.refused, what, err) }

// refuseRemoval notes a write by which a work or finalizer is removed if the error is a refusal.
func (n *notes) refuseRemoval(what string, err error) { n.noteRefusal(&n.keptBack, what, err) }

func (n *notes) noteRefusal(notes *[]string, what string, err error) {
	if !isRefusal(err) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	*notes = append(*notes, what+": "+err.Error())
}

// refusals returns a text about refused writes; empty for none.
func (n *notes) refusals() string {
	var notes []string
	if refused := n.refused; len(refused) > 0 {
		slices.Sort(refused)
		notes = append(notes, "the API server refuses "+strings.Join(shorten(refused), "; ")+
			"; clusters in scope keep their copies for at most "+federation.GainWait.String()+". "+
			"Grant the hub the right, or correct the object, quota or policy that the message names; the hub tries again")
	}

	if refused := n.keptBack; len(refused) > 0 {
		slices.Sort(refused)
		notes = append(notes, "the API server refuses "+strings.Join(shorten(refused), "; ")+
			". Grant the hub the right, or correct the webhook or policy that the message names; the hub tries again")
	}
	return strings.Join(notes, "; ")
}

// mostNotes is how many clusters one Event names.
const mostNotes = 3

func shorten(notes []string) []string {
	if len(notes) <= mostNotes {
		return notes
	}
	return append(notes[:mostNotes:mostNotes], fmt.Sprintf("and %d more", len(notes)-mostNotes))
}
