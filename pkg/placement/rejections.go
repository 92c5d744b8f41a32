// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// rejectionsText returns why clusters in scope were not selected, to be appended to a message: "; 2 of 20 clusters in scope selected; not
// selected: predicate 1 label region In [eu] (12), being deleted (6)". It is empty when no cluster is in scope.
func rejectionsText(result *scheduling.Result) string {
	selected, found := len(result.Selected), result.Rejections()
	total := selected
	for _, rejection := range found {
		total += rejection.Clusters
	}
	if total == 0 {
		return ""
	}

	text := fmt.Sprintf("; %d of %d clusters in scope selected", selected, total)
	if len(found) > 0 {
		text += "; not selected: " + scheduling.Summarize(found)
	}
	return text
}

// selectedText is what rejectionsText says about the number of selected clusters.
var selectedText = regexp.MustCompile(`; (\d+) of \d+ clusters in scope selected`)

// SelectedIn returns the number of selected clusters that the message of a condition says; false if it says none.
func SelectedIn(message string) (selected int, said bool) {
	match := selectedText.FindStringSubmatch(message)
	if match == nil {
		return 0, false
	}
	selected, err := strconv.Atoi(match[1])
	return selected, err == nil
}
