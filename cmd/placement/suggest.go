// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// suggestionDistance is the greatest number of changed letters between a text and a suggestion, and suggestionsShown bounds the suggestions.
const (
	suggestionDistance = 2
	suggestionsShown   = 3
)

// similar returns the names that a text may be a misspelling of.
func similar(text string, names []string) []string {
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

// didYouMean returns "; did you mean a or b?", or nothing if no name is similar to the text. prefix is written before each name.
func didYouMean(text, prefix string, names []string) string {
	found := similar(text, names)
	if len(found) == 0 {
		return ""
	}
	found = found[:min(len(found), suggestionsShown)]
	for i := range found {
		found[i] = prefix + found[i]
	}
	return "; did you mean " + strings.Join(found, " or ") + "?"
}

// suggestName returns the end of an error about a name that does not exist.
func suggestName(name string, names []string) string { return didYouMean(name, "", names) }

// noSubcommand rejects an argument that is no command, and suggests those with a similar name.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), didYouMean(args[0], "", names))
}

// suggestFlag adds flags with a similar name to the error about an unknown one.
func suggestFlag(cmd *cobra.Command, err error) error {
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
	})
	return fmt.Errorf("%w%s", err, didYouMean(unknown.GetSpecifiedName(), "--", names))
}

// objectTypes returns the types that explain takes before a slash.
func objectTypes() []string {
	types := []string{"placement"}
	for _, each := range explainers {
		types = append(types, each.types()...)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// suggestType suggests types for "TYPE/NAME", which is read as the namespace and the name of a Placement if the type is misspelt.
func suggestType(t target) string {
	found := similar(t.namespace, objectTypes())
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %s/%s?", found[0], t.name)
}

// suggest suggests Placements of the namespace of the target.
func (t target) suggest(names []string) string {
	if t.namespace == "" {
		return didYouMean(t.name, "", names)
	}
	return didYouMean(t.name, t.namespace+"/", names)
}
