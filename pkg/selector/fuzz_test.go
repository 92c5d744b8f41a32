// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCompileCEL checks that every text compiles to a program that can be evaluated, or to an error with the path of the field.
func FuzzCompileCEL(f *testing.F) {
	f.Add(`managedCluster.metadata.labels["region"] == "eu"`)
	f.Add(`1 +`)
	f.Add(``)
	known := cluster()

	f.Fuzz(func(t *testing.T, source string) {
		s, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{source}})
		if (s == nil) == (len(errs) == 0) {
			t.Fatalf("selector %v beside errors %v", s, errs)
		}

		for _, err := range errs {
			if err.Field != "spec.celExpressions[0]" || err.Detail == "" {
				t.Errorf("the mistake names no place or no rule: %v", err)
			}
			if utf8.ValidString(source) && (!utf8.ValidString(err.Detail) || strings.Contains(err.Detail, "panic")) {
				t.Errorf("the rule is no readable text: %q", err.Detail)
			}
		}

		if s == nil {
			return
		}
		evaluation := &EvalContext{Now: now}

		verdict := s.Match(known, evaluation)
		if verdict.Matched != (verdict.Failure() == "") || verdict.Matched && verdict.Err != nil {
			t.Errorf("matched = %v, but the failure is %q, the error %v", verdict.Matched, verdict.Failure(), verdict.Err)
		}
		if verdict.Err != nil && strings.Contains(verdict.Err.Error(), "internal error") {
			t.Errorf("the evaluation broke: %v", verdict.Err)
		}
	})
}
