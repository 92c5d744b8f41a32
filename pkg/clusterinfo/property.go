// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import "slices"

// PropertyKind is the kind of a Property.
type PropertyKind uint8

// The kinds of properties. Any covers everything that can be read of a cluster; ChangedProperties never returns it. Field is a field of the
// ManagedCluster as CEL sees it, with a path of two levels as its name ("status.version").
const (
	Any PropertyKind = iota
	Label
	Claim
	Taint
	Resource
	Score
	Name
	Availability
	ClusterProfile
	Field
)

var kindNames = map[PropertyKind]string{
	Any: "any", Label: "label", Claim: "claim", Taint: "taint", Resource: "resource", Score: "score", Name: "name", Availability: "availability",
	ClusterProfile: "profile", Field: "field",
}

// String returns the lower-case name of the kind, as in the text of a verdict.
func (k PropertyKind) String() string { return kindNames[k] }

// Property is a readable fact of a cluster. An empty Name means every fact of the kind.
type Property struct {
	Kind PropertyKind
	Name string
}

// String returns "label region", or "taint" for a whole kind.
func (p Property) String() string {
	if p.Name == "" {
		return p.Kind.String()
	}
	return p.Kind.String() + " " + p.Name
}

// Covers reports whether a change of changed may concern a reader of k.
func (p Property) Covers(changed Property) bool {
	if p.Kind == Any {
		return true
	}
	return p.Kind == changed.Kind && (p.Name == "" || changed.Name == "" || p.Name == changed.Name)
}

// Affects reports whether one of the changes may concern a reader of the properties in reads.
func Affects(reads, changes []Property) bool {
	for _, read := range reads {
		if slices.ContainsFunc(changes, read.Covers) {
			return true
		}
	}
	return false
}
