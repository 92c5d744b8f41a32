package laws

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	// specPages are the pages with the rules that code and tests cite, and lawPage is the page with the laws.
	specPages = "docs/spec/*.md"
	lawPage   = "docs/architecture.md"
	// lawPrefix precedes the number of a law in a citation.
	lawPrefix = "law "
)

// ruleStart matches the beginning of a line that states a rule: a heading ("### 1.4b Title"), or a number in bold ("**A5.** Text", "**Law
// 4. Title**").
var ruleStart = regexp.MustCompile(`^(?:#+ (\d\.\d+[a-z]?) |\*\*([A-Z]?\d+(?:\.\d+)?)\.\*\*|\*\*Law (\d+)\. )`)

// rules has the numbers of the rules of each page.
type rules map[string][]string

// readRules reads the rules of all pages. A number that two pages use is a finding, because test names cite a rule by its number alone.
func readRules(t *testing.T, repository fs.FS) (rules, []string) {
	t.Helper()

	pages, err := fs.Glob(repository, specPages)
	if err != nil {
		t.Fatal(err)
	}

	found, pageOf := rules{}, map[string]string{}

	var findings []string

	for _, page := range append(pages, lawPage) {
		for line := range strings.Lines(readFile(t, repository, page)) {
			rule := ruleOf(line)
			if rule == "" {
				continue
			}

			if other, taken := pageOf[rule]; taken {
				findings = append(findings, fmt.Sprintf("%s: %s stands in %s already", page, rule, other))
			}

			pageOf[rule] = page
			found[page] = append(found[page], rule)
		}
	}

	return found, findings
}

// ruleOf returns the number of the rule that a line states; "" if it states none.
func ruleOf(line string) string {
	switch match := ruleStart.FindStringSubmatch(line); {
	case match == nil:
		return ""
	case match[3] != "":
		return lawPrefix + match[3]
	default:
		return match[1] + match[2]
	}
}

// has reports whether any page has a rule.
func (r rules) has(rule string) bool {
	for _, stated := range r {
		if slices.Contains(stated, rule) {
			return true
		}
	}

	return false
}

func TestRulesAreRead(t *testing.T) {
	found, findings := readRules(t, citedRepository(nil))

	expectFindings(t, findings, nil)

	for page, want := range map[string]string{
		"docs/spec/a.md": "1.2 1.4b A1 A2 39", "docs/spec/b.md": "B1", lawPage: "law 4",
	} {
		if got := strings.Join(found[page], " "); got != want {
			t.Errorf("rules of %s = %q, want %q", page, got, want)
		}
	}
}
