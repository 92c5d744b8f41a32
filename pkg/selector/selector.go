// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// Spec is a requirement as a user wrote it. Its parts are ANDed, and an empty part matches every cluster.
type Spec struct {
	// Name is the required name of the cluster.
	Name string
	// Labels selects by labels of the cluster.
	Labels metav1.LabelSelector
	// LabelRequirements are requirements on labels, with every operator of the package labels; labels.NewRequirement has validated them.
	LabelRequirements []labels.Requirement
	// ClaimValues maps claim names to required values, as plain strings.
	ClaimValues map[string]string
	// Claims selects by status.clusterClaims; the values are compared as plain strings.
	Claims []metav1.LabelSelectorRequirement
	// CEL are expressions over the variable managedCluster; all must be true.
	CEL []string
}

// Paths are the field paths of the parts of a Spec in the object of the user.
type Paths struct {
	Name, Labels, ClaimValues, Claims, CEL *field.Path
}

// Selector is a compiled Spec. It is immutable and safe for concurrent use.
type Selector struct {
	requirements []requirement
	programs     []*program
	reads        []clusterinfo.Property
	identity     string
	clauses      []*Selector
}

// Verdict is the result of a Selector for one cluster.
type Verdict struct {
	// Matched reports whether every clause holds.
	Matched bool
	// Err is the evaluation error of a CEL expression; the cluster does not match then.
	Err error
	// Expression is the index of the CEL expression that could not be evaluated, if Err is set.
	Expression int

	// The clause that failed, and the cluster. Failure and Clause render the text on demand.
	selector    *Selector
	requirement *requirement
	program     *program
	cluster     *clusterinfo.ClusterInfo
}

// Failure returns the first clause that does not hold and the value that the cluster has instead; it is empty for a match.
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

// Clause returns the first clause that does not hold, without the value that the cluster has; several CEL expressions count as one clause
// (see CELClause). It is empty for a match.
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

// Compile returns the Selector of a Spec, or nil and an error for every invalid field.
func (c *Compiler) Compile(paths Paths, spec Spec) (*Selector, field.ErrorList) {
	s := &Selector{}
	var errs field.ErrorList
	add := func(requirements []requirement, mistakes field.ErrorList) {
		s.requirements, errs = append(s.requirements, requirements...), append(errs, mistakes...)
	}
	add(nameRequirement(paths.Name, spec.Name))
	add(labelRequirements(paths.Labels, &spec.Labels))
	add(operatorRequirements(spec.LabelRequirements), nil)
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

// split returns a Selector for every requirement.
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

// Clauses returns a Selector for every clause but the CEL expressions, in the order in which Match evaluates them: a cluster that matches
// all of them, but not s, fails the CELClause. The list must not be changed.
func (s *Selector) Clauses() []*Selector { return s.clauses }

// CELClause returns the text of all CEL expressions as one clause; it is empty if there are none. Only an evaluation shows which of several
// expressions is false.
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

// Reads returns the properties that the Selector reads, each once; the list must not be changed. The property of a name covers only whether
// a cluster of that name exists. A CEL expression reads labels, scores and fields by name where it looks them up by constants, and
// everything otherwise.
func (s *Selector) Reads() []clusterinfo.Property { return s.reads }

// HasCEL reports whether the Selector has CEL expressions: its results have a cost, and may change with time.
func (s *Selector) HasCEL() bool { return len(s.programs) > 0 }

// WithoutCEL returns the Selector without its CEL expressions, whose results cost nothing. A cluster that it does not match does not match
// s either.
func (s *Selector) WithoutCEL() *Selector {
	if !s.HasCEL() {
		return s
	}
	static := &Selector{requirements: s.requirements}
	static.reads, static.identity = static.collectReads(), static.identify()
	return static
}

// Matches reports whether a cluster matches, as Match does.
func (s *Selector) Matches(info *clusterinfo.ClusterInfo, evaluation *EvalContext) bool {
	return s.Match(info, evaluation).Matched
}

// Match evaluates the clauses on a cluster in the order name, labels, claims, CEL expressions, up to the first that does not hold.
func (s *Selector) Match(info *clusterinfo.ClusterInfo, evaluation *EvalContext) Verdict {
	for i := range s.requirements {
		if r := &s.requirements[i]; !r.matches(info) {
			return Verdict{selector: s, requirement: r, cluster: info}
		}
	}

	for i, p := range s.programs {
		holds, err := p.evaluate(info, evaluation)
		if err != nil {
			return Verdict{Err: err, Expression: i, selector: s, program: p}
		}
		if !holds {
			return Verdict{selector: s, program: p}
		}
	}
	return Verdict{Matched: true}
}

// String returns the clauses, or "every cluster" if there are none.
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

// Identity returns a text that is equal for two Selectors if and only if they have the same clauses in the same order.
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

// RequiredValue is a property and the values of which a matching cluster must have one.
type RequiredValue struct {
	// Key is a name, a label or a claim.
	Key clusterinfo.Property
	// Values must not be changed. RequiredValues returns them sorted, and never none.
	Values []string
}

// RequiredValues returns the properties that must have one of some values, in the order of the clauses, and the properties that the other
// clauses read, each once. Every property of Reads is in one of the two lists, or in both.
func (s *Selector) RequiredValues() (required []RequiredValue, rest []clusterinfo.Property) {
	others := Selector{programs: s.programs}
	for _, r := range s.requirements {
		if r.operator == metav1.LabelSelectorOpIn {
			required = append(required, RequiredValue{Key: r.key, Values: r.values})
		} else {
			others.requirements = append(others.requirements, r)
		}
	}
	return required, others.collectReads()
}
