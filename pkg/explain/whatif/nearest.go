// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
)

const (
	// namesShown bounds the names that an error suggests.
	namesShown = 5
	// typo is the maximal edit distance of a suggested name.
	typo = 2
)

// unknown returns the error for a name that does not exist. It suggests similar names, or all when there are few.
func unknown(kind, name string, known iter.Seq[string]) error {
	if strings.Contains(name, ",") { // No name has a comma.
		return fmt.Errorf("there is no %s %s: name one alone, and repeat the flag for others", kind, name)
	}
	names := slices.Compact(slices.Sorted(known))
	if near := Nearest(name, names); len(near) > 0 {
		names = near
	}

	switch {
	case len(names) == 0:
		return fmt.Errorf("there is no %s %s, and no other one: correct the name, or leave this change out", kind, name)
	case len(names) <= namesShown:
		return fmt.Errorf("there is no %s %s: correct the name; there is %s", kind, name, strings.Join(names, ", "))
	default:
		return fmt.Errorf("there is no %s %s: correct the name; there are %d others, of which none is like it", kind, name, len(names))
	}
}

// Nearest returns the similar names, the most similar first.
func Nearest(name string, names []string) []string {
	type candidate struct {
		name string
		away int
	}
	var candidates []candidate
	for _, other := range names {
		if away := distance(name, other); away <= min(typo, len(name)-1) {
			candidates = append(candidates, candidate{other, away})
		}
	}

	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.away, b.away) })
	near := make([]string, 0, namesShown)
	for _, candidate := range candidates[:min(len(candidates), namesShown)] {
		near = append(near, candidate.name)
	}
	return near
}

// distance returns the edit distance of two names, in bytes. It returns typo+1 when the lengths differ by more than typo.
func distance(a, b string) int {
	if len(a)-len(b) > typo || len(b)-len(a) > typo {
		return typo + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}

	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}

	return row[len(b)]
}
