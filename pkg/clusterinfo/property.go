package clusterinfo

import "slices"

// PropertyKind is the kind of a readable fact.
type PropertyKind uint8

// The kinds of facts. A Key of kind Any stands for everything there is to know of a cluster; Diff never names it. A Key of kind Field is
// a field of the ManagedCluster as CEL sees it, whose Name is a path of two levels ("status.version").
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

// String is the lower-case name of the kind, as it stands in verdicts.
func (k PropertyKind) String() string { return kindNames[k] }

// Property is one readable fact. An empty Name means every fact of that kind.
type Property struct {
	Kind PropertyKind
	Name string
}

// String is "label region", or "taint" for a whole kind.
func (k Property) String() string {
	if k.Name == "" {
		return k.Kind.String()
	}

	return k.Kind.String() + " " + k.Name
}

// Covers reports whether a reader of k may get another answer when changed has changed.
func (k Property) Covers(changed Property) bool {
	if k.Kind == Any {
		return true
	}

	return k.Kind == changed.Kind && (k.Name == "" || changed.Name == "" || k.Name == changed.Name)
}

// Affects reports whether a reader of any of reads may get another answer after the changes.
func Affects(reads, changes []Property) bool {
	for _, read := range reads {
		if slices.ContainsFunc(changes, read.Covers) {
			return true
		}
	}

	return false
}
