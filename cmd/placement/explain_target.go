// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
)

// objectTypes returns the types that explain takes before a slash.
func objectTypes() []string {
	types := []string{"placement"}
	for _, each := range explainers {
		types = append(types, each.types()...)
	}
	slices.Sort(types)
	return slices.Compact(types)
}
