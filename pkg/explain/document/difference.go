// SPDX-License-Identifier: Apache-2.0

package document

import (
	"fmt"
	"slices"
	"strings"
)

// Change is one change of an object: a cluster, node or field that comes, leaves, moves or is held, as its Mark says.
type Change struct {
	Mark string
	// Name is what changes, and Reason is why.
	Name   string
	Reason string
	// Anyway says that it comes without the change that is compared too.
	Anyway bool
}

// Why returns the reason, with a mark if the change comes anyway.
func (c *Change) Why() string {
	if c.Anyway {
		return c.Reason + Anyway
	}
	return c.Reason
}

// Changes are those of one object, in the order in which its section lists them. All systems describe their differences by them.
type Changes []Change

// named are the marks that lines of the format name have, in the order of the lines. What is held does not change.
var named = []string{Gained, Lost, Moved}

// Count returns the number of changes with a mark.
func (c Changes) Count(mark string) int {
	return len(c.Names(mark))
}

// Names returns what changes with a mark.
func (c Changes) Names(mark string) []string {
	var names []string
	for i := range c {
		if c[i].Mark == mark {
			names = append(names, c[i].Name)
		}
	}
	return names
}

// Summary returns "2 gained, 1 lost, 3 kept", and the parts of what is kept that are not empty: "2 gained, 1 lost, 3 kept, 1 of them held".
func (c Changes) Summary(kept int, parts ...string) string {
	counts := fmt.Sprintf("%d gained, %d lost, %d kept", c.Count(Gained), c.Count(Lost), kept)
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return strings.Join(append([]string{counts}, parts...), ", ")
}

// OfKept returns "2 of them held" for a part of what is kept, and nothing for none.
func OfKept(count int, what string) string {
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("%d of them %s", count, what)
}

// Changes adds a line of the format name for each change of an object except for those that are held.
func (d *Document) Changes(object string, changes Changes) {
	for _, mark := range named {
		for _, name := range changes.Names(mark) {
			d.Namef("%s %s%s", object, mark, name)
		}
	}
}

// Changes adds a table of changes, and what is kept: its names, or without names its number.
func (s *Section) Changes(changes Changes, kept int, names []string) {
	var table Table
	for i := range changes {
		table.Row(changes[i].Mark+" "+changes[i].Name, OneLine(changes[i].Why()))
	}
	s.Table(table)
	switch {
	case len(names) > 0:
		for _, name := range names {
			s.Linef("%s %s", Kept, name)
		}
	case kept > 0:
		s.Linef("%s %d kept", Kept, kept)
	}
}
