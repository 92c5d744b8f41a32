// SPDX-License-Identifier: Apache-2.0

package setlist

import (
	"fmt"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// Document implements document.Source. Its names are those of the sets.
func (l List) Document(document.Options) document.Document {
	var d document.Document
	bindable, bound := 0, 0
	table := document.Table{Columns: []string{"SET", "BOUND"}}
	if !l.Unreviewed {
		table.Columns = append(table.Columns, "YOU MAY BIND IT")
	}
	if l.Namespace == "" {
		table.Columns = append(table.Columns, "NAMESPACES")
	}
	for _, set := range l.Sets {
		if set.MayBind {
			bindable++
		}
		if set.Bound {
			bound++
		}
		cells := []string{set.Name, boundText(set)}
		if !l.Unreviewed {
			cells = append(cells, document.YesNo(set.MayBind))
		}
		if l.Namespace == "" {
			cells = append(cells, document.OrNone(document.Abbreviate(set.Namespaces)))
		}
		table.Row(cells...)
		d.Namef("%s", set.Name)
	}
	where := "all namespaces"
	if l.Namespace != "" {
		where = "namespace " + l.Namespace
	}
	counts := fmt.Sprintf("%d sets bound, %d that you may bind", bound, bindable)
	if l.Unreviewed {
		counts = fmt.Sprintf("%d sets, %d bound", len(l.Sets), bound)
	}
	if l.Hidden != nil && *l.Hidden > 0 {
		counts += fmt.Sprintf(", %d others", *l.Hidden)
	}
	section := document.Section{Headline: document.Plainly(where + ": " + counts)}
	section.Table(table)
	d.Add(section)
	return d
}

func boundText(s Set) string {
	switch {
	case s.Missing:
		return "yes, but there is no such set"
	case s.Managed:
		return "by RBAC"
	default:
		return document.YesNo(s.Bound)
	}
}
