// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"strings"
)

// Rejection is a reason why clusters in scope were not selected, with the number of these clusters.
type Rejection struct {
	Stage Stage
	// Clause is the text of Result.Reason without values that are particular to a cluster.
	Clause string
	// Clusters is the number of rejected clusters, at least 1.
	Clusters int
}

// maxClauseBytes is the maximal length of a clause in a text that lists several.
const maxClauseBytes = 200

// Short returns the clause on one line of at most maxClauseBytes, for texts that list several.
func (r Rejection) Short() string { return shorten(r.Clause) }

// shorten returns a clause on one line of at most maxClauseBytes.
func shorten(clause string) string {
	clause = strings.Join(strings.Fields(clause), " ")
	if len(clause) <= maxClauseBytes {
		return clause
	}
	return strings.ToValidUTF8(clause[:maxClauseBytes-len("...")], "") + "..."
}

// maxListedRejections is the number of rejections that are listed one by one (docs/spec/differences.md E2).
const maxListedRejections = 3

// Summarize returns "predicate 1 label region In [eu] (12), being deleted (6), other causes (2)": the first rejections with their clauses
// on one line, and the number of the other clusters. It is empty without rejections.
func Summarize(found []Rejection) string {
	texts := make([]string, 0, maxListedRejections+1)
	others := 0
	for i, rejection := range found {
		if i < maxListedRejections {
			texts = append(texts, fmt.Sprintf("%s (%d)", rejection.Short(), rejection.Clusters))
		} else {
			others += rejection.Clusters
		}
	}

	if others > 0 {
		texts = append(texts, fmt.Sprintf("other causes (%d)", others))
	}
	return strings.Join(texts, ", ")
}

// histogram counts clusters by stage and clause.
type histogram map[Rejection]int

func (h histogram) add(stage Stage, clause string, clusters int) {
	if clusters > 0 {
		h[Rejection{Stage: stage, Clause: clause}] += clusters
	}
}

// bytes estimates the size.
func (h histogram) bytes() int {
	const fixed, perRejection = 64, 40
	bytes := fixed
	for rejection := range h {
		bytes += perRejection + len(rejection.Clause)
	}
	return bytes
}
