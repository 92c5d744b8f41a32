// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"fmt"
	"strings"
)

// The exit codes of all commands.
const (
	OK      = 0
	Failure = 1
	Usage   = 2
)

// The exit codes of comparisons, diff and simulate --exit-code, are those of kubectl diff; 0 is no difference.
const (
	Differs     = 1
	NotCompared = 2
)

// Code describes an exit code, of a comparison in other words, and what is printed with it.
type Code struct {
	Code             int
	Means, Comparing string
	Stdout, Stderr   string
}

// Codes are all exit codes.
var Codes = []Code{
	{
		OK, "everything was done and read, whatever the result says", "no difference",
		"the result", "warnings, and what was left out of files or not evaluated",
	},
	{
		Failure, "a failure: an object that does not exist, a right that is missing, a hub that does not respond; what could be read is printed",
		"a difference", "what could be read, in the order of the arguments", "`Error:` with all that failed; nothing of a difference",
	},
	{
		Usage, "a mistake in the command line or in a file that it names, or a file that does not exist",
		"a mistake in the command line or in a file, or any failure", "nothing; of a comparison that failed, what could be compared",
		"`Error:` with all mistakes of the files, by file and line",
	},
}

// Describe returns the exit codes for the help.
func Describe() string {
	var text strings.Builder
	text.WriteString("Exit codes:\n")
	for _, exit := range Codes {
		fmt.Fprintf(&text, "  %d  %s\n", exit.Code, exit.Means)
	}
	text.WriteString("Exit codes of diff, and of simulate with --exit-code:\n")
	for _, exit := range Codes {
		fmt.Fprintf(&text, "  %d  %s\n", exit.Code, exit.Comparing)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// UsageError is an error in the command line or in a file that it names, found after the flags were parsed.
type UsageError struct{ err error }

func (e *UsageError) Error() string { return e.err.Error() }
func (e *UsageError) Unwrap() error { return e.err }

// Mistake returns an error in the command line, or in a file that it names, found after the flags were parsed. Of no error it returns none.
func Mistake(err error) error {
	if err == nil {
		return nil
	}
	return &UsageError{err: err}
}

// Error ends the process with a code. Without an error there is nothing to report.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// InFiles returns an error about files of the command line, which has the exit code of mistakes in the command line itself.
func InFiles(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: Usage, Err: err}
}
