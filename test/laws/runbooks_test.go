// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	runbooks   = "docs/runbooks"
	alertRules = "deploy/monitoring/prometheusrule.yaml"
	// conditionWords is kept by test/surface, and has the types and reasons of all conditions that the hub writes.
	conditionWords = "test/surface/testdata/conditions.txt"
	conditionType  = "condition type"
	runbookURL     = "https://github.com/placement-hub/placement-hub/blob/main/" + runbooks + "/"
)

var (
	alertName   = regexp.MustCompile(`(?m)^ *- alert: (\w+)$`)
	alertURL    = regexp.MustCompile(`(?m)^ *runbook_url: (\S+)$`)
	pageHeading = regexp.MustCompile(`(?m)^## (\w+)$`)
)

func TestEveryAlertAndConditionHasARunbook(t *testing.T) {
	expectLaw(t, checkRunbooks(t, os.DirFS(root(t))))
}

// checkRunbooks demands a page for each alert, to which its annotation leads, a page for each condition type, a section for each reason, and
// nothing for what is gone.
func checkRunbooks(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var findings []string
	read := func(name string) string {
		text, err := fs.ReadFile(repository, name)
		if errors.Is(err, fs.ErrNotExist) {
			findings = append(findings, name+": does not exist")
		} else if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}

	wanted, reasons := map[string]string{}, map[string]bool{}
	for line := range strings.Lines(read(conditionWords)) {
		switch kind, word, _ := strings.Cut(strings.TrimSpace(line), " "); kind {
		case "type":
			wanted[word] = conditionType
		case "reason":
			reasons[word] = false
		}
	}

	rules := read(alertRules)
	urls := alertURL.FindAllStringSubmatch(rules, -1)
	for i, found := range alertName.FindAllStringSubmatch(rules, -1) {
		wanted[found[1]] = "alert"
		if want := runbookURL + found[1] + ".md"; i >= len(urls) || urls[i][1] != want {
			findings = append(findings, fmt.Sprintf("%s: the runbook_url of %s is not %s", alertRules, found[1], want))
		}
	}
	index := read(runbooks + "/README.md")

	for name, what := range wanted {
		if _, err := fs.Stat(repository, path.Join(runbooks, name+".md")); err != nil {
			findings = append(findings, fmt.Sprintf("%s: the %s %s has no page", runbooks, what, name))
		}
		if !strings.Contains(index, "("+name+".md)") {
			findings = append(findings, fmt.Sprintf("%s/README.md: no link to the page of the %s %s", runbooks, what, name))
		}
	}

	pages, err := fs.Glob(repository, runbooks+"/*.md")
	if err != nil {
		t.Fatal(err)
	}

	for _, page := range pages {
		name := strings.TrimSuffix(path.Base(page), ".md")
		if name == "README" {
			continue
		}
		if wanted[name] == "" {
			findings = append(findings, page+": there is no such alert or condition type")
		}

		headings := pageHeading.FindAllStringSubmatch(read(page), -1)
		if wanted[name] == conditionType && len(headings) == 0 {
			findings = append(findings, page+": no section for a reason")
		}
		for _, heading := range headings {
			if _, known := reasons[heading[1]]; !known {
				findings = append(findings, fmt.Sprintf("%s: no condition has the reason %s", page, heading[1]))
			}
			reasons[heading[1]] = true
		}
	}

	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		if !reasons[reason] {
			findings = append(findings, fmt.Sprintf("%s: no page has a section for the reason %s", runbooks, reason))
		}
	}
	return findings
}

func TestRunbookCheckerFindsWhatIsMissing(t *testing.T) {
	repository := fstest.MapFS{
		conditionWords: {Data: []byte("read Ready\nreason Fine\nreason Broken\ntype Ready\ntype Bound\ntype Gone\n")},
		alertRules: {Data: []byte("    - alert: HubDown\n        runbook_url: " + runbookURL + "HubDown.md\n" +
			"    - alert: HubSlow\n        runbook_url: " + runbookURL + "Other.md\n")},
		runbooks + "/README.md":  {Data: []byte("[Ready](Ready.md) [Gone](Gone.md) [HubDown](HubDown.md) [HubSlow](HubSlow.md)")},
		runbooks + "/Ready.md":   {Data: []byte("# Ready\n\n## Fine\n\n## Fined\n")},
		runbooks + "/Gone.md":    {Data: []byte("# Gone\n")},
		runbooks + "/HubDown.md": {Data: []byte("# HubDown\n")},
		runbooks + "/HubGone.md": {Data: []byte("# HubGone\n")},
	}
	expectFindings(t, checkRunbooks(t, repository), []string{
		alertRules + ": the runbook_url of HubSlow is not " + runbookURL + "HubSlow.md",
		runbooks + ": the alert HubSlow has no page",
		runbooks + ": the condition type Bound has no page",
		runbooks + "/README.md: no link to the page of the condition type Bound",
		runbooks + "/Gone.md: no section for a reason",
		runbooks + "/HubGone.md: there is no such alert or condition type",
		runbooks + "/Ready.md: no condition has the reason Fined",
		runbooks + ": no page has a section for the reason Broken",
	})
}
