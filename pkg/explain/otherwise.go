// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"reflect"
	"slices"

	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// Except returns what of the Differences another comparison of the same objects does not have; nil if that is nothing. Notes on how objects are
// written are no difference.
func (d Differences) Except(other Differences) *Differences {
	rest := &Differences{Now: d.Now, Placements: []Difference{}}
	for _, one := range d.Placements {
		if !slices.ContainsFunc(other.Placements, one.sameAs) {
			rest.Placements = append(rest.Placements, one)
		}
	}
	for _, one := range d.Objects {
		if !slices.ContainsFunc(other.Objects, func(same federated.Difference) bool { return reflect.DeepEqual(one, same) }) {
			rest.Objects = append(rest.Objects, one)
		}
	}
	if len(rest.Objects) > 0 {
		summary := federated.Summarize(rest.Objects)
		rest.ObjectSummary, rest.ObjectNotes = &summary, d.ObjectNotes
	}
	if !samePods(d.Pods, other.Pods) {
		rest.Pods = d.Pods
	}
	if !reflect.DeepEqual(d.Requests, other.Requests) {
		rest.Requests = d.Requests
	}
	if !reflect.DeepEqual(d.Refused, other.Refused) {
		rest.Refused = d.Refused
	}

	if !reflect.DeepEqual(d.Affected, other.Affected) {
		rest.Affected = d.Affected
	}

	if len(rest.Placements)+len(rest.Objects)+len(rest.Refused) == 0 && rest.Affected == nil && rest.Pods == nil && rest.Requests == nil {
		return nil
	}
	return rest
}

// sameAs reports whether two differences are equal but for their notes.
func (d Difference) sameAs(other Difference) bool {
	d.Notes, other.Notes = nil, nil
	return reflect.DeepEqual(d, other)
}

// samePods reports whether two comparisons of workloads are equal but for how the objects are written.
func samePods(one, other *pods.Differences) bool {
	if one == nil || other == nil {
		return one == other
	}
	a, b := *one, *other
	a.Objects, b.Objects = nil, nil
	return reflect.DeepEqual(a, b) && fmt.Sprint(one.Refused()) == fmt.Sprint(other.Refused())
}
