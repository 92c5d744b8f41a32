// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Status says how a case ended.
type Status string

// The statuses.
const (
	Passed Status = "Passed"
	Failed Status = "Failed"
	// Errored means that the case could not be evaluated, because it names what does not exist or evaluates nothing.
	Errored Status = "Error"
	// Interrupted means that the case was not evaluated to its end.
	Interrupted Status = "Interrupted"
)

// Results are the results of all cases. Their JSON names are stable: fields may be added, and none is renamed or removed.
type Results struct {
	// Now is the time of the evaluation.
	Now     metav1.Time `json:"now"`
	Summary Summary     `json:"summary"`
	// Cases are in the order of files and lines.
	Cases []Result `json:"cases"`
	// Coverage is absent unless it was asked for.
	Coverage *Coverage `json:"coverage,omitempty"`
}

// Summary counts the cases by their status.
type Summary struct {
	Cases       int `json:"cases"`
	Passed      int `json:"passed"`
	Failed      int `json:"failed"`
	Errors      int `json:"errors"`
	Interrupted int `json:"interrupted"`
}

// Result is the result of a case.
type Result struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// File and Line are the place of the case.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Status Status `json:"status"`
	// Objects is the number of objects that were evaluated, and Situations the situations of a case that tries several; nil for others.
	Objects    int         `json:"objects"`
	Situations *Situations `json:"situations,omitempty"`
	// Failure is the first clause that does not hold, and Failures the number of objects and situations in which one does not.
	Failure  *Failure `json:"failure,omitempty"`
	Failures int      `json:"failures,omitempty"`
	// Error says why the case could not be evaluated; empty otherwise.
	Error string `json:"error,omitempty"`
}

// Situations counts the combinations of clusters that fail together.
type Situations struct {
	// Tried is the number of combinations that were tried, and Of the number that there are.
	Tried uint64 `json:"tried"`
	Of    uint64 `json:"of"`
	// Seed is the seed of the choice, if not all of them were tried.
	Seed *uint64 `json:"seed,omitempty"`
}

// Failure is a clause that does not hold.
type Failure struct {
	// Object is such as "Placement team-a/web".
	Object string `json:"object"`
	// When is such as "lose c7"; empty for the world as it is.
	When string `json:"when,omitempty"`
	// Field is the path of the clause in the case, and Line its line.
	Field string `json:"field"`
	Line  int    `json:"line"`
	// Message says what was expected, and what was found and why.
	Message string `json:"message"`
	// Counterfactuals are changes by which a cluster would be selected; each was confirmed by the scheduler.
	Counterfactuals []string `json:"counterfactuals,omitempty"`
}

// Doubt has an error for each case whose status another evaluation of the same cases does not share.
func (r *Results) Doubt(otherwise *Results, why string) {
	for i := range r.Cases {
		if one := &r.Cases[i]; one.Status != otherwise.Cases[i].Status {
			one.Status, one.Error, one.Failure, one.Failures = Errored, why, nil, 0
		}
	}
	r.summarize()
}

// summarize counts the cases.
func (r *Results) summarize() {
	r.Summary = Summary{Cases: len(r.Cases)}
	for i := range r.Cases {
		switch r.Cases[i].Status {
		case Passed:
			r.Summary.Passed++
		case Failed:
			r.Summary.Failed++
		case Errored:
			r.Summary.Errors++
		case Interrupted:
			r.Summary.Interrupted++
		}
	}
}
