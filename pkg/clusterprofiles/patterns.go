// SPDX-License-Identifier: Apache-2.0

package clusterprofiles

import (
	"fmt"
	"regexp"
	"strings"
)

// Patterns select claims by their names. The zero value selects none. Patterns are safe for concurrent use.
type Patterns struct {
	names *regexp.Regexp
}

// ParsePatterns returns the Patterns that select each claim whose name matches one of the given patterns, in which * matches any
// characters, also for none. It returns an error for an empty pattern.
func ParsePatterns(patterns []string) (Patterns, error) {
	if len(patterns) == 0 {
		return Patterns{}, nil
	}
	alternatives := make([]string, 0, len(patterns))
	for _, pattern := range patterns {
		if pattern == "" {
			return Patterns{}, fmt.Errorf("%q: a pattern is empty; use * for the claims of all names, or leave the pattern out", patterns)
		}
		alternatives = append(alternatives, strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*"))
	}
	names, err := regexp.Compile("(?s)^(?:" + strings.Join(alternatives, "|") + ")$")
	if err != nil {
		return Patterns{}, fmt.Errorf("%q: %w", patterns, err)
	}
	return Patterns{names: names}, nil
}

// Match reports whether the claims of a name are selected.
func (p Patterns) Match(name string) bool { return p.names != nil && p.names.MatchString(name) }
