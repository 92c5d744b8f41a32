// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

// groupArgs divides names into sequences of one explainer, so that the outputs have the order of the names. TYPE NAME and no names are one group.
func (o *Options) groupArgs(args []string) [][]string {
	if len(args) < 2 || !slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, "/") }) || o.typed(args[0]) {
		return [][]string{args}
	}
	var (
		last   *commandExplainer
		groups [][]string
	)
	for _, arg := range args {
		of := o.explainerOf([]string{arg})
		if of != last {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], arg)
		last = of
	}
	return groups
}

// typed reports whether an argument is a type without a name.
func (o *Options) typed(arg string) bool {
	if strings.Contains(arg, "/") {
		return false
	}
	_, is := objectnames.PlacementType(arg)
	return is || o.explainerFor(arg) != &placementExplainer
}

// checkGroups reports flags that mean nothing for names of several systems.
func (o *Options) checkGroups() error {
	if o.Watch {
		return errors.New("--watch follows placements or objects that are delivered, not both: name one sort, or leave it out")
	}
	return nil
}

// writePart writes one of several outputs, which follow each other as the documents of a stream.
func (o *Options) writePart(stdout io.Writer, text string, follows bool) error {
	if text == "" {
		return nil
	}
	if follows {
		text = o.between() + text
	}
	if _, err := io.WriteString(stdout, text); err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	return nil
}

// between returns what separates two outputs of the format.
func (o *Options) between() string {
	switch printers.Format(o.Output) {
	case printers.FormatYAML:
		return "---\n"
	case printers.FormatJSON, printers.FormatName:
		return ""
	default:
		return "\n"
	}
}
