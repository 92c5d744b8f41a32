// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

func TestLongGroupsAreCut(t *testing.T) {
	members := strings.Split("a b c d e f g h i j k l", " ")
	long := explain.GroupReport{Index: 1, Name: "x", Clusters: members}
	if got, want := groupText(long), "group 1 x: a, b, c, d, e, f, g, h, i, j, and 2 more"; got != want {
		t.Errorf("group reads %q, want %q", got, want)
	}

	if got, want := groupText(explain.GroupReport{Clusters: members[:10]}), "group 0: a, b, c, d, e, f, g, h, i, j"; got != want {
		t.Errorf("group reads %q, want %q", got, want)
	}
}
