// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Coverage is what the Placements of cases ask for and the clusters of the world never decide (docs/spec/placement-test.md PT12): a case cannot
// fail by it.
type Coverage struct {
	// Placements are those with findings, by namespace and name.
	Placements []Uncovered `json:"placements"`
}

// Uncovered is a Placement with terms that decide nothing.
type Uncovered struct {
	// Placement is such as "Placement team-a/web".
	Placement string `json:"placement"`
	// Findings are sentences, in the order of the spec.
	Findings []string `json:"findings"`
}

// cover returns the Coverage of the evaluated Placements in the world as it is.
func (r *run) cover() *Coverage {
	coverage := &Coverage{Placements: []Uncovered{}}
	for _, key := range r.variants.Keys() {
		evaluation, evaluated := r.variants.Base(key)
		if !evaluated || evaluation.Result == nil || evaluation.Result.Outcome() == scheduling.Invalid {
			continue
		}
		if findings := uncovered(evaluation.Result); len(findings) > 0 {
			coverage.Placements = append(coverage.Placements, Uncovered{Placement: describe(key), Findings: findings})
		}
	}
	return coverage
}

// term counts the clusters that meet a term.
type term struct {
	text        string
	met, failed int
}

func (t *term) count(met bool) {
	if met {
		t.met++
	} else {
		t.failed++
	}
}

// finding says that no cluster meets the term, or that all do; empty otherwise.
func (t *term) finding() string {
	switch {
	case t.met == 0 && t.failed > 0:
		return fmt.Sprintf("%s: none of the %d clusters in scope meets it", t.text, t.failed)
	case t.failed == 0 && t.met > 0:
		return fmt.Sprintf("%s: all %d clusters in scope meet it", t.text, t.met)
	default:
		return ""
	}
}

// uncovered returns the terms of a Request by which no two clusters differ.
func uncovered(result *scheduling.Result) []string {
	var counted []*term
	terms := map[string]*term{}
	note := func(text string, met bool) {
		if terms[text] == nil {
			terms[text] = &term{text: text}
			counted = append(counted, terms[text])
		}
		terms[text].count(met)
	}
	used := make([]bool, len(result.Request.Tolerations))
	for info := range result.InScope() {
		for i, clauses := range result.Clauses(info) {
			all := true
			for _, clause := range clauses {
				all = all && clause.Matches
				note(fmt.Sprintf("predicate %d, %s", i+1, clause.Text), clause.Matches)
			}
			if len(clauses) > 1 {
				note(fmt.Sprintf("predicate %d", i+1), all)
			}
		}
		for _, tolerance := range result.Tolerances(info) {
			for i, toleration := range result.Request.Tolerations {
				used[i] = used[i] || tolerance.By != nil && apiequality.Semantic.DeepEqual(*tolerance.By, toleration)
			}
		}
	}
	var findings []string
	for _, each := range counted {
		if finding := each.finding(); finding != "" {
			findings = append(findings, finding)
		}
	}
	for i, toleration := range result.Request.Tolerations {
		if !used[i] {
			findings = append(findings, fmt.Sprintf("toleration %d, %s: it tolerates no taint of a cluster in scope", i+1,
				tolerationText(&toleration)))
		}
	}
	return append(findings, evenScores(result)...)
}

// tolerationText returns "gpu=a100:NoSelect".
func tolerationText(toleration *clusterv1beta1.Toleration) string {
	text := toleration.Key
	if text == "" {
		text = "any key"
	}
	if toleration.Value != "" {
		text += "=" + toleration.Value
	}
	if toleration.Effect != "" {
		text += ":" + string(toleration.Effect)
	}
	return text
}

// evenScores returns the prioritizers that score all feasible clusters alike. Those that read decisions are left out.
func evenScores(result *scheduling.Result) []string {
	if !result.Request.Ranks() {
		return nil
	}
	var findings []string
	for _, each := range result.Prioritizers() {
		name := each.Prioritizer.Name()
		if each.Prioritizer.ReadsDecisions() || name == scheduling.Steady || result.Feasible() == 0 {
			continue
		}
		scores := map[int64]bool{}
		for _, score := range each.Scores {
			scores[score] = true
		}
		if len(each.Scores) < result.Feasible() {
			scores[0] = true
		}
		if len(scores) == 1 {
			findings = append(findings, fmt.Sprintf("prioritizer %s with weight %d: all %d feasible clusters have the same score",
				name, each.Prioritizer.Weight, result.Feasible()))
		}
	}
	return findings
}
