// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Size is the number of clusters and of placements of a fleet.
type Size struct {
	Clusters   int `json:"clusters"`
	Placements int `json:"placements"`
}

// Sizes are those that the benchmark knows; the first Usual of them are measured unless others are asked for. The last one is Large, and measured
// only if it is named.
func Sizes() []Size {
	return []Size{{100, 100}, {1000, 500}, {2000, 1000}, {5000, 2000}, {10000, 1000}, {10000, 10000}, {50000, 10000}}
}

// Usual is how many of Sizes are measured by default: the others take long.
const Usual = 3

// String is "1000x500": clusters x placements.
func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Clusters, s.Placements) }

// least is the smallest number of clusters and of placements for which the parts of a fleet make sense.
const least = 100

// ParseSizes reads sizes such as "100x100,1000x500"; "all" are those of Sizes that are not Large, and nothing the usual ones.
func ParseSizes(text string) ([]Size, error) {
	switch text {
	case "":
		return Sizes()[:Usual], nil
	case "all":
		return slices.DeleteFunc(Sizes(), Size.Large), nil
	}
	var sizes []Size
	for part := range strings.SplitSeq(text, ",") {
		clusters, placements, found := strings.Cut(part, "x")
		c, errC := strconv.Atoi(clusters)
		p, errP := strconv.Atoi(placements)
		if !found || errC != nil || errP != nil || c < least || p < least {
			return nil, fmt.Errorf("size %q: want clusters x placements, each at least %d, such as 1000x500; or all", part, least)
		}
		sizes = append(sizes, Size{Clusters: c, Placements: p})
	}
	return sizes, nil
}

// Large reports that there are more clusters than one hub usually has. Such a fleet has more sets and namespaces, and takes many minutes to make.
func (s Size) Large() bool { return s.Clusters >= 50000 }

// narrow reports that there are so many placements that each of them selects few clusters: 20 on average.
func (s Size) narrow() bool { return s.Placements >= 4000 }
