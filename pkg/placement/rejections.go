// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"

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
