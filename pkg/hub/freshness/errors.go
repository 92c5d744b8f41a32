// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxObjectsInError is the greatest number of objects in the text of an error.
const maxObjectsInError = 3

var (
	// ErrObjectChanged means that the object of a ProofRequest differs from the evaluated one, and that the view already shows the change.
	ErrObjectChanged = errors.New("the object has changed since it was evaluated")
	// ErrViewChanged means that the view has shown a change of what decides about a ProofRequest since the snapshot of the result was taken, so that
	// the result has to be computed again.
	ErrViewChanged = errors.New("what decides about the clusters has changed since the object was evaluated")
	// ErrProofExpired means that a plan was proved longer than Validity ago, so that it has to be made and proved again.
	ErrProofExpired = fmt.Errorf("the proof that clusters may leave is older than %s", Validity)
	// ErrHistoryLost means that the API server shows an earlier state than it has shown before, as after etcd was restored from a backup without
	// a higher revision. Versions that were read before prove nothing then.
	ErrHistoryLost = errors.New("the API server has gone back to an earlier state, as after etcd was restored from a backup")
)

// BehindError has the objects that the API server shows in a later version than the view, after the event handlers were waited for.
type BehindError struct {
	// Objects are sorted by resource, namespace and name. An object without a name stands for all of its resource.
	Objects []Object
}

// Resources returns the plural names of the resources of the objects, sorted.
func (e *BehindError) Resources() []string {
	var names []string
	for _, object := range e.Objects {
		if !slices.Contains(names, object.Resource.Resource) {
			names = append(names, object.Resource.Resource)
		}
	}
	return names
}

// Error names the first objects.
func (e *BehindError) Error() string {
	texts := make([]string, 0, maxObjectsInError+1)
	for _, object := range e.Objects[:min(len(e.Objects), maxObjectsInError)] {
		texts = append(texts, strings.TrimSpace(object.Resource.Resource+" "+strings.TrimPrefix(object.String(), "/")))
	}
	if more := len(e.Objects) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return "the watch has not shown the latest version of " + strings.Join(texts, ", ")
}

func newBehindError(objects []Object) *BehindError {
	slices.SortFunc(objects, func(a, b Object) int {
		return strings.Compare(a.Resource.Resource+"/"+a.String(), b.Resource.Resource+"/"+b.String())
	})
	return &BehindError{Objects: objects}
}
