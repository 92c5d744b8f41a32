// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"strings"
)

const (
	// clustersNamed is how many clusters a text names with their reasons at most.
	clustersNamed = 10
	// longestNames is the length in bytes after which a text names no further cluster, so that an Event has room for two such texts.
	longestNames = 450
)

// NameReasons returns "c1 (reason), c2 (reason) and 3 more": at most ten clusters with their reasons, and the number of the others. It asks for
// the reasons of the named clusters alone.
func NameReasons(clusters []string, reason func(cluster string) string) string {
	var text strings.Builder
	for i, cluster := range clusters {
		if i == clustersNamed || text.Len() > longestNames {
			fmt.Fprintf(&text, " and %d more", len(clusters)-i)
			break
		}
		if i > 0 {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "%s (%s)", cluster, shorten(reason(cluster)))
	}

	return text.String()
}
