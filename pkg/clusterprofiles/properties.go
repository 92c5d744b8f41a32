// SPDX-License-Identifier: Apache-2.0

package clusterprofiles

import (
	"slices"
	"strings"
	"unicode/utf8"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

const (
	// MaxNameLength is the number of characters that the definition of ClusterProfile allows in the name of a property. The API server refuses the
	// whole status for one property that exceeds it.
	MaxNameLength = 253
	// MaxValueLength is the same for the value.
	MaxValueLength = 1024
	// MaxProperties is the number of properties in a ClusterProfile. So many of the greatest length fit into an object of the API server.
	MaxProperties = 256
)

// LeftOut counts the selected claims that are no properties of a ClusterProfile, by the reason.
type LeftOut struct {
	// Empty claims have no name or no value, and TooLong ones a longer name or value than MaxNameLength and MaxValueLength.
	Empty, TooLong int
	// Doubled claims have the name of an earlier one.
	Doubled int
	// TooMany are the claims beyond MaxProperties, the last ones by name.
	TooMany int
}

// properties returns the selected claims as properties, sorted by name, and counts those that are left out. The first valid claim of a name wins.
func (p Patterns) properties(claims []clusterv1.ManagedClusterClaim) ([]Property, LeftOut) {
	var (
		properties []Property
		out        LeftOut
	)
	known := make(map[string]bool, len(claims))
	for _, claim := range claims {
		switch {
		case !p.Match(claim.Name):
		case claim.Name == "" || claim.Value == "":
			out.Empty++
		case utf8.RuneCountInString(claim.Name) > MaxNameLength || utf8.RuneCountInString(claim.Value) > MaxValueLength:
			out.TooLong++
		case known[claim.Name]:
			out.Doubled++
		default:
			known[claim.Name] = true
			properties = append(properties, Property{Name: claim.Name, Value: claim.Value})
		}
	}

	slices.SortFunc(properties, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	if len(properties) > MaxProperties {
		out.TooMany = len(properties) - MaxProperties
		properties = slices.Clip(properties[:MaxProperties])
	}
	return properties, out
}
