// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// An event has room for the lost and the gained clusters and their numbers, whatever the length of names and reasons.
func TestNamesWithReasonsAreShort(t *testing.T) {
	var clusters []string
	for n := range 30 {
		clusters = append(clusters, fmt.Sprintf("%s%02d", strings.Repeat("x", 61), n))
	}
	reason := func(string) string { return strings.Repeat("long ", 1000) }
	if text := NameReasons(clusters, reason); len(text) > 450+63+200+30 || !strings.HasSuffix(text, " more") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

// TestNameReasons checks how many clusters are named, and that the others are counted.
func TestNameReasons(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		lengths []int // lengths has the length of the reason of each cluster.
		named   int
		more    string
	}{
		{"none", nil, 0, ""},
		{"one", []int{1}, 1, ""},
		{"as many as are named", slices.Repeat([]int{1}, clustersNamed), clustersNamed, ""},
		{"two more than are named", slices.Repeat([]int{1}, clustersNamed+2), clustersNamed, " and 2 more"},
		{"three names have the longest text that another name follows", []int{200, 200, 31, 1, 1}, 4, " and 1 more"},
		{"three names are longer by a byte", []int{200, 200, 32, 1, 1}, 3, " and 2 more"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var clusters, named []string
			reasons := map[string]string{}
			for n, length := range tc.lengths {
				cluster := fmt.Sprintf("c%d", n)
				clusters, reasons[cluster] = append(clusters, cluster), strings.Repeat("r", length)
				if n < tc.named {
					named = append(named, cluster+" ("+reasons[cluster]+")")
				}
			}
			text := NameReasons(clusters, func(cluster string) string { return reasons[cluster] })
			expect(t, "text", strings.Join(named, ", ")+tc.more, text)
		})
	}
}
