package selector

import (
	"strconv"
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
	identity     string
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
	requirement *requirement
	program     *program
	cluster     *facts.Facts
}

// Failure is the Clause and what was found instead; it is empty for a match.
func (v Verdict) Failure() string {
	switch {
	case v.requirement != nil:
		return v.Clause() + v.requirement.found(v.cluster)
	case v.Err != nil:
		return v.Clause() + ": " + v.Err.Error()
	case v.program != nil:
		return v.Clause() + ": is false"
	default:
		return ""
	}
}

// Clause names the first clause that does not hold, in the same words for every cluster; it is empty for a match.
func (v Verdict) Clause() string {
	switch {
	case v.requirement != nil:
		return v.requirement.String()
	case v.program != nil:
		return v.program.String()
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
// another cluster, and no other change of that one, has a part in it. A CEL expression reads labels, scores and fields by name where it
// looks them up by constants, and everything otherwise.
func (s *Selector) Reads() []facts.Key { return s.reads }

// Dynamic reports whether the selector has CEL expressions: its answers cost something, and may change with time.
func (s *Selector) Dynamic() bool { return len(s.programs) > 0 }

// Static is the selector without its CEL expressions: a cluster that it does not match, the selector does not match either, at no cost.
func (s *Selector) Static() *Selector {
	if !s.Dynamic() {
		return s
	}

	static := &Selector{requirements: s.requirements}
	static.reads, static.identity = static.collectReads(), static.identify()

	return static
}

// Matches reports whether a cluster matches. It is Match without the reason.
func (s *Selector) Matches(f *facts.Facts, pass *Pass) bool { return s.Match(f, pass).Matched }

// Match tries the clauses in their order: name, labels, claims, CEL expressions.
func (s *Selector) Match(f *facts.Facts, pass *Pass) Verdict {
	for i := range s.requirements {
		if r := &s.requirements[i]; !r.matches(f) {
			return Verdict{requirement: r, cluster: f}
		}
	}

	for i, p := range s.programs {
		holds, err := p.evaluate(f, pass)
		if err != nil {
			return Verdict{Err: err, Expression: i, program: p}
		}

		if !holds {
			return Verdict{program: p}
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

// Anchor is a fact that must have one of some values, or the cluster does not match.
type Anchor struct {
	// Key is a name, a label or a claim.
	Key facts.Key
	// Values are sorted, and never none. They must not be changed.
	Values []string
}

// Anchors are the facts that must have one of some values, in the order of the clauses, and the keys that other clauses read, each once.
// Every key of Reads is in one of the two, or in both.
func (s *Selector) Anchors() (anchors []Anchor, rest []facts.Key) {
	others := Selector{programs: s.programs}

	for _, r := range s.requirements {
		if r.operator == metav1.LabelSelectorOpIn {
			anchors = append(anchors, Anchor{Key: r.key, Values: r.values})
		} else {
			others.requirements = append(others.requirements, r)
		}
	}

	return anchors, others.collectReads()
}
