package decision

import (
	"fmt"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// causesTold is how many causes are told one by one (ours.md E2).
const causesTold = 3

// causes tells why clusters in scope were not selected, to be read after what is wrong: "; 2 of 20 clusters in scope selected; not selected:
// predicate 1 label region In [eu] (12), being deleted (6)". It is empty when there are no clusters in scope.
func causes(result *scheduling.Result) string {
	selected := len(result.Selected)
	total, others := selected, 0

	var texts []string

	for i, cause := range result.Causes() {
		total += cause.Clusters

		if i < causesTold {
			texts = append(texts, fmt.Sprintf("%s (%d)", cause.Short(), cause.Clusters))
		} else {
			others += cause.Clusters
		}
	}

	if others > 0 {
		texts = append(texts, fmt.Sprintf("other causes (%d)", others))
	}

	if total == 0 {
		return ""
	}

	text := fmt.Sprintf("; %d of %d clusters in scope selected", selected, total)
	if len(texts) > 0 {
		text += "; not selected: " + strings.Join(texts, ", ")
	}

	return text
}
