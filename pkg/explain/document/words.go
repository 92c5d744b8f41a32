// SPDX-License-Identifier: Apache-2.0

package document

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

const (
	// NoValue is the text of an empty cell.
	NoValue = "-"
	// Anyway marks what comes without a change too.
	Anyway = " (due anyway)"
	// membersShown bounds the names in a line.
	membersShown = 10
)

// The marks of the lines of a difference.
const (
	Gained = "+"
	Lost   = "-"
	Moved  = "~"
	Kept   = "="
	// Held marks clusters that keep what they would lose if it were not held.
	Held = "!"
)

// OneLine replaces line breaks and tabs, which would break the layout of a cell.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Printable replaces characters of user-provided text by others of the same number: those that could drive a terminal by spaces, and those that write
// the text around them in another direction by U+FFFD. Line breaks stay.
func Printable(text string) string {
	if isPrintable(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// isPrintable reports whether a text begins no character that Printable may replace, byte by byte: pages of large fleets are megabytes.
func isPrintable(text string) bool {
	for i := range len(text) {
		switch c := text[i]; c {
		case 0x7f, 0xc2, 0xd8, 0xe2: // the first bytes of U+0080 to U+00BF, U+0600 to U+063F, and U+2000 to U+2FFF
			if c != 0xe2 || i+1 == len(text) || text[i+1] == 0x80 || text[i+1] == 0x81 { // U+2000 to U+207F
				return false
			}
		default:
			if c < ' ' && c != '\n' {
				return false
			}
		}
	}
	return true
}

// OrNone returns a text, or the one of an empty cell.
func OrNone(text string) string { return cmp.Or(text, NoValue) }

// Count returns "1 cluster" or "2 clusters".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Abbreviate returns the first names, and the number of the others.
func Abbreviate(names []string) string {
	if len(names) <= membersShown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(names[:membersShown], ", "), len(names)-membersShown)
}

// YesNo returns "yes" or "no".
func YesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// QualifiedObject returns "team-a/web@deployment.apps".
func QualifiedObject(namespace, name, kind, group string) string {
	text := namespace + "/" + name + "@" + strings.ToLower(kind)
	if group != "" {
		text += "." + group
	}
	return text
}

// Title returns the name of a Placement, with its API in parentheses if that is not empty.
func Title(placement, api string) string {
	if api == "" {
		return placement
	}
	return placement + " (" + api + ")"
}

// QualifiedName returns "team-a/p", and for an API other than v1beta1 "team-a/p@placement.open-cluster-management.io".
func QualifiedName(placement, api string) string {
	if api == "" {
		return placement
	}
	return placement + "@" + api
}
