// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/expect"
)

// The page about the command line has the exit codes of the program.
func TestExitCodesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	expect.NoError(t, err)
	for _, exit := range exitCodes {
		if row := fmt.Sprintf("| %d | %s | %s |", exit.code, exit.means, exit.comparing); !strings.Contains(string(page), row) {
			t.Errorf("docs/commands.md lacks %q", row)
		}
	}
}

// The same outcome has the same exit code in every command that reads a hub.
func TestExitCodesAreAlike(t *testing.T) {
	nowhere := []string{"--server", "http://127.0.0.1:1", "--request-timeout", "1s"}
	for command, args := range readers(t) {
		comparing := command == "diff"
		for _, tc := range []struct {
			outcome string
			args    []string
			want    int
		}{
			{"help", []string{"--help"}, exitOK},
			{"an unknown flag", []string{"--nosuch"}, exitUsage},
			{"an unknown format", []string{"-o", "nosuch"}, exitUsage},
			{"an unreadable timeout", []string{"--server", "http://127.0.0.1:1", "--request-timeout", "soon"}, exitUsage},
			{"no server", nowhere, map[bool]int{false: exitFailure, true: exitNotCompared}[comparing]},
		} {
			t.Run(command+" "+tc.outcome, func(t *testing.T) {
				var stdout, stderr bytes.Buffer
				if code := execute(t.Context(), append(append([]string{command}, args...), tc.args...), &stdout, &stderr); code != tc.want {
					t.Errorf("exit code %d, want %d; stderr %s", code, tc.want, &stderr)
				}
			})
		}
	}
}
