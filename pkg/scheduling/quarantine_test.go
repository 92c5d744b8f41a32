// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// TestExceedingTheCostAgainAndAgainIsQuarantined checks that the third evaluation in a row that exceeds the cost limit begins a quarantine
// of ten minutes, which ends early when the uid or the predicates change (docs/spec/differences.md C2).
func TestExceedingTheCostAgainAndAgainIsQuarantined(t *testing.T) {
	compiler := selector.NewCompiler()
	path := field.NewPath("spec", "predicates").Index(0)
	request := func(expression string) *Request {
		s, errs := compiler.Compile(selector.Paths{CEL: path}, selector.Spec{CEL: []string{expression}})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		return &Request{Key: inventory.Key{}, Predicates: []Predicate{{Selector: s, CEL: path}}}
	}

	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first, other := request("1 < 2"), request("2 < 3")
	snapshot := inventory.New(compiler).Snapshot()
	exceeded, fine := &Result{costExceeded: true}, &Result{}
	var q Quarantine
	quarantined := func(r *Request, now time.Time) *Result { return q.Result(r, "a", snapshot, nil, now) }

	for n := range maxExceeded {
		if quarantined(first, begin) != nil {
			t.Fatalf("quarantined after %d evaluations", n)
		}
		q.Observe(first, "a", exceeded, begin)
	}
	result := quarantined(first, begin.Add(quarantineTime-1))
	if result == nil || result.Outcome() != Invalid || !result.RequeueAt.Equal(begin.Add(quarantineTime)) {
		t.Fatalf("got %+v, want an Invalid Result until the end of the quarantine", result)
	}

	invalid := *first
	invalid.Errors = field.ErrorList{field.Required(field.NewPath("spec"), "of the Request")}
	expect(t, "errors of a quarantined Request that is invalid", invalid.Errors, quarantined(&invalid, begin).Errors)

	for _, tc := range []struct {
		reason string
		got    *Result
	}{
		{"after ten minutes", quarantined(first, begin.Add(quarantineTime))},
		{"another text", quarantined(other, begin)},
		{"another uid", q.Result(first, "b", snapshot, nil, begin)},
	} {
		if tc.got != nil {
			t.Errorf("%s: still quarantined", tc.reason)
		}
	}

	q.Observe(first, "a", exceeded, begin.Add(quarantineTime))
	if quarantined(first, begin.Add(quarantineTime)) == nil {
		t.Error("the next evaluation that exceeds the limit begins no quarantine")
	}
	q.Observe(first, "a", fine, begin.Add(2*quarantineTime))

	q.Observe(first, "a", exceeded, begin)
	if quarantined(first, begin) != nil {
		t.Error("evaluations that are not in a row begin a quarantine")
	}
}

// TestACancelledEvaluationDecidesNothing checks that an evaluation that is cancelled selects and removes nothing.
func TestACancelledEvaluationDecidesNothing(t *testing.T) {
	done := make(chan struct{})
	close(done)
	snapshot := inventory.New(selector.NewCompiler()).Snapshot().WithDone(done)
	request := &Request{}

	for name, evaluate := range map[string]func(*Request, *inventory.Snapshot, Incumbents, time.Time) *Result{
		"Schedule": Schedule, "Reference": Reference,
	} {
		if result := evaluate(request, snapshot, map[string]bool{"c1": true}, time.Time{}); result.Outcome() != Invalid {
			t.Errorf("%s: %v, want Invalid", name, result.Outcome())
		}
	}
}
