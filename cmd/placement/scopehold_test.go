// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/test/expect"
)

// docs/spec/trust.md R6: the hub alone knows for how long it holds the works of clusters that have left the scope, so that commands take the value
// of its flag, and say which one they take.
func TestLostScopeHold(t *testing.T) {
	content, err := os.ReadFile(federatedHub)
	if err != nil {
		t.Fatal(err)
	}
	moved := expect.File(t, filepath.Join(t.TempDir(), "moved.yaml"),
		strings.Replace(string(content), "clusterset: members, location: europe", "clusterset: others, location: europe", 1))
	for name, tc := range map[string]struct {
		args []string
		note bool
	}{
		"federated": {args: []string{"federated", "cm/settings", "-n", "team-a", "-f", moved}, note: true},
		"explain":   {args: []string{"explain", "cm/settings", "-n", "team-a", "-f", moved}, note: true},
		"simulate":  {args: []string{"simulate", "--remove", "eu1", "-f", federatedHub}},
	} {
		t.Run(name, func(t *testing.T) {
			for hold, args := range map[string][]string{"10m0s": nil, "1h0m0s": {"--lost-scope-hold", "1h"}} {
				var stdout, stderr bytes.Buffer
				args = append(append(slices.Clone(tc.args), args...), "--max-removal-percent", "0", "-f", federatedWorks)
				if code := execute(t.Context(), args, &stdout, &stderr); code != exit.OK {
					t.Fatalf("exit code %d: %s", code, stderr.String())
				}
				want := []string{"holds their works for " + hold + " at most"}
				if tc.note {
					want = append(want, "the hub is taken to run with --lost-scope-hold="+hold,
						"eu1      Held ", "would leave: not in a bound set; leaves at ")
				}
				for _, part := range want {
					if !strings.Contains(stdout.String(), part) {
						t.Errorf("stdout does not contain %q:\n%s", part, stdout.String())
					}
				}
			}
		})
	}
}
