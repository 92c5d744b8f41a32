// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// The exit codes of all commands.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// The exit codes of comparisons, diff and simulate --exit-code, are those of kubectl diff; 0 is no difference.
const (
	exitDiffers     = 1
	exitNotCompared = 2
)

// exitCode describes an exit code, of a comparison in other words, and what is printed with it.
type exitCode struct {
	code             int
	means, comparing string
	stdout, stderr   string
}

// exitCodes are all exit codes.
var exitCodes = []exitCode{
	{
		exitOK, "everything was done and read, whatever the result says", "no difference",
		"the result", "warnings, and what was left out of files or not evaluated",
	},
	{
		exitFailure, "a failure: an object that does not exist, a right that is missing, a hub that does not respond; what could be read is printed",
		"a difference", "what could be read, in the order of the arguments", "`Error:` with all that failed; nothing of a difference",
	},
	{
		exitUsage, "a mistake in the command line or in a file that it names, or a file that does not exist",
		"a mistake in the command line or in a file, or any failure", "nothing; of a comparison that failed, what could be compared",
		"`Error:` with all mistakes of the files, by file and line",
	},
}

// describeExitCodes returns the exit codes for the help.
func describeExitCodes() string {
	var text strings.Builder
	text.WriteString("Exit codes:\n")
	for _, exit := range exitCodes {
		fmt.Fprintf(&text, "  %d  %s\n", exit.code, exit.means)
	}
	text.WriteString("Exit codes of diff, and of simulate with --exit-code:\n")
	for _, exit := range exitCodes {
		fmt.Fprintf(&text, "  %d  %s\n", exit.code, exit.comparing)
	}
	return strings.TrimSuffix(text.String(), "\n")
}
