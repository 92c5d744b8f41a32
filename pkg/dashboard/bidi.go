// SPDX-License-Identifier: Apache-2.0

package dashboard

import "strings"

// isolate puts the words of a page that are written from right to left into elements bdi, so that they do not swallow the numbers and the punctuation
// behind them. Names and messages of users are in such elements anyway; a sentence of the hub has values in its midst.
func isolate(page string) string {
	if !strings.ContainsFunc(page, isRightToLeft) {
		return page
	}
	var isolated strings.Builder
	isolated.Grow(len(page) + len(page)/16)
	inside := "" // the element whose text stays as it is
	for page != "" {
		begin := strings.IndexByte(page, '<')
		if begin != 0 {
			if begin < 0 {
				begin = len(page)
			}
			if text := page[:begin]; inside == "" {
				isolateText(&isolated, text)
			} else {
				isolated.WriteString(text)
			}
			page = page[begin:]
			continue
		}
		end := strings.IndexByte(page, '>') + 1 // Templates escape it in attributes.
		if end == 0 {
			end = len(page)
		}
		tag := page[:end]
		switch name := tagName(tag); {
		case inside == "" && keepsText[name]:
			inside = name
		case name == "/"+inside:
			inside = ""
		}
		isolated.WriteString(tag)
		page = page[end:]
	}
	return isolated.String()
}

// keepsText are the elements that have no elements in them, and bdi.
var keepsText = map[string]bool{"bdi": true, "title": true, "textarea": true, "option": true, "script": true}

// tagName returns the name in a tag, with a slash before it if the tag ends an element.
func tagName(tag string) string {
	name := strings.TrimLeft(tag, "<")
	if at := strings.IndexAny(name, " \n\t>"); at >= 0 {
		name = name[:at]
	}
	return name
}

// isRightToLeft reports whether a letter is of a block of Unicode whose letters are written from right to left by default.
func isRightToLeft(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r <= 0x8ff, r >= 0xfb1d && r <= 0xfdff, r >= 0xfe70 && r <= 0xfeff, r >= 0x10800 && r <= 0x10fff, r >= 0x1e800 && r <= 0x1efff:
		return true
	default:
		return false
	}
}

// isolateText writes a text with its words that are written from right to left in elements bdi. Such words beside each other are in one.
func isolateText(into *strings.Builder, text string) {
	open := false
	pending := "" // spaces and punctuation behind an open element
	for text != "" {
		spaces := len(text) - len(strings.TrimLeft(text, " \n"))
		gap := text[:spaces]
		text = text[spaces:]
		end := strings.IndexAny(text, " \n")
		if end < 0 {
			end = len(text)
		}
		word := text[:end]
		text = text[end:]
		if !strings.ContainsFunc(word, isRightToLeft) {
			if open {
				into.WriteString("</bdi>")
				open = false
			}
			into.WriteString(pending + gap + word)
			pending = ""
			continue
		}
		before, core, after := unpunctuated(word)
		if open && pending == "" && before == "" {
			into.WriteString(gap)
		} else {
			if open {
				into.WriteString("</bdi>")
			}
			into.WriteString(pending + gap + before + "<bdi>")
		}
		into.WriteString(core)
		open, pending = true, after
	}
	if open {
		into.WriteString("</bdi>")
	}
	into.WriteString(pending)
}

// unpunctuated returns a word without the punctuation around it. A word with an escaped character is one.
func unpunctuated(word string) (before, core, after string) {
	if strings.Contains(word, "&") {
		return "", word, ""
	}
	core = strings.TrimLeft(word, `([{"'`)
	before = word[:len(word)-len(core)]
	trimmed := strings.TrimRight(core, `)]}"',.;:!?`)
	return before, trimmed, core[len(trimmed):]
}
