// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"encoding/binary"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/lru"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

const (
	// memoSize is the number of results that the memo of an expression has.
	memoSize = 64
	// maxMemoLabels is how many labels an expression with a memo reads at most, so that the keys are short.
	maxMemoLabels = 8
	// maxMemoLiterals is how many literals a label is compared with at most, because each is looked at without a charge. With more of them the
	// value counts as it is.
	maxMemoLiterals = 32
	// maxMemoError is the length in bytes of the text of the longest error that is kept.
	maxMemoError = 256
)

// memo has the results of an expression that reads nothing of a cluster but labels by their keys. Most clusters of a fleet have the same values
// of the few labels that an expression reads, and a result is found in a fraction of the time of an evaluation. It is safe for concurrent use.
type memo struct {
	labels  []memoLabel
	results *lru.Cache
}

// memoLabel is a label that an expression reads.
type memoLabel struct {
	key string
	// literals are all that the expression compares the value with, by ==, != or in, if compared: all other values have the same result then.
	literals []string
	compared bool
}

// memoResult is the result of an evaluation, with its cost.
type memoResult struct {
	holds bool
	err   error
	cost  uint64
}

// newMemo returns an empty memo of an expression with these reads; nil if it reads more than a few labels.
func newMemo(checked *cel.Ast, reads []clusterinfo.Property) *memo {
	m := &memo{results: lru.New(memoSize)}
	for _, read := range reads {
		switch {
		case read == (clusterinfo.Property{Kind: clusterinfo.Field, Name: labelsPath}): // Each label is read with the field.
		case read.Kind != clusterinfo.Label || read.Name == "":
			return nil
		case !slices.ContainsFunc(m.labels, func(l memoLabel) bool { return l.key == read.Name }):
			m.labels = append(m.labels, memoLabel{key: read.Name, compared: true})
		}
	}
	if len(m.labels) > maxMemoLabels {
		return nil
	}
	for _, use := range usesOfCluster(checked) {
		m.look(use)
	}
	return m
}

// look notes what one use of the cluster compares a label with.
func (m *memo) look(use ast.NavigableExpr) {
	path, value, presence := constantPath(use)
	at := slices.IndexFunc(m.labels, func(l memoLabel) bool { return len(path) == 3 && l.key == path[2] })
	if at < 0 || presence {
		return
	}
	label := &m.labels[at]
	literals := comparedWith(value)
	label.literals = append(label.literals, literals...)
	label.compared = label.compared && literals != nil && len(label.literals) <= maxMemoLiterals
	if !label.compared {
		label.literals = nil
	}
}

// comparedWith returns the literals with which the parent of an expression compares it; nil if the parent does something else.
func comparedWith(value ast.NavigableExpr) []string {
	parent, ok := value.Parent()
	if !ok || parent.Kind() != ast.CallKind || len(parent.Children()) != 2 {
		return nil
	}
	other := parent.Children()[1]
	switch parent.AsCall().FunctionName() {
	case operators.Equals, operators.NotEquals:
		if other.ID() == value.ID() {
			other = parent.Children()[0]
		}
	case operators.In:
	default:
		return nil
	}
	if other.ID() == value.ID() {
		return nil
	}
	return literalTexts(other)
}

// ComparedLabels returns the labels that the first CEL expression compares with literals, with these literals, if it reads nothing else: it has the
// same result and cost for all clusters that have each of these labels with another value. Values are empty where an expression looks at the presence
// of the label alone. It returns nil if there is no such expression, and for values that are longer than an API server permits.
func (s *Selector) ComparedLabels() []RequiredValue {
	if !s.HasCEL() || s.programs[0].memo == nil {
		return nil
	}
	labels := s.programs[0].memo.labels
	compared := make([]RequiredValue, 0, len(labels))
	for _, label := range labels {
		if !label.compared {
			return nil
		}
		compared = append(compared, RequiredValue{Key: clusterinfo.Property{Kind: clusterinfo.Label, Name: label.key}, Values: label.literals})
	}
	return compared
}

// DecidedByFirst reports whether the first CEL expression alone decides a Verdict of the Selector.
func (s *Selector) DecidedByFirst(verdict Verdict) bool {
	return len(s.programs) == 1 || !verdict.Matched && verdict.program == s.programs[0]
}

// result returns the result for a cluster if it is known and costs no more than a limit, and the key for add.
func (m *memo) result(info *clusterinfo.ClusterInfo, limit uint64) (known memoResult, key string, found bool) {
	if m == nil {
		return memoResult{}, "", false
	}
	key = m.key(info)
	value, _ := m.results.Get(key)
	known, found = value.(memoResult)
	return known, key, found && known.cost <= limit
}

// add adds a result, unless the text of its error is long.
func (m *memo) add(key string, result memoResult) {
	if m != nil && (result.err == nil || len(result.err.Error()) <= maxMemoError) {
		m.results.Add(key, result)
	}
}

// key returns a text that is equal for two clusters only if the result is.
func (m *memo) key(info *clusterinfo.ClusterInfo) string {
	if len(info.Labels) == 0 {
		return "no labels" // The lookup of a label is an error of its own.
	}
	const usual = 64
	text := make([]byte, 0, usual)
	for i := range m.labels {
		label := &m.labels[i]
		value, has := info.Labels[label.key]
		switch {
		case !has:
			text = append(text, '-')
		// A longer value, which no cluster of an API server has, is its own: the cost of a comparison depends on the length.
		case label.compared && len(value) <= validation.LabelValueMaxLength && !slices.Contains(label.literals, value):
			text = append(text, '*')
		default:
			text = append(binary.AppendUvarint(append(text, '='), uint64(len(value))), value...)
		}
	}
	return string(text)
}
