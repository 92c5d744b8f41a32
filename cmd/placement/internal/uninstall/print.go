// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"fmt"
	"io"
	"strings"
)

// maxRemains is the greatest number of names that a line has.
const maxRemains = 5

// Print writes what was found: for each finalizer what it is for, what stays without it, and its objects.
func Print(w io.Writer, all []*Held) error {
	var text strings.Builder
	last := ""
	for i, held := range all {
		if finalizer := held.Finalizer.String(); finalizer != last {
			last = finalizer
			if i > 0 {
				text.WriteString("\n")
			}
			fmt.Fprintf(&text, "%s: finalizer %s\n  An object that is deleted waits %s.\n  Without the finalizer: %s\n",
				held.System, held.Finalizer, held.Finalizer.Waits, held.Finalizer.Left)
		}
		fmt.Fprintf(&text, "  - %s", held)
		if held.Object.GetDeletionTimestamp() != nil {
			text.WriteString(" (is being deleted)")
		}
		if len(held.Remains) > 0 {
			text.WriteString(": " + remains(held.Remains))
		}
		text.WriteString("\n")
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("printing the finalizers: %w", err)
	}
	return nil
}

// remains returns the first names, and how many more there are.
func remains(names []string) string {
	if len(names) <= maxRemains {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxRemains], ", "), len(names)-maxRemains)
}
