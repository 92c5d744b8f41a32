// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"strings"
	"testing"
)

// TestQuantities checks that quantities behave as in the Kubernetes library, except for exponents with which it would calculate for
// minutes.
func TestQuantities(t *testing.T) {
	for _, tc := range []struct {
		text       string
		isQuantity bool
		atLeastTwo bool
		err        string
	}{
		{"2", true, true, ""},
		{"1900m", true, false, ""},
		{"3Ei", true, true, ""},
		{"1E", true, true, ""},
		{"1e3", true, true, ""},
		{"1E+3", true, true, ""},
		{"1e-3", true, false, ""},
		{"1e400", true, true, ""},
		{"1e1001", false, false, "the exponent must be from -1000 to 1000"},
		{"1e2147483647", false, false, "the exponent must be from -1000 to 1000"},
		{"1e4217483647", false, false, "the exponent must be from -1000 to 1000"},
		{"12345678901234567890e-99999999", false, false, "the exponent must be from -1000 to 1000"},
		{"1e99999999999999999999", false, false, "the exponent must be from -1000 to 1000"},
		{"two", false, false, "quantities must match the regular expression"},
		{"", false, false, "quantities must match the regular expression"},
	} {
		for _, source := range []string{"%q", "managedCluster.metadata.?nothing.orValue(%q)"} { // Constants are folded by the compiler.
			text := fmt.Sprintf(source, tc.text)
			is, isErrs := NewCompiler().Compile(paths(), Spec{CEL: []string{"isQuantity(" + text + ")"}})
			compares, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{"quantity(" + text + `).compareTo(quantity("2")) >= 0`}})
			if len(isErrs) > 0 || len(errs) > 0 {
				if tc.err == "" || !strings.Contains(errs.ToAggregate().Error(), tc.err) {
					t.Errorf("%s: %v %v", text, isErrs, errs)
				}
				continue
			}

			if verdict := is.Match(cluster(), &EvalContext{Now: now}); verdict.Matched != tc.isQuantity || verdict.Err != nil {
				t.Errorf("isQuantity(%s) is %v with the error %v, want %v", text, verdict.Matched, verdict.Err, tc.isQuantity)
			}
			verdict := compares.Match(cluster(), &EvalContext{Now: now})
			if verdict.Matched != tc.atLeastTwo || (verdict.Err != nil) != (tc.err != "") ||
				verdict.Err != nil && !strings.Contains(verdict.Err.Error(), tc.err) {
				t.Errorf("%s is at least 2: %v with the error %v, want %v and %q", text, verdict.Matched, verdict.Err, tc.atLeastTwo, tc.err)
			}
		}
	}
}
