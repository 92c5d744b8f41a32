// SPDX-License-Identifier: Apache-2.0

package search

// MaxEvaluations bounds the evaluations of one Search.
const MaxEvaluations = 400

// Search searches from states S by changes C. A state knows the changes that led to it, and the result of its evaluation.
type Search[S, C any] struct {
	// Changes returns the changes of a state that may help, in the order in which they are evaluated.
	Changes func(S) []C
	// Apply returns a state with one more change; false if the hub would refuse it.
	Apply func(S, C) (S, bool)
	// Evaluate returns a state with its result; false if it has none. Helps reports whether a result is as wanted.
	Evaluate func(S) (S, bool)
	Helps    func(S) bool
	// Subject returns what a change is about. Of changes of one subject, those after the first that helps are left out. A nil Subject leaves out
	// none.
	Subject func(C) string
	// Limit bounds the states that help; 0 means no limit.
	Limit int
	// Left is the number of evaluations that are left.
	Left int
}

// Start evaluates a state without a change.
func (s *Search[S, C]) Start(state S) (S, bool) {
	s.Left--
	return s.Evaluate(state)
}

// Extend evaluates a state with one more change. It returns false if that has no result, or no evaluation is left.
func (s *Search[S, C]) Extend(from S, change C) (next S, evaluated bool) {
	if s.Left <= 0 {
		return next, false
	}
	if next, evaluated = s.Apply(from, change); !evaluated {
		return next, false
	}
	s.Left--
	return s.Evaluate(next)
}

// One evaluates a state with each of its changes, and separates the states that help from the others.
func (s *Search[S, C]) One(from S) (helps, fails []S) { return s.one(from, s.Limit) }

func (s *Search[S, C]) one(from S, limit int) (helps, fails []S) {
	seen := map[string]bool{}
	for _, change := range s.Changes(from) {
		if limit > 0 && len(helps) == limit {
			break
		}
		if s.Subject != nil && seen[s.Subject(change)] {
			continue
		}
		next, evaluated := s.Extend(from, change)
		switch {
		case !evaluated:
		case s.Helps(next):
			helps = append(helps, next)
			if s.Subject != nil {
				seen[s.Subject(change)] = true
			}
		default:
			fails = append(fails, next)
		}
	}

	return helps, fails
}

// Two extends states that one change has led to, and that do not help, by each second change, and returns those that help then. If instead is
// not nil, its result takes the place of each of them.
func (s *Search[S, C]) Two(fails []S, instead func(S) S) []S {
	var helps []S
	for _, first := range fails {
		if s.Limit > 0 && len(helps) == s.Limit {
			break
		}
		both, _ := s.one(first, max(s.Limit-len(helps), 0))
		for _, pair := range both {
			if instead != nil {
				pair = instead(pair)
			}
			helps = append(helps, pair)
		}
	}

	return helps
}
