// SPDX-License-Identifier: Apache-2.0

package suggest

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// suggestionDistance is the greatest number of changed letters between a text and a suggestion, and suggestionsShown bounds the suggestions.
const (
	suggestionDistance = 2
	suggestionsShown   = 3
)

// Similar returns the names that a text may be a misspelling of.
func Similar(text string, names []string) []string {
	if len(text) <= suggestionDistance {
		return nil
	}
	// cobra compares the names of commands.
	commands := &cobra.Command{SuggestionsMinimumDistance: suggestionDistance}
	for _, name := range names {
		commands.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	found := slices.DeleteFunc(commands.SuggestionsFor(text), func(name string) bool { return name == text })
	slices.Sort(found)
	return slices.Compact(found)
}

// DidYouMean returns "; did you mean a or b?", or nothing if no name is similar to the text. prefix is written before each name.
func DidYouMean(text, prefix string, names []string) string {
	found := Similar(text, names)
	if len(found) == 0 {
		return ""
	}
	found = found[:min(len(found), suggestionsShown)]
	for i := range found {
		found[i] = prefix + found[i]
	}
	return "; did you mean " + strings.Join(found, " or ") + "?"
}

// Name returns the end of an error about a name that does not exist.
func Name(name string, names []string) string { return DidYouMean(name, "", names) }
