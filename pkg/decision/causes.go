package decision

import (
	"fmt"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// causes tells why clusters in scope were not selected, to be read after what is wrong: "; 2 of 20 clusters in scope selected; not selected:
// predicate 1 label region In [eu] (12), being deleted (6)". It is empty when there are no clusters in scope.
func causes(result *scheduling.Result) string {
	selected := len(result.Selected)
	told, others := scheduling.Foremost(result.Causes())
	total := selected + others

	var texts []string

	for _, cause := range told {
		total += cause.Clusters
		texts = append(texts, fmt.Sprintf("%s (%d)", cause.Clause, cause.Clusters))
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
