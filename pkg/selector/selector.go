package selector

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
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
	reads        []clusterinfo.Property
	identity     string
	clauses      []*Selector
}

// Verdict is what a selector says of one cluster.
type Verdict struct {
	// Matched says that every clause holds.
	Matched bool
	// Err is why a CEL expression could not be evaluated; the cluster does not match then.
	Err error
	// Expression is the index of the CEL expression that failed to evaluate, when Err is set.
	Expression int

	// What failed, and on which cluster. The text is made when somebody asks for it.
	selector    *Selector
	requirement *requirement
	program     *program
	cluster     *clusterinfo.ClusterInfo
}

// Failure names the first clause that does not hold and what was found instead; it is empty for a match.
func (v Verdict) Failure() string {
	switch {
	case v.requirement != nil:
		return v.requirement.String() + v.requirement.actual(v.cluster)
	case v.Err != nil:
		return v.program.String() + ": " + v.Err.Error()
	case v.program != nil:
		return v.program.String() + ": is false"
	default:
		return ""
	}
}

// Clause is the clause of Failure without what was found, where several CEL expressions count as one clause (see Clauses). It is empty
// for a match.
func (v Verdict) Clause() string {
	switch {
	case v.requirement != nil:
		return v.requirement.String()
	case v.program != nil:
		return v.selector.CELClause()
	default:
		return ""
	}
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

	s.reads, s.identity = s.collectReads(), s.identify()
	s.clauses = s.split()

	return s, nil
}

// split makes a selector of every requirement.
func (s *Selector) split() []*Selector {
	if len(s.requirements) == 1 && !s.HasCEL() {
		return []*Selector{s}
	}

	clauses := make([]*Selector, 0, len(s.requirements))

	for i := range s.requirements {
		clause := &Selector{requirements: s.requirements[i : i+1 : i+1]}
		clause.reads, clause.identity = clause.collectReads(), clause.identify()
		clauses = append(clauses, clause)
	}

	return clauses
}

// Clauses are selectors that ask for one thing each, in the order in which Match tries them: a cluster that all of them match fails, if
// it does not match, the DynamicClause. The list must not be changed.
func (s *Selector) Clauses() []*Selector { return s.clauses }

// CELClause tells of all CEL expressions as one clause; empty when there are none. Which of several does not hold is known only by
// evaluating them.
func (s *Selector) CELClause() string {
	switch len(s.programs) {
	case 0:
		return ""
	case 1:
		return s.programs[0].String()
	default:
		return fmt.Sprintf("one of the %d CEL expressions", len(s.programs))
	}
}

func (s *Selector) collectReads() []clusterinfo.Property {
	seen := map[clusterinfo.Property]bool{}
	reads := []clusterinfo.Property{}
	add := func(key clusterinfo.Property) {
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
// another cluster, and no other change of that one, has a part in it. A CEL expression reads labels, scores and fields by name where it
// looks them up by constants, and everything otherwise.
func (s *Selector) Reads() []clusterinfo.Property { return s.reads }

// HasCEL reports whether the selector has CEL expressions: its answers cost something, and may change with time.
func (s *Selector) HasCEL() bool { return len(s.programs) > 0 }

// WithoutCEL is the selector without its CEL expressions: a cluster that it does not match, the selector does not match either, at no cost.
func (s *Selector) WithoutCEL() *Selector {
	if !s.HasCEL() {
		return s
	}

	static := &Selector{requirements: s.requirements}
	static.reads, static.identity = static.collectReads(), static.identify()

	return static
}

// Matches reports whether a cluster matches. It is Match without the reason.
func (s *Selector) Matches(f *clusterinfo.ClusterInfo, evaluation *EvalContext) bool {
	return s.Match(f, evaluation).Matched
}

// Match tries the clauses in their order: name, labels, claims, CEL expressions.
func (s *Selector) Match(f *clusterinfo.ClusterInfo, evaluation *EvalContext) Verdict {
	for i := range s.requirements {
		if r := &s.requirements[i]; !r.matches(f) {
			return Verdict{selector: s, requirement: r, cluster: f}
		}
	}

	for i, p := range s.programs {
		holds, err := p.evaluate(f, evaluation)
		if err != nil {
			return Verdict{Err: err, Expression: i, selector: s, program: p}
		}

		if !holds {
			return Verdict{selector: s, program: p}
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
		clauses = append(clauses, p.String())
	}

	if len(clauses) == 0 {
		return "every cluster"
	}

	return strings.Join(clauses, " and ")
}

// Identity is one text for all selectors that have the same clauses in the same order, and for no others.
func (s *Selector) Identity() string { return s.identity }

func (s *Selector) identify() string {
	var text []byte

	for _, r := range s.requirements {
		text = append(text, r.key.Kind.String()...)
		text = strconv.AppendQuote(append(text, ' '), r.key.Name)
		text = append(append(text, ' '), r.operator...)

		for _, value := range r.values {
			text = strconv.AppendQuote(append(text, ' '), value)
		}

		text = append(text, '\n')
	}

	for _, p := range s.programs {
		text = append(strconv.AppendQuote(append(text, "CEL "...), p.source), '\n')
	}

	return string(text)
}

// RequiredValue is a fact that must have one of some values, or the cluster does not match.
type RequiredValue struct {
	// Key is a name, a label or a claim.
	Key clusterinfo.Property
	// Values are sorted, and never none. They must not be changed.
	Values []string
}

// RequiredValues are the facts that must have one of some values, in the order of the clauses, and the keys that other clauses read, each once.
// Every key of Reads is in one of the two, or in both.
func (s *Selector) RequiredValues() (anchors []RequiredValue, rest []clusterinfo.Property) {
	others := Selector{programs: s.programs}

	for _, r := range s.requirements {
		if r.operator == metav1.LabelSelectorOpIn {
			anchors = append(anchors, RequiredValue{Key: r.key, Values: r.values})
		} else {
			others.requirements = append(others.requirements, r)
		}
	}

	return anchors, others.collectReads()
}
