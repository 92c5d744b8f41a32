// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestCheck(t *testing.T) {
	path := field.NewPath("spec", "tolerations")
	if err := Tolerations.Check(path, Tolerations.Max); err != nil {
		t.Errorf("the limit itself is refused: %v", err)
	}
	const want = "spec.tolerations: Too many: 65: must have at most 64 tolerations: tolerate all values of a key with operator Exists"
	if err := Tolerations.Check(path, Tolerations.Max+1); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestLimitsAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, limit := range All() {
		if names[limit.Name] || limit.Path == "" || limit.Max <= 0 || limit.Items == "" || limit.Instead == "" {
			t.Errorf("limit %+v is not complete, or its name is not unique", limit)
		}
		names[limit.Name] = true
	}
}
