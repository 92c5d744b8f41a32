// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"fmt"
	"io/fs"
	"path"
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

// qualifiedNames are the names of the pages whose numbers stand on other pages too. Test names cite their rules with the name of the page in
// front.
var qualifiedNames = []string{"affinity-class", "federated-selector", "cluster-request", "ecosystem"}

// qualifiedPage returns the page in docs/spec of a qualified name.
func qualifiedPage(name string) string { return path.Join(path.Dir(specPages), name+".md") }

// isQualified reports whether test names cite the rules of a page with its name in front.
func isQualified(page string) bool {
	return slices.ContainsFunc(qualifiedNames, func(name string) bool { return qualifiedPage(name) == page })
}

// ruleStart matches the beginning of a line that states a rule: a heading ("### 1.4b Title", "### 2.1.4 Title"), or a number in bold
// ("**A5.** Text", "**C2a.** Text", "**Law 4. Title**").
var ruleStart = regexp.MustCompile(`^(?:#+ (\d(?:\.\d+)+[a-z]?) |\*\*([A-Z]{0,2}\d+(?:\.\d+)?[a-z]?)\.\*\*|\*\*Law (\d+)\. )`)

// rules has the numbers of the rules of each page.
type rules map[string][]string

// readRules reads the rules of all pages. A number that two pages use is a finding, because test names cite a rule by its number alone;
// the rules of the qualified pages are exempt.
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
			found[page] = append(found[page], rule)
			if isQualified(page) {
				continue
			}

			if other, taken := pageOf[rule]; taken {
				findings = append(findings, fmt.Sprintf("%s: %s stands in %s already", page, rule, other))
			}
			pageOf[rule] = page
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

// has reports whether any page but the qualified ones has a rule.
func (r rules) has(rule string) bool {
	for page, stated := range r {
		if !isQualified(page) && slices.Contains(stated, rule) {
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
		qualifiedPage(qualifiedNames[0]): "1.2 2.1.4 A1 A3", qualifiedPage(qualifiedNames[1]): "3.1.2 A1 F2",
	} {
		if got := strings.Join(found[page], " "); got != want {
			t.Errorf("rules of %s = %q, want %q", page, got, want)
		}
	}
}
