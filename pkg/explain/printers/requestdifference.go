// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"fmt"

	"github.com/placement-hub/placement-hub/pkg/explain/requests"
)

// writeRequestDifference writes what would change for ClusterRequests, for people: each request with another result, and the totals.
func writeRequestDifference(out *bytes.Buffer, d *requests.Difference) {
	fmt.Fprintf(out, "ClusterRequests: another result for %s", Count(len(d.Requests), "request"))

	if !d.Limited {
		fmt.Fprintf(out, "; nothing changes for %s with a Grant", Count(d.Granted, "request"))
	}

	out.WriteByte('\n')

	for _, request := range d.Requests {
		fmt.Fprintf(out, "  %s %s/%s: %s -> %s\n", markMoved, request.Namespace, request.Name, absent(request.Before), absent(request.After))
	}

	if d.Before != d.After {
		fmt.Fprintf(out, "  if no request had a Grant: %s\n", totalsText(d.Before, d.After))
	}
}

// absent returns a result, or that there is no request.
func absent(result string) string {
	if result == "" {
		return "no request"
	}

	return result
}

// totalsText returns "12 Clusters instead of 24, 12 fewer, for 48 requests; 1 request refused instead of none".
func totalsText(before, after requests.Totals) string {
	text := fmt.Sprintf("%s instead of %d", Count(after.Clusters, "Cluster"), before.Clusters)

	switch fewer := before.Clusters - after.Clusters; {
	case fewer > 0:
		text += fmt.Sprintf(", %d fewer", fewer)
	case fewer < 0:
		text += fmt.Sprintf(", %d more", -fewer)
	}

	text += " for " + Count(after.Requests, "request")
	if before.Refused != after.Refused {
		text += fmt.Sprintf("; %s refused instead of %d", Count(after.Refused, "request"), before.Refused)
	}

	return text
}

// writeRequestDifferenceNames writes one line for each request with another result.
func writeRequestDifferenceNames(out *bytes.Buffer, d *requests.Difference) {
	if d == nil {
		return
	}

	for _, request := range d.Requests {
		fmt.Fprintf(out, "%s %s\n", qualifiedObject(request.Namespace, request.Name, "ClusterRequest", ""), markMoved)
	}
}
