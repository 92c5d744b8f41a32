package selector

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/facts"
)

// Spec is a requirement as a user wrote it; its parts are ANDed, and an empty part matches every cluster.
type Spec struct {
	// Name is the name of the cluster.
	Name string
	// Labels selects by cluster labels.
	Labels metav1.LabelSelector
	// ClaimValues has for each claim name the value it must have, as plain strings.
	ClaimValues map[string]string
	// Claims selects by status.clusterClaims; the values are compared as plain strings.
	Claims []metav1.LabelSelectorRequirement
	// CEL are expressions over the variable managedCluster, which must all be true.
	CEL []string
}

// Paths say where in the user's object the parts of a Spec stand.
type Paths struct {
	Name, Labels, ClaimValues, Claims, CEL *field.Path
}

// Selector is a compiled requirement.
type Selector struct {
	requirements []requirement
	programs     []*program
	reads        []facts.Key
}

// Verdict is what a selector says of one cluster.
type Verdict struct {
	// Matched says that every clause holds.
	Matched bool
	// Err is why a CEL expression could not be evaluated; the cluster does not match then.
	Err error
	// Expression is the index of the CEL expression that failed to evaluate, when Err is set.
	Expression int

	failed func() string
}

// Failure names the first clause that does not hold and what was found instead; it is empty for a match.
func (v Verdict) Failure() string {
	if v.failed == nil {
		return ""
	}

	return v.failed()
}

// Compile makes a Selector of a Spec, or says by field what is wrong with it.
func (c *Compiler) Compile(paths Paths, spec Spec) (*Selector, field.ErrorList) {
	s := &Selector{}

	var errs field.ErrorList

	add := func(requirements []requirement, mistakes field.ErrorList) {
		s.requirements, errs = append(s.requirements, requirements...), append(errs, mistakes...)
	}

	add(nameRequirement(paths.Name, spec.Name))
	add(labelRequirements(paths.Labels, &spec.Labels))
	add(claimValues(paths.ClaimValues, spec.ClaimValues))
	add(claimRequirements(paths.Claims, spec.Claims))

	for i, expression := range spec.CEL {
		compiled, err := c.program(expression)
		if err != nil {
			errs = append(errs, field.Invalid(paths.CEL.Index(i), expression, err.Error()))

			continue
		}

		s.programs = append(s.programs, compiled)
	}

	if len(errs) > 0 {
		return nil, errs
	}

	s.reads = s.collectReads()

	return s, nil
}

func (s *Selector) collectReads() []facts.Key {
	seen := map[facts.Key]bool{}
	reads := []facts.Key{}
	add := func(key facts.Key) {
		if !seen[key] {
			seen[key] = true

			reads = append(reads, key)
		}
	}

	for _, r := range s.requirements {
		add(r.key)
	}

	for _, p := range s.programs {
		for _, key := range p.reads {
			add(key)
		}
	}

	return reads
}

// Reads are the facts the selector looks at, each once. For a name that is whether the cluster of that name exists: no change of
// another cluster, and no other change of that one, has a part in it.
func (s *Selector) Reads() []facts.Key { return s.reads }

// Matches reports whether a cluster matches. It is Match without the reason.
func (s *Selector) Matches(f *facts.Facts, pass *Pass) bool { return s.Match(f, pass).Matched }

// Match tries the clauses in their order: name, labels, claims, CEL expressions.
func (s *Selector) Match(f *facts.Facts, pass *Pass) Verdict {
	for _, r := range s.requirements {
		if !r.matches(f) {
			return Verdict{failed: func() string { return r.failure(f) }}
		}
	}

	for i, p := range s.programs {
		holds, err := p.evaluate(f, pass)
		if err != nil {
			return Verdict{Err: err, Expression: i, failed: func() string { return "CEL " + p.source + ": " + err.Error() }}
		}

		if !holds {
			return Verdict{failed: func() string { return "CEL " + p.source + ": is false" }}
		}
	}

	return Verdict{Matched: true}
}

// String lists the clauses, or says that every cluster matches.
func (s *Selector) String() string {
	clauses := make([]string, 0, len(s.requirements)+len(s.programs))
	for _, r := range s.requirements {
		clauses = append(clauses, r.String())
	}

	for _, p := range s.programs {
		clauses = append(clauses, "CEL "+p.source)
	}

	if len(clauses) == 0 {
		return "every cluster"
	}

	return strings.Join(clauses, " and ")
}
