// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

func TestCommandLine(t *testing.T) {
	for _, tc := range []struct {
		reason string
		args   []string
		code   int
		stdout []string
		stderr []string
	}{
		{"no command", nil, 0, []string{"Available Commands:", "controller", "run", "simulate", "version"}, nil},
		{"help", []string{"--help"}, 0, []string{"Available Commands:"}, nil},
		{"help of run", []string{"run", "--help"}, 0, []string{"placement run --once", "--data-dir", "--kubeconfig", "--timeout"}, nil},
		{"help of controller", []string{"controller", "--help"}, 0, []string{"--leader-election-lease-duration", "--listen"}, nil},
		{"help of simulate", []string{"simulate", "--help"}, 0, []string{"--filename", "deploy/samples"}, nil},
		{"help of diff", []string{"diff", "--help"}, 0, []string{"--hub", "kubectl diff", "--show-kept"}, nil},
		{"help of version", []string{"version", "--help"}, 0, []string{"--output"}, nil},
		{"version", []string{"version"}, 0, []string{"placement ", "commit"}, nil},
		{"an unknown command", []string{"rnu"}, 2, nil, []string{`unknown command "rnu"`, "Run 'placement --help'"}},
		{"an unknown flag", []string{"run", "--twice"}, 2, nil, []string{"unknown flag: --twice", "Run 'placement run --help'"}},
		{"an argument that nobody reads", []string{"run", "samples"}, 2, nil, []string{`"samples"`, "Run 'placement run --help'"}},
		{"a value of the wrong type", []string{"run", "--once", "--timeout=soon"}, 2, nil, []string{"--timeout", `"soon"`}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			p := suite.Run(t, tc.args...)
			p.WantExit(t, tc.code)
			for _, part := range tc.stdout {
				if !strings.Contains(p.Stdout.String(), part) {
					t.Errorf("stdout lacks %q; %s", part, p)
				}
			}
			p.WantStderr(t, tc.stderr...)
			if (tc.code == 0) != (p.Stderr.String() == "") {
				t.Errorf("errors go to stderr, and nothing else; %s", p)
			}
			p.WantNothingLeft(t)
		})
	}
}
