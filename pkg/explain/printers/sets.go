// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"cmp"
	"fmt"
	"io"

	"github.com/placement-hub/placement-hub/pkg/explain/setlist"
)

// Sets prints the list; FormatName prints the names of the sets.
func Sets(out io.Writer, format Format, list setlist.List, style Style) error {
	return renderer{
		table: func(text *bytes.Buffer) { writeSets(text, list, style) },
		names: func(text *bytes.Buffer) {
			for _, set := range list.Sets {
				fmt.Fprintln(text, set.Name)
			}
		},
	}.write(out, format, Formats(), list)
}

func writeSets(out *bytes.Buffer, l setlist.List, style Style) {
	bindable, bound := 0, 0

	for _, set := range l.Sets {
		if set.MayBind {
			bindable++
		}

		if set.Bound {
			bound++
		}
	}

	where := "all namespaces"
	if l.Namespace != "" {
		where = "namespace " + l.Namespace
	}

	fmt.Fprintf(out, "%s: %d sets bound, %d that you may bind", where, bound, bindable)

	if l.Hidden != nil && *l.Hidden > 0 {
		fmt.Fprintf(out, ", %d others", *l.Hidden)
	}

	fmt.Fprintln(out)

	if len(l.Sets) == 0 {
		return
	}

	rows := [][]string{{"SET", "BOUND", "YOU MAY BIND IT"}}
	if l.Namespace == "" {
		rows[0] = append(rows[0], "NAMESPACES")
	}

	for _, set := range l.Sets {
		cells := []string{set.Name, boundText(set), yesNo(set.MayBind)}
		if l.Namespace == "" {
			cells = append(cells, cmp.Or(abbreviate(set.Namespaces), noValue))
		}

		rows = append(rows, cells)
	}

	style.writeTable(out, rows, style.header)
}

func boundText(s setlist.Set) string {
	switch {
	case s.Missing:
		return "yes, but there is no such set"
	case s.Managed:
		return "by RBAC"
	default:
		return yesNo(s.Bound)
	}
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}

	return "no"
}
