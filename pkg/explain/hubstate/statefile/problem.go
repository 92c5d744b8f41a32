// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"fmt"
	"strings"
)

// problemsShown bounds the text of an InputError; later errors mostly follow from the first ones.
const problemsShown = 20

// Problem is an error in a file.
type Problem struct {
	// File is the name that was passed to Reader.Read, and Line the line in it, from 1.
	File string
	Line int
	// Object identifies the object ("Placement team-a/rollout"); empty when it is not known.
	Object string
	// Message has the field path, the rule and what to do.
	Message string
}

// String is "world.yaml:12: Placement team-a/rollout: spec.numberOfClusters: ...".
func (p Problem) String() string {
	if p.Object == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Object, p.Message)
}

// InputError has all errors of the files, in the order of files and lines.
type InputError struct {
	Problems []Problem
}

// Error lists the first twenty problems, one a line, and the number of the others.
func (e *InputError) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0].String()
	}
	lines := []string{fmt.Sprintf("the input has %d mistakes:", len(e.Problems))}

	for i, problem := range e.Problems {
		if i == problemsShown {
			lines = append(lines, fmt.Sprintf("  and %d more; correct these first", len(e.Problems)-problemsShown))
			break
		}
		lines = append(lines, "  "+problem.String())
	}
	return strings.Join(lines, "\n")
}
