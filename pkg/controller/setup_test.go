package controller

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table of controllers in README.md has every controller, in the order of the list.
func TestReadmeListsTheControllers(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(readme), "\n| controller |")
	table, _, _ = strings.Cut(table, "\n\n")
	var got []string
	for line := range strings.Lines(table) {
		if row, found := strings.CutPrefix(line, "| `"); found {
			name, _, _ := strings.Cut(row, "`")
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(Names(), got); diff != "" {
		t.Errorf("controllers in README.md (-want +got):\n%s", diff)
	}
}
