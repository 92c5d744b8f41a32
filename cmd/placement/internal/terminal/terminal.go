// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Colored reports whether the output is a terminal that may have colours.
func Colored(stdout io.Writer) bool {
	file, isFile := stdout.(*os.File)
	_, refused := os.LookupEnv("NO_COLOR")
	return isFile && !refused && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

// Width returns the number of columns of a terminal; 0 if the output is none.
func Width(stdout io.Writer) int {
	file, isFile := stdout.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil { // A terminal without a size wraps the lines by itself.
		return 0
	}
	return width
}
