package setlist

import (
	"bytes"
	"fmt"
	"io"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// List has the sets that a user may use in a namespace. Its JSON names are stable.
type List struct {
	// Namespace is the namespace whose bindings are listed.
	Namespace string `json:"namespace"`
	// Sets are those that the user may bind or that are bound to the namespace, sorted by name.
	Sets []Set `json:"sets"`
	// Hidden is the number of other sets of the hub; absent when Unlisted is not empty.
	Hidden *int `json:"hidden,omitempty"`
	// Unlisted says why the sets of the hub could not be listed; Sets are then the bound ones.
	Unlisted string `json:"unlisted,omitempty"`
}

// Set is a ManagedClusterSet.
type Set struct {
	Name string `json:"name"`
	// MayBind says that the user may create a ManagedClusterSetBinding for it in any namespace in which the user may create bindings.
	MayBind bool `json:"mayBind"`
	// Bound says that a binding is there, and Managed that the controller clustersetbinding-rbac keeps it.
	Bound   bool `json:"bound"`
	Managed bool `json:"managed,omitempty"`
	// Missing says that there is no such set on the hub.
	Missing bool `json:"missing,omitempty"`
}

// Formats returns the formats that Write prints.
func Formats() []explain.Format { return explain.Formats() }

// Write prints the list; explain.FormatName prints the names of the sets.
func Write(out io.Writer, format explain.Format, list List, style explain.Style) error {
	var text bytes.Buffer

	switch format {
	case explain.FormatJSON, explain.FormatYAML:
		if err := explain.Marshal(&text, format, list); err != nil {
			return err
		}
	case explain.FormatName:
		for _, set := range list.Sets {
			fmt.Fprintln(&text, set.Name)
		}
	default:
		list.table(&text, style)
	}

	if _, err := text.WriteTo(out); err != nil {
		return fmt.Errorf("printing the sets: %w", err)
	}

	return nil
}

func (l List) table(out *bytes.Buffer, style explain.Style) {
	bindable, bound := 0, 0

	for _, set := range l.Sets {
		if set.MayBind {
			bindable++
		}

		if set.Bound {
			bound++
		}
	}

	fmt.Fprintf(out, "namespace %s: %d sets bound, %d that you may bind", l.Namespace, bound, bindable)

	if l.Hidden != nil && *l.Hidden > 0 {
		fmt.Fprintf(out, ", %d others", *l.Hidden)
	}

	fmt.Fprintln(out)

	if len(l.Sets) == 0 {
		return
	}

	rows := [][]string{{"SET", "BOUND", "YOU MAY BIND IT"}}
	for _, set := range l.Sets {
		rows = append(rows, []string{set.Name, set.boundText(), yesNo(set.MayBind)})
	}

	explain.Grid(out, rows, func(row, _ int, text string) string {
		if row == 0 {
			return style.Bold(text)
		}

		return text
	})
}

func (s Set) boundText() string {
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
