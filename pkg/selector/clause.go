// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// Clause is a clause of a Selector with its result for one cluster.
type Clause struct {
	// Text is the clause: "label region In [eu us]", "name is c1", or "CEL " and the expression.
	Text string
	// Matches reports whether the cluster fulfils the clause. Failure names the clause and the value that the cluster has instead; it is
	// empty if Matches is true.
	Matches bool
	Failure string
	// Key, Operator and Values are the comparison; all are zero for a CEL expression. Values must not be changed.
	Key      clusterinfo.Property
	Operator metav1.LabelSelectorOperator
	Values   []string
	// Expression is the source of a CEL expression, and Reads are the properties that it reads; both are empty for a comparison.
	Expression string
	Reads      []clusterinfo.Property
}

// Explain evaluates every clause on a cluster, in order, also the clauses after a failed one. A CEL expression for which the evaluation has
// no budget left does not match.
func (s *Selector) Explain(info *clusterinfo.ClusterInfo, evaluation *EvalContext) []Clause {
	clauses := make([]Clause, 0, len(s.requirements)+len(s.programs))
	for i := range s.requirements {
		r := &s.requirements[i]
		clause := Clause{Text: r.String(), Matches: r.matches(info), Key: r.key, Operator: r.operator, Values: r.values}
		if !clause.Matches {
			clause.Failure = Verdict{requirement: r, cluster: info}.Failure()
		}
		clauses = append(clauses, clause)
	}

	for i, p := range s.programs {
		clause := Clause{Text: "CEL " + p.source, Expression: p.source, Reads: slices.Clone(p.reads)}
		holds, err := p.evaluate(info, evaluation)
		if clause.Matches = holds && err == nil; !clause.Matches {
			clause.Failure = Verdict{Err: err, Expression: i, program: p}.Failure()
		}
		clauses = append(clauses, clause)
	}
	return clauses
}
