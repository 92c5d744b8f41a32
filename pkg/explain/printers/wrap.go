// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// minWidth is the least width into which text is broken: below it, the lines of a terminal are easier to read.
const minWidth = 20

// Wrap breaks a line between words into lines of at most width runes. Further lines are indented by two columns more than the first. A width
// below 20 breaks nothing.
func Wrap(line string, width int) []string {
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	parts := broken(text, width-len(indent)-len(columnGap))
	lines := make([]string, 0, len(parts))
	for i, part := range parts {
		if i > 0 {
			part = columnGap + part
		}
		lines = append(lines, indent+part)
	}
	return lines
}

// broken breaks text between words into parts of at most width runes; a longer word is broken too. A width below minWidth breaks nothing.
func broken(text string, width int) []string {
	if width < minWidth || utf8.RuneCountInString(text) <= width {
		return []string{text}
	}
	var (
		parts []string
		part  []rune
	)

	for word := range strings.FieldsSeq(text) {
		if len(part) > 0 && len(part)+1+utf8.RuneCountInString(word) > width {
			parts, part = append(parts, string(part)), nil
		}
		if len(part) > 0 {
			part = append(part, ' ')
		}

		for chunk := range slices.Chunk([]rune(word), width) {
			if len(part) > 0 && len(part)+len(chunk) > width {
				parts, part = append(parts, string(part)), nil
			}
			part = append(part, chunk...)
		}
	}

	return append(parts, string(part))
}
