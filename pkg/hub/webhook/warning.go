// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"strings"
	"unicode/utf8"
)

// MaxWarningBytes is the length from which an API server may cut a warning:
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response
const MaxWarningBytes = 256

// Warning cuts a warning that is too long between two characters, and removes control characters, with which the API server would drop it.
func Warning(text string) string {
	const mark = "..."
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == '\u007f' {
			return ' '
		}
		return r
	}, text)
	if len(text) <= MaxWarningBytes {
		return text
	}

	end := MaxWarningBytes - len(mark)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
