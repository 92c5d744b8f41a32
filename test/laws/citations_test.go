// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// A rule is cited by its number: "A5", "PT1", "1.4b", "2.1.4", "39" or "law 4". Several are separated by commas, "and" or "to".
const (
	oneRule  = `(?:[A-Z]{1,2}\d+[a-z]?|\d+(?:\.\d+)+[a-z]?|\d+|law \d+)`
	ruleList = oneRule + `(?:(?:, | and | to )` + oneRule + `)*`
)

var (
	rulePattern = regexp.MustCompile(oneRule)
	// citation matches a page with rules, and the numbers that follow it.
	citation = regexp.MustCompile(`(docs/(?:spec/[\w-]+|architecture)\.md) (` + ruleList + `)\b`)
	// testName matches a string that begins with the rules that a test checks, with the name of a qualified page before its rules.
	testName = regexp.MustCompile(`^(?:(` + strings.Join(qualifiedNames, "|") + `) )?(` + ruleList + `): `)
	// bareRules matches rules in a comment that are cited without their page.
	bareRules = regexp.MustCompile(`\(((?:[A-Z]\d+[a-z]?(?:, )?)+)\)`)
	// document matches the name or the URL of a Markdown file.
	document = regexp.MustCompile(`[\w./:%-]*\w\.md\b`)
	// link matches a link of a Markdown page to another one.
	link = regexp.MustCompile(`\]\(([^)#:]+\.md)[)#]`)
	// linked matches a link of one page with rules to another one, and the numbers that follow it.
	linked = regexp.MustCompile(`\]\(([\w-]+\.md)\) (` + ruleList + `)\b`)
)

func TestCitationsLeadSomewhere(t *testing.T) {
	expectLaw(t, checkCitations(t, os.DirFS(root(t))))
}

// checkCitations finds citations of rules and pages that are not in the tree, in comments, test names, other strings, and pages.
func checkCitations(t *testing.T, repository fs.FS) []string {
	t.Helper()
	known, findings := readRules(t, repository)
	walk(t, repository, func(file string, entry fs.DirEntry) {
		if entry.IsDir() {
			return
		}
		switch extension := path.Ext(file); {
		case extension == ".go":
			findings = append(findings, checkGoCitations(t, repository, file, known)...)
		case extension == ".md":
			findings = append(findings, checkPage(t, repository, file, known)...)
		case extension == ".yaml", extension == ".yml", extension == ".sh", file == "Makefile", file == "Dockerfile":
			findings = append(findings, checkComment(repository, file, hashComments(readFile(t, repository, file)), known)...)
		}
	})

	slices.Sort(findings)
	return slices.Compact(findings)
}

func checkGoCitations(t *testing.T, repository fs.FS, file string, known rules) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, readFile(t, repository, file), parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var findings []string
	for _, comment := range parsed.Comments {
		findings = append(findings, checkComment(repository, file, oneLine(comment.Text()), known)...)
	}

	ast.Inspect(parsed, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING || within(file, "test/laws") {
			return true // The strings of this package are violations, by way of example.
		}
		text, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatalf("%s: %s: %v", file, literal.Value, err)
		}
		findings = append(findings, checkRules(file, text, known)...)

		if match := testName.FindStringSubmatch(text); match != nil && strings.HasSuffix(file, "_test.go") {
			stated := known.has
			if match[1] != "" {
				stated = func(rule string) bool { return slices.Contains(known[qualifiedPage(match[1])], rule) }
			}
			findings = append(findings, checkStated(file, "a test name", match[2], stated)...)
		}
		return true
	})

	return findings
}

// checkComment checks the rules and documents that a comment cites.
func checkComment(repository fs.FS, file, text string, known rules) []string {
	findings := checkRules(file, text, known)
	for _, cited := range document.FindAllString(text, -1) {
		if !strings.Contains(cited, "://") && !exists(repository, cited) && !exists(repository, path.Join(path.Dir(file), cited)) {
			findings = append(findings, fmt.Sprintf("%s: a comment cites %s, which is not in the tree", file, cited))
		}
	}

	for _, match := range bareRules.FindAllStringSubmatch(text, -1) {
		if first := rulePattern.FindString(match[1]); known.has(first) {
			findings = append(findings, fmt.Sprintf("%s: a comment cites (%s) without the page; write docs/spec/... %[2]s", file, match[1]))
		}
	}
	return findings
}

// checkPage checks the rules that a page cites, and its links to other pages.
func checkPage(t *testing.T, repository fs.FS, file string, known rules) []string {
	t.Helper()
	text := readFile(t, repository, file)
	findings := checkRules(file, oneLine(text), known)
	for _, match := range link.FindAllStringSubmatch(text, -1) {
		if !exists(repository, path.Join(path.Dir(file), match[1])) {
			findings = append(findings, fmt.Sprintf("%s: links to %s, which is not in the tree", file, match[1]))
		}
	}

	if !within(file, path.Dir(specPages)) {
		return findings
	}
	for _, match := range linked.FindAllStringSubmatch(oneLine(text), -1) {
		page := path.Join(path.Dir(file), match[1])
		findings = append(findings, checkStated(file, page, match[2], func(rule string) bool { return slices.Contains(known[page], rule) })...)
	}
	return findings
}

// checkRules checks the rules that a text cites with their page.
func checkRules(file, text string, known rules) []string {
	var findings []string
	for _, match := range citation.FindAllStringSubmatch(text, -1) {
		findings = append(findings, checkStated(file, match[1], match[2], func(rule string) bool {
			return slices.Contains(known[match[1]], rule)
		})...)
	}
	return findings
}

func checkStated(file, where, cited string, stated func(rule string) bool) []string {
	var findings []string
	for _, rule := range rulePattern.FindAllString(cited, -1) {
		if !stated(rule) {
			findings = append(findings, fmt.Sprintf("%s: %s has the rule %s, which does not stand in docs/", file, where, rule))
		}
	}
	return findings
}

// hashComments returns the text of the lines that begin with a #.
func hashComments(text string) string {
	var comments []string
	for line := range strings.Lines(text) {
		if comment, ok := strings.CutPrefix(strings.TrimSpace(line), "#"); ok {
			comments = append(comments, comment)
		}
	}
	return oneLine(strings.Join(comments, "\n"))
}

// oneLine joins lines, because a citation may continue on the next one.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func exists(repository fs.FS, file string) bool {
	_, err := fs.Stat(repository, file)
	return err == nil
}

// citedRepository returns a repository with a few rules and the given files.
func citedRepository(files map[string]string) fstest.MapFS {
	repository := fstest.MapFS{
		"docs/spec/a.md": {Data: []byte("# A\n\n### 1.2 Title\n\n### 1.4b Title\n\n**A1.** Text A2.\n\n**A2.** Text.\n\n**39.** Case.\n")},
		"docs/spec/b.md": {Data: []byte("**B1.** As [a](a.md) 1.2 says.\n")},

		qualifiedPage(qualifiedNames[0]): {Data: []byte("### 1.2 Title\n\n### 2.1.4 Title\n\n**A1.** Text.\n\n**A3.** Text.\n")},
		qualifiedPage(qualifiedNames[1]): {Data: []byte("### 3.1.2 Title\n\n**A1.** Text.\n\n**F2.** Text.\n")},

		lawPage: {Data: []byte("## Laws\n\n**Law 4. No change, no request.** Text.\n")},
	}
	for name, content := range files {
		repository[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return repository
}

func TestCitationCheckerFindsDeadEnds(t *testing.T) {
	cases := []struct {
		reason string
		file   string
		source string
		want   []string
	}{
		{
			reason: "rules that stand in the page, in a comment that goes on in the next line, and URLs",
			file:   "pkg/clusterinfo/a.go",
			source: "package a\n\n// One (docs/spec/a.md\n// 1.2, 1.4b and A1), docs/architecture.md law 4: https://x.io/y.md, docs/spec/a.md.\n" +
				"var one = \"docs/spec/b.md B1; A9: no test name\" // RFC (X9)\n",
		},
		{
			reason: "test names with rules that there are, and strings that only look so",
			file:   "pkg/clusterinfo/a_test.go",
			source: "package a\n\nvar names = []string{\"A1, B1: it\", \"law 4: it\", \"39: it\", \"1.2 to 1.4b: it\", \"E5 it\", \"http: x\"}\n",
		},
		{
			reason: "a rule of another page, one that nobody wrote, and a page that is not there",
			file:   "pkg/clusterinfo/a.go",
			source: "package a\n\n// One: docs/spec/a.md B1, docs/spec/b.md B1 and B2,\n" +
				"// docs/spec/c.md C1, docs/architecture.md law 9.\nvar one int\n",
			want: []string{
				"pkg/clusterinfo/a.go: docs/spec/a.md has the rule B1, which does not stand in docs/",
				"pkg/clusterinfo/a.go: docs/spec/b.md has the rule B2, which does not stand in docs/",
				"pkg/clusterinfo/a.go: docs/spec/c.md has the rule C1, which does not stand in docs/",
				"pkg/clusterinfo/a.go: a comment cites docs/spec/c.md, which is not in the tree",
				"pkg/clusterinfo/a.go: docs/architecture.md has the rule law 9, which does not stand in docs/",
			},
		},
		{
			reason: "a document outside of the tree, and a rule without its page",
			file:   "pkg/clusterinfo/a.go",
			source: "package a\n\n// One is as notes.md says (A1, A2).\nvar one int\n",
			want: []string{
				"pkg/clusterinfo/a.go: a comment cites notes.md, which is not in the tree",
				"pkg/clusterinfo/a.go: a comment cites (A1, A2) without the page; write docs/spec/... A1, A2",
			},
		},
		{
			reason: "test names with rules that there are not",
			file:   "pkg/clusterinfo/a_test.go",
			source: "package a\n\nvar names = []string{\"A1, A7: it\", \"law 5: it\", \"40: it\", \"1.3: it\"}\n",
			want: []string{
				"pkg/clusterinfo/a_test.go: a test name has the rule A7, which does not stand in docs/",
				"pkg/clusterinfo/a_test.go: a test name has the rule law 5, which does not stand in docs/",
				"pkg/clusterinfo/a_test.go: a test name has the rule 40, which does not stand in docs/",
				"pkg/clusterinfo/a_test.go: a test name has the rule 1.3, which does not stand in docs/",
			},
		},
		{
			reason: "test names with rules of the qualified pages, which may stand on other pages too",
			file:   "pkg/clusterinfo/a_test.go",
			source: "package a\n\nvar names = []string{\"affinity-class A1, 2.1.4: it\", \"affinity-class A3: it\", " +
				"\"A3: it\", \"affinity-class A2: it\", \"federated-selector F2, 3.1.2: it\", \"federated-selector F9: it\"}\n",
			want: []string{
				"pkg/clusterinfo/a_test.go: a test name has the rule A3, which does not stand in docs/",
				"pkg/clusterinfo/a_test.go: a test name has the rule A2, which does not stand in docs/",
				"pkg/clusterinfo/a_test.go: a test name has the rule F9, which does not stand in docs/",
			},
		},
		{
			reason: "comments of other files",
			file:   "deploy/a.yaml",
			source: "# As docs/spec/a.md\n# A3 and ours.md say.\na: notes.md\n",
			want: []string{
				"deploy/a.yaml: docs/spec/a.md has the rule A3, which does not stand in docs/",
				"deploy/a.yaml: a comment cites ours.md, which is not in the tree",
			},
		},
		{
			reason: "links of pages, and a number that two pages use",
			file:   "docs/spec/z.md",
			source: "**A1.** See [a](a.md#x), [away](../away.md), [b](b.md)\nB1 and B2.\n",
			want: []string{
				"docs/spec/z.md: docs/spec/b.md has the rule B2, which does not stand in docs/",
				"docs/spec/z.md: links to ../away.md, which is not in the tree",
				"docs/spec/z.md: A1 stands in docs/spec/a.md already",
			},
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			expectFindings(t, checkCitations(t, citedRepository(map[string]string{c.file: c.source})), c.want)
		})
	}
}
