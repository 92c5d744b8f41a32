// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

var segment = regexp.MustCompile(`M(\d+) (\d+)h(\d+)`)

// cellsOf returns the places of the cells of a line.
func cellsOf(group *Group, line Line) []string {
	var places []string
	size := group.Thick + gap
	for _, found := range segment.FindAllStringSubmatch(line.Path, -1) {
		x, _ := strconv.Atoi(found[1])
		length, _ := strconv.Atoi(found[3])
		for ; length >= group.Thick; length, x = length-size, x+size {
			places = append(places, fmt.Sprint(x, " ", found[2]))
		}
	}
	return places
}

// Every cluster has a cell of its own in its group, within the width of the picture, and a count of its class.
func TestEveryClusterHasACell(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		classes := []Class{
			{Name: "Selected", Style: "good", Order: 0}, {Name: "Taint", Style: "bad", Order: 2}, {Name: "Rank", Style: "fair", Order: 1},
		}
		cells := make([]Cell, rapid.SampledFrom([]int{0, 1, 35, 36, 37, 500, 721, 3000}).Draw(t, "cells"))
		values := rapid.SampledFrom([]int{1, 3, 61, 62, 200}).Draw(t, "groups")
		for i := range cells {
			cells[i] = Cell{Class: classes[i*7%3]}
			if value := i % values; value > 0 {
				cells[i].Group = strconv.Itoa(value)
			}
		}
		if named := rapid.Bool().Draw(t, "named"); !named {
			for i := range cells {
				cells[i].Title = strings.Repeat("n", namesBytes) // There is no room for it.
			}
		}
		groups := Draw(cells)
		if len(groups) > groupsShown+1 {
			t.Fatalf("there are %d groups", len(groups))
		}
		drawn := 0
		for i := range groups {
			group := &groups[i]
			seen := map[string]bool{}
			for _, mark := range group.Marks {
				seen[fmt.Sprint(mark.X, " ", mark.Y)] = true
			}
			for j, line := range group.Lines {
				places := cellsOf(group, line)
				if len(places) != group.Classes[j].Count {
					t.Fatalf("%s of group %q has %d cells, want %d", group.Classes[j].Name, group.Name, len(places), group.Classes[j].Count)
				}
				for _, place := range places {
					if seen[place] {
						t.Fatalf("two clusters of group %q are at %s", group.Name, place)
					}
					seen[place] = true
				}
			}
			if len(seen) != group.Count || group.Width > width {
				t.Fatalf("group %q has %d cells for %d clusters in %d pixels", group.Name, len(seen), group.Count, group.Width)
			}
			drawn += group.Count
		}
		sum := 0
		for _, class := range Total(groups) {
			sum += class.Count
		}
		if drawn != len(cells) || sum != len(cells) {
			t.Fatalf("%d clusters have %d cells and a sum of %d", len(cells), drawn, sum)
		}
	})
}
