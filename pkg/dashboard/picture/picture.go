// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"cmp"
	"html"
	"slices"
	"strconv"
	"strings"
)

const (
	// width is that of a group, in pixels, which a telephone has room for.
	width = 360
	// large and small are the sizes of a cell, with the gap behind it. Groups of more than many clusters have small cells.
	large, small = 10, 5
	gap          = 1
	many         = 720
	// groupsShown bounds the groups; the clusters of the others are in one.
	groupsShown = 60
	// namesBytes bounds the cells of a picture with names.
	namesBytes = 200 << 10
	// markup is about the size of a cell without its texts.
	markup = 110
)

// NamesShown bounds the clusters of a picture with names.
const NamesShown = 1000

// Class is what a colour says.
type Class struct {
	// Name is the class for people, and Style the one of the style sheet.
	Name, Style string
	// Order is that of the classes in a group and in the table.
	Order int
	Count int
}

// Group is a group of clusters.
type Group struct {
	// Name is the value that the clusters have in common, and None says that they have none; both are empty for the clusters of other groups.
	Name  string
	None  bool
	Other int // the number of groups in this one
	Count int
	// Classes are those of its clusters.
	Classes []Class
	// Lines are those of a picture without names, and Marks the cells of one with names.
	Lines  []Line
	Marks  []Mark
	Width  int
	Height int
	// Dash and Thick are those of the lines.
	Dash  string
	Thick int
}

// Line is the path of the cells of a class, of which Title is the name and the number.
type Line struct{ Style, Path, Title string }

// Mark is the cell of one cluster, with its upper left corner.
type Mark struct {
	Cell

	X, Y int
}

// Cell is a cluster. Title says its name and why it has its class, and Link is its page.
type Cell struct {
	Group       string
	Class       Class
	Title, Link string
}

// HasNames reports whether a picture of cells has room for their names.
func HasNames(cells []Cell) bool {
	size := 0
	for _, cell := range cells {
		size += len(html.EscapeString(cell.Title)) + len(html.EscapeString(cell.Link)) + markup
	}
	return len(cells) <= NamesShown && size <= namesBytes
}

// Draw returns the groups of cells, the largest first; the one without a value is the last.
func Draw(cells []Cell) []Group {
	named := HasNames(cells)
	byName := map[string][]Cell{}
	for _, cell := range cells {
		byName[cell.Group] = append(byName[cell.Group], cell)
	}
	names := make([]string, 0, len(byName))
	for name := range byName {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if (a == "") != (b == "") {
			return cmp.Compare(b, a)
		}
		return cmp.Or(cmp.Compare(len(byName[b]), len(byName[a])), cmp.Compare(a, b))
	})
	groups := make([]Group, 0, min(len(names), groupsShown+1))
	var rest []Cell
	for i, name := range names {
		if i >= groupsShown && len(names) > groupsShown+1 {
			rest = append(rest, byName[name]...)
			continue
		}
		group := draw(byName[name], named)
		group.Name, group.None = name, name == ""
		groups = append(groups, group)
	}
	if len(rest) > 0 {
		group := draw(rest, named)
		group.Other = len(names) - groupsShown
		groups = append(groups, group)
	}
	return groups
}

// Total returns the classes of all groups with their counts.
func Total(groups []Group) []Class {
	var total []Class
	for i := range groups {
		for _, class := range groups[i].Classes {
			at := slices.IndexFunc(total, func(other Class) bool { return other.Name == class.Name })
			if at < 0 {
				total = append(total, class)
				continue
			}
			total[at].Count += class.Count
		}
	}
	slices.SortFunc(total, byOrder)
	return total
}

func byOrder(a, b Class) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name))
}

// draw draws the cells of a group, with names or as lines.
func draw(cells []Cell, named bool) Group {
	group := Group{Count: len(cells)}
	for _, cell := range cells {
		at := slices.IndexFunc(group.Classes, func(class Class) bool { return class.Name == cell.Class.Name })
		if at < 0 {
			class := cell.Class
			class.Count = 0
			group.Classes = append(group.Classes, class)
			at = len(group.Classes) - 1
		}
		group.Classes[at].Count++
	}
	slices.SortFunc(group.Classes, byOrder)
	size := large
	if len(cells) > many {
		size = small
	}
	columns := width / size
	group.Thick, group.Dash = size-gap, strconv.Itoa(size-gap)+" "+strconv.Itoa(gap)
	group.Width, group.Height = min(columns, len(cells))*size, (len(cells)+columns-1)/columns*size
	if named {
		group.Marks = marks(cells, columns, size)
		return group
	}
	next := 0
	for _, class := range group.Classes {
		var path strings.Builder
		for left := class.Count; left > 0; {
			row, column := next/columns, next%columns
			run := min(left, columns-column)
			path.WriteString("M" + strconv.Itoa(column*size) + " " + strconv.Itoa(row*size+size/2) + "h" + strconv.Itoa(run*size-gap))
			next, left = next+run, left-run
		}
		group.Lines = append(group.Lines, Line{Style: class.Style, Path: path.String(), Title: class.Name + " " + strconv.Itoa(class.Count)})
	}
	return group
}

// marks returns the cells in rows of some columns, those of a class beside each other.
func marks(cells []Cell, columns, size int) []Mark {
	sorted := slices.Clone(cells)
	slices.SortStableFunc(sorted, func(a, b Cell) int { return byOrder(a.Class, b.Class) })
	placed := make([]Mark, 0, len(sorted))
	for i, cell := range sorted {
		placed = append(placed, Mark{Cell: cell, X: i % columns * size, Y: i / columns * size})
	}
	return placed
}
