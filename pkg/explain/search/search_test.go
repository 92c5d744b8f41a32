// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/search"
)

// sum is a state whose changes are the numbers that it adds up.
type sum struct {
	added []int
	total int
}

// adding returns a Search for sums of at least a number, by changes in increasing order. It refuses 13, and 7 has no result.
func adding(wanted, limit int, changes ...int) *search.Search[sum, int] {
	return &search.Search[sum, int]{
		Changes: func(s sum) []int {
			for at, change := range changes {
				if len(s.added) > 0 && change == s.added[len(s.added)-1] {
					return changes[at+1:]
				}
			}
			return changes
		},
		Apply: func(s sum, change int) (sum, bool) {
			return sum{added: append(append([]int(nil), s.added...), change)}, change != 13
		},
		Evaluate: func(s sum) (sum, bool) {
			for _, added := range s.added {
				s.total += added
			}
			return s, s.total != 7
		},
		Helps: func(s sum) bool { return s.total >= wanted },
		Limit: limit, Left: search.MaxEvaluations,
	}
}

func TestOneChangeOrTwo(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		search   *search.Search[sum, int]
		want     [][]int
		wantLeft int
	}{
		{"one change is enough", adding(5, 0, 1, 5, 6), [][]int{{5}, {6}}, search.MaxEvaluations - 3},
		{"two are needed", adding(8, 0, 1, 3, 5, 6), [][]int{{3, 5}, {3, 6}, {5, 6}}, search.MaxEvaluations - 10},
		{"a change that is refused takes no evaluation", adding(5, 0, 13, 6), [][]int{{6}}, search.MaxEvaluations - 1},
		{"a state without a result is left out", adding(7, 0, 1, 6), nil, search.MaxEvaluations - 3},
		{"at most so many are found", adding(5, 2, 5, 6, 8), [][]int{{5}, {6}}, search.MaxEvaluations - 2},
		{"at most so many pairs are found", adding(9, 2, 3, 6, 8, 5), [][]int{{3, 6}, {3, 8}}, search.MaxEvaluations - 6},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			helps, fails := tc.search.One(sum{})
			if len(helps) == 0 {
				helps = tc.search.Two(fails, nil)
			}
			var got [][]int
			for _, found := range helps {
				got = append(got, found.added)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tc.search.Left != tc.wantLeft {
				t.Errorf("%d evaluations are left, want %d", tc.search.Left, tc.wantLeft)
			}
		})
	}
}

func TestASearchIsBounded(t *testing.T) {
	s := adding(1000, 0, 1, 2, 3, 4)
	s.Left = 6
	_, fails := s.One(sum{})
	if found := s.Two(fails, nil); found != nil || s.Left != 0 {
		t.Errorf("found %v, %d evaluations are left", found, s.Left)
	}
}

func TestOneOfASubject(t *testing.T) {
	s := adding(5, 0, 1, 5, 6, 15)
	s.Subject = func(change int) string { return strconv.Itoa(change % 10) }
	helps, _ := s.One(sum{})
	if len(helps) != 2 || helps[1].total != 6 {
		t.Errorf("found %v", helps)
	}
}
