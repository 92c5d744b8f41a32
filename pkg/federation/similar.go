// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxCompared bounds the names with which Similar compares one.
	maxCompared = 1000
	// longestCompared is the length in bytes of the longest name that Similar compares.
	longestCompared = 320
	// typingErrors is how many typing errors two similar names differ by at most; short names differ by one for each shortWord letters.
	typingErrors = 3
	shortWord    = 4
	// maxValues is how many values SimilarValue compares with the known ones.
	maxValues = 3
)

// Similar returns the one of the names that differs from a name by the fewest typing errors, the first of several; empty if none is similar. It
// compares the first 1,000 names.
func Similar(name string, names []string) string {
	best, fewest := "", min(typingErrors, max(1, utf8.RuneCountInString(name)/shortWord))+1
	if len(name) > longestCompared {
		return ""
	}

	for _, other := range names[:min(len(names), maxCompared)] {
		if len(other) > longestCompared || max(len(other), len(name))-min(len(other), len(name)) >= fewest*utf8.UTFMax {
			continue
		}
		if errors := distance([]rune(name), []rune(other)); errors < fewest {
			best, fewest = other, errors
		}
	}
	return best
}

// SimilarValue returns the first of the values to which a known one is similar, and that one; empty if one of the values is known, or none of the
// first three is similar to any. Another number is another version or place, and no misspelling.
func SimilarValue(values []string, known map[string]int) (value, similar string) {
	if slices.ContainsFunc(values, func(value string) bool { return known[value] > 0 }) {
		return "", ""
	}
	names := slices.Sorted(maps.Keys(known))
	for _, value := range values[:min(len(values), maxValues)] {
		if similar := Similar(value, names); similar != "" && withoutDigits(similar) != withoutDigits(value) {
			return value, similar
		}
	}
	return "", ""
}

func withoutDigits(text string) string {
	return strings.Map(func(letter rune) rune {
		if unicode.IsDigit(letter) {
			return -1
		}
		return letter
	}, text)
}

// distance returns the number of letters to insert, delete, replace, or swap with their neighbour that makes one word of the other.
func distance(a, b []rune) int {
	// The rows are the distances of the last two prefixes of a, and of the current one, from all prefixes of b.
	before, last, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}

	for i := range a {
		current[0] = i + 1
		for j := range b {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			current[j+1] = min(replaced, last[j+1]+1, current[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				current[j+1] = min(current[j+1], before[j-1]+1)
			}
		}

		before, last, current = last, current, before
	}

	return last[len(b)]
}
