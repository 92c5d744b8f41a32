package decision

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// The moves are those of the naive form, which looks at every page for every write: for whatever pages there are, and whatever they are
// to hold.
func TestSequenceIsThatOfTheNaiveForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clusters := fleet(rapid.SampledFrom([]int{1, 3, 8, 30}).Draw(t, "clusters"))
		subset := rapid.SliceOfNDistinct(rapid.SampledFrom(clusters), 0, len(clusters), rapid.ID[string])
		index, name := rapid.IntRange(0, 3), rapid.SampledFrom([]string{"", "canary"})

		present := presentOf(placementOf(byScore("60s")))

		for n := range rapid.IntRange(0, 6).Draw(t, "pages") {
			present.Pages = append(present.Pages, page(n+1, index.Draw(t, "index"), name.Draw(t, "name"), subset.Draw(t, "holds")...))
		}

		// Everybody who stays has one page; some pages go, and some are new.
		pages := []Page{}

		for _, current := range present.Pages {
			switch rapid.SampledFrom([]string{"stays", "stays", "goes", "as it is"}).Draw(t, current.Name) {
			case "stays":
				pages = append(pages, Page{Name: current.Name, Group: present.groupOf(current), Current: current})
			case "as it is":
				pages = append(pages, Page{Name: current.Name, Group: present.groupOf(current), Current: current, Clusters: current.Clusters()})
			}
		}

		for n := range rapid.IntRange(0, 3).Draw(t, "new pages") {
			group := record.Group{Index: index.Draw(t, "index"), Name: name.Draw(t, "name")}
			pages = append(pages, Page{Name: PageName("p", n+7), Group: group})
		}

		for _, cluster := range clusters {
			if to := rapid.IntRange(-1, len(pages)-1).Draw(t, cluster); to >= 0 && !slices.Contains(pages[to].Clusters, cluster) {
				pages[to].Clusters = append(pages[to].Clusters, cluster)
			}
		}

		length := rapid.SampledFrom([]int{1, 2, 5, 15, 30}).Draw(t, "length")

		naive, sequence := newOldSequence(present, pages, length), newSequence(present, pages, length)
		want, got := []string{}, []string{}

		for _, move := range naive.run() {
			want = append(want, fmt.Sprint(move.oldSlot.name, move.oldSlot.group, slices.Sorted(maps.Keys(move.holds))))
		}

		for _, gone := range naive.deletes() {
			want = append(want, "delete "+gone.name)
		}

		for _, move := range sequence.run() {
			holds := move.waiting
			if holds == nil {
				holds = sequence.clusters(move.slot.target)
			}

			got = append(got, fmt.Sprint(move.slot.name, move.slot.group, slices.Sorted(slices.Values(holds))))
		}

		for _, gone := range sequence.deletes() {
			got = append(got, "delete "+gone.name)
		}

		if !slices.Equal(want, got) {
			t.Fatalf("length %d:\n%v\nwant\n%v", length, got, want)
		}
	})
}
