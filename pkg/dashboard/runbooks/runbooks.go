// SPDX-License-Identifier: Apache-2.0

package runbooks

import (
	"html/template"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	source "github.com/placement-hub/placement-hub/docs/runbooks"
)

const (
	// documentation is where links to other pages than runbooks lead.
	documentation = "https://github.com/placement-hub/placement-hub/blob/main/"
	directory     = "docs/"
	// index is the page that lists the others.
	index     = "README"
	extension = ".md"
)

// Path is that of the pages on the dashboard.
const Path = "/runbooks"

// Runbook is a page.
type Runbook struct {
	Title string
	HTML  template.HTML
}

// all renders the runbooks, by name; the index has the name "".
var all = sync.OnceValue(func() map[string]Runbook {
	pages := map[string]Runbook{}
	names, err := fs.Glob(source.Files, "*"+extension)
	if err != nil {
		panic(err) // The pattern is valid.
	}
	for _, file := range names {
		text, err := fs.ReadFile(source.Files, file)
		if err != nil {
			panic(err) // The file is embedded.
		}
		name := strings.TrimSuffix(file, extension)
		if name == index {
			name = ""
		}
		pages[name] = render(string(text))
	}
	return pages
})

// Find returns the runbook of an alert or of a condition type, or the list of all for the empty name.
func Find(name string) (Runbook, bool) {
	found, has := all()[name]
	return found, has
}

// Link returns the page of an alert or of a condition type, at the section of a reason; empty if there is none.
func Link(name, reason string) string {
	if _, has := all()[name]; !has || name == "" {
		return ""
	}
	if reason == "" {
		return Path + "/" + name
	}
	return Path + "/" + name + "#" + reason
}

var (
	itemStart  = regexp.MustCompile(`^\d+\. `)
	blockStart = regexp.MustCompile(`^(#+ |\||\d+\. |- |` + "```" + `)`)
	inline     = regexp.MustCompile("`([^`]+)`" + `|\[((?:[^\]` + "`" + `]|` + "`[^`]+`" + `)+)\]\(([^)]+)\)`)
)

// render renders a page in Markdown.
func render(text string) Runbook {
	var page Runbook
	var html strings.Builder
	for lines := strings.Split(text, "\n"); len(lines) > 0; {
		line := lines[0]
		switch {
		case line == "":
			lines = lines[1:]
		case strings.HasPrefix(line, "# "):
			page.Title, lines = strings.TrimPrefix(line, "# "), lines[1:]
		case strings.HasPrefix(line, "## "):
			title := strings.TrimPrefix(line, "## ")
			html.WriteString(`<h2 id="` + escape(strings.ReplaceAll(title, " ", "-")) + `">` + spans(title) + "</h2>\n")
			lines = lines[1:]
		case strings.HasPrefix(line, "```"):
			lines = writeCode(&html, lines[1:])
		case strings.HasPrefix(line, "|"):
			lines = writeTable(&html, lines)
		case itemStart.MatchString(line):
			lines = writeList(&html, "ol", lines, itemStart)
		case bullet.MatchString(line):
			lines = writeList(&html, "ul", lines, bullet)
		default:
			var paragraph string
			paragraph, lines = joined(lines)
			html.WriteString("<p>" + spans(paragraph) + "</p>\n")
		}
	}
	page.HTML = template.HTML(html.String()) //nolint:gosec // spans and escape have escaped all texts, which are those of this repository.
	return page
}

var bullet = regexp.MustCompile(`^- `)

// joined returns a paragraph, which ends before the next block, in one line.
func joined(lines []string) (paragraph string, rest []string) {
	end := 1
	for end < len(lines) && lines[end] != "" && !blockStart.MatchString(lines[end]) {
		end++
	}
	words := make([]string, 0, end)
	for _, line := range lines[:end] {
		words = append(words, strings.TrimSpace(line))
	}
	return strings.Join(words, " "), lines[end:]
}

// writeCode writes lines up to the end of a block of code.
func writeCode(html *strings.Builder, lines []string) (rest []string) {
	end := 0
	for end < len(lines) && !strings.HasPrefix(lines[end], "```") {
		end++
	}
	html.WriteString(`<pre class="patch" tabindex="0">` + escape(strings.Join(lines[:end], "\n")) + "</pre>\n")
	return lines[min(end+1, len(lines)):]
}

// writeList writes the items of a list, whose lines begin with a mark.
func writeList(html *strings.Builder, element string, lines []string, mark *regexp.Regexp) (rest []string) {
	html.WriteString("<" + element + ">")
	for len(lines) > 0 && mark.MatchString(lines[0]) {
		var item string
		item, lines = joined(lines)
		html.WriteString("<li>" + spans(mark.ReplaceAllString(item, "")) + "</li>\n")
	}
	html.WriteString("</" + element + ">\n")
	return lines
}

// writeTable writes a table, whose second line is a rule.
func writeTable(html *strings.Builder, lines []string) (rest []string) {
	var heads []string
	html.WriteString(`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table class="items stacked"><thead><tr>`)
	for i := 0; len(lines) > 0 && strings.HasPrefix(lines[0], "|"); i++ {
		cells := strings.Split(strings.Trim(lines[0], "| "), " | ")
		lines = lines[1:]
		switch i {
		case 0:
			for _, cell := range cells {
				html.WriteString(`<th scope="col">` + spans(cell) + "</th>")
			}
			heads = cells
			html.WriteString("</tr></thead><tbody>\n")
		case 1:
		default:
			html.WriteString("<tr>")
			for j, cell := range cells {
				label := ""
				if j < len(heads) {
					label = ` data-label="` + escape(heads[j]) + `"`
				}
				html.WriteString("<td" + label + ">" + spans(cell) + "</td>")
			}
			html.WriteString("</tr>\n")
		}
	}
	html.WriteString("</tbody></table></div>\n")
	return lines
}

// spans renders the code and the links of a text.
func spans(text string) string {
	var html strings.Builder
	for text != "" {
		at := inline.FindStringSubmatchIndex(text)
		if at == nil {
			html.WriteString(escape(text))
			break
		}
		html.WriteString(escape(text[:at[0]]))
		if code := at[2]; code >= 0 {
			html.WriteString("<code>" + escape(text[code:at[3]]) + "</code>")
		} else {
			html.WriteString(`<a href="` + escape(target(text[at[6]:at[7]])) + `" rel="noreferrer">` + spans(text[at[4]:at[5]]) + "</a>")
		}
		text = text[at[1]:]
	}
	return html.String()
}

// target returns where a link of a runbook leads on the dashboard.
func target(link string) string {
	page, section, has := strings.Cut(link, "#")
	if has {
		section = "#" + section
	}
	switch {
	case strings.Contains(link, "://"), page == "":
		return link
	case !strings.Contains(page, "/"):
		name := strings.TrimSuffix(page, extension)
		if name == index {
			return Path
		}
		return Path + "/" + name + section
	}
	path := directory + "runbooks/" + page
	for strings.Contains(path, "/../") {
		before, after, _ := strings.Cut(path, "/../")
		path = before[:max(strings.LastIndex(before, "/")+1, 0)] + after
	}
	return documentation + path + section
}

func escape(text string) string { return template.HTMLEscapeString(text) }
