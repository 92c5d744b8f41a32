// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"cmp"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// Object is a row of a list: what the hub has written about an object.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// API is the version of a Placement that is not v1beta1.
	API     string        `json:"api,omitempty"`
	State   string        `json:"state"`
	Tone    document.Tone `json:"-"`
	Message string        `json:"message,omitempty"`
	Link    string        `json:"-"`
	// Selected is the number of clusters in the decisions of a Placement, and Wanted that in its spec; nil if they are not known, or all.
	Selected *int   `json:"selected,omitempty"`
	Wanted   *int32 `json:"wanted,omitempty"`
	// Set is that of the label of a cluster, and Sets are all that have it, or those that a Placement names.
	Set  string   `json:"set,omitempty"`
	Sets []string `json:"sets,omitempty"`
	// Namespaces are those to which a set of clusters is bound.
	Namespaces []string `json:"namespaces,omitempty"`
	// Cause says why the object needs attention, for objects that have it in common.
	Cause string `json:"cause,omitempty"`
	// Since is when the state began; zero if that is not known.
	Since time.Time `json:"since,omitzero"`
	// Created is when an object was created whose state the hub does not write; zero for others.
	Created time.Time `json:"created,omitzero"`
	// Labels and Claims are those of the object.
	Labels map[string]string `json:"-"`
	Claims map[string]string `json:"-"`
	// Clusters and Failed count where an object is delivered.
	Clusters int `json:"clusters,omitempty"`
	Failed   int `json:"failed,omitempty"`
}

// NeedsAttention reports whether a person may have something to do.
func (o *Object) NeedsAttention() bool { return o.Tone == document.Bad || o.Tone == document.Fair }

// Severity returns a number that is the lower, the worse a tone is.
func Severity(tone document.Tone) int {
	switch tone {
	case document.Bad:
		return 0
	case document.Fair:
		return 1
	case document.Good:
		return 3 //nolint:mnd // It comes after those without a tone.
	default:
		return 2 //nolint:mnd // As above.
	}
}

// Sort sorts objects by namespace and name.
func Sort(objects []Object) { slices.SortFunc(objects, byName) }

func byName(a, b Object) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}

// Count counts the objects of a state.
type Count struct {
	State string        `json:"state"`
	Tone  document.Tone `json:"-"`
	Count int           `json:"count"`
	// Of is the number of all objects.
	Of int `json:"-"`
	// Link is the URL of the list of them, and Current says that the list is of them alone.
	Link    string `json:"-"`
	Current bool   `json:"-"`
}

// CountStates counts objects by state, the largest count first.
func CountStates(objects []Object) []Count {
	counts := []Count{}
	for i := range objects {
		each := &objects[i]
		at := slices.IndexFunc(counts, func(count Count) bool { return count.State == each.State })
		if at < 0 {
			counts = append(counts, Count{State: each.State, Tone: each.Tone, Of: len(objects)})
			at = len(counts) - 1
		}
		counts[at].Count++
	}
	slices.SortFunc(counts, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.State, b.State)) })
	return counts
}
