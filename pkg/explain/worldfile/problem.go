package worldfile

import (
	"fmt"
	"strings"
)

// problemsShown bounds the text of an InputError; the mistakes that follow are mostly echoes of the first ones.
const problemsShown = 20

// Problem is one mistake in a file.
type Problem struct {
	// File is the name that was given to Reader.Read, and Line the line in it, from 1.
	File string
	Line int
	// Object names what the mistake is in ("Placement team-a/rollout"); empty when that cannot be told.
	Object string
	// Message says what is wrong and what to do.
	Message string
}

// String is "world.yaml:12: Placement team-a/rollout: spec.numberOfClusters: ...".
func (p Problem) String() string {
	if p.Object == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}

	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Object, p.Message)
}

// InputError is everything that is wrong with the files, in the order of the files and their lines.
type InputError struct {
	Problems []Problem
}

// Error lists the first twenty mistakes, one a line, and counts the rest.
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
