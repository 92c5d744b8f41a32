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
	"strings"
	"testing"
	"testing/fstest"
)

// replacedWords are words that the code used in a meaning of its own, and what says the same in the words of Kubernetes. A word with an
// ordinary meaning in this repository is not among them. forbidigo sees only uses of names, so this law reads declarations, comments and texts.
var replacedWords = map[string]string{
	"readback":   "assume cache",
	"memento":    "expired entry of the assume cache",
	"glance":     "the planner",
	"glimpse":    "the planner",
	"roster":     "occupancy",
	"losers":     "giving pages",
	"takers":     "gaining pages",
	"tellers":    "dependents",
	"secondlook": "deletion grace",
	"longlook":   "deletion grace",
	"doubts":     "deletion grace",
	"keyring":    "certificate source",
	"inbox":      "buffer",
	"keepout":    "record rejections",
	"stopwatch":  "metrics recorder",
	"unwatched":  "nop recorder",
	"lowering":   "conversion",
	"enrol":      "subscribe",
	"dismiss":    "unsubscribe",
	"oddity":     "non-default result",
	"dear":       "expensive",
	"contest":    "candidates",
	"deed":       "page change",
	"tally":      "recent removals",
	"worldfile":  "statefile",
	"liveworld":  "hubstate",
	"whatifturn": "apply a difference",
	"reel":       "buffer of a history",
	"lens":       "adapter",
	"blindfold":  "stale view",
	"blindfolds": "stale views",
	"blows":      "writes",
	"film":       "history",
	"lowered":    "converted",
	"patience":   "timeout",
	"rival":      "second leader",
	"rivals":     "two leaders",
	"standings":  "placement states",
	"tour":       "walkthrough",
	"wakeups":    "enqueues",

	// Names that packages had before each system was in one place.
	"clusteraccess":     "access of clusterrequest",
	"liveread":          "reader of objects",
	"podconstraints":    "podscheduling",
	"tenantcontrollers": "controllers of affinityclass",
}

var word = regexp.MustCompile(`[A-Za-z]+`)

// camelCase matches the words of a name: an acronym, or letters up to the next capital.
var camelCase = regexp.MustCompile(`[A-Z]+(?:[^A-Za-z]|$)|[A-Z]*[a-z]*`)

func TestReplacedWordsDoNotReturn(t *testing.T) {
	expectLaw(t, checkWords(t, os.DirFS(root(t))))
}

// checkWords finds replaced words where people read them: in the names of files, in the names and comments of Go files, in the strings of
// tests (names of specs and cases, reasons, failures), in pages with their diagrams, and in the comments of YAML files and templates.
func checkWords(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var findings []string
	walk(t, repository, func(file string, entry fs.DirEntry) {
		if entry.IsDir() || within(file, "test/laws") {
			return // the list itself
		}
		read := textReaders[path.Ext(file)]
		if read == nil {
			return
		}
		source, err := fs.ReadFile(repository, file)
		if err != nil {
			t.Fatal(err)
		}
		report := func(where string, words []string) {
			for _, w := range words {
				if instead, replaced := replacedWords[strings.ToLower(w)]; replaced {
					findings = append(findings, fmt.Sprintf("%s: %q in %s: say %s", file, w, where, instead))
				}
			}
		}
		report("the path", word.FindAllString(file, -1))
		if err := read(file, source, report); err != nil {
			t.Fatal(err)
		}
	})
	slices.Sort(findings)
	return slices.Compact(findings)
}

// textReaders hand on what people read in a file, by its extension.
var textReaders = map[string]func(file string, source []byte, report func(where string, words []string)) error{
	".go":   readGo,
	".md":   readPage,
	".tpl":  readYAML,
	".yaml": readYAML,
	".yml":  readYAML,
}

func readGo(file string, source []byte, report func(where string, words []string)) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	isTest := strings.HasSuffix(file, "_test.go")
	names := map[string]bool{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if !names[n.Name] {
				names[n.Name] = true
				report("the name "+n.Name, append(camelCase.FindAllString(n.Name, -1), n.Name))
			}
		case *ast.BasicLit:
			if isTest && n.Kind == token.STRING {
				report("a string of a test", word.FindAllString(n.Value, -1))
			}
		}
		return true
	})
	for _, group := range parsed.Comments {
		report("a comment", word.FindAllString(group.Text(), -1))
	}
	return nil
}

func readPage(_ string, source []byte, report func(where string, words []string)) error {
	report("the page", word.FindAllString(string(source), -1))
	return nil
}

// yamlComment matches what follows a number sign at the start of a line or after a blank, and a comment of a template.
var yamlComment = regexp.MustCompile(`(?m)(?:^|[ \t])#.*$|\{\{-? */\*(?s:.*?)\*/`)

func readYAML(_ string, source []byte, report func(where string, words []string)) error {
	for _, comment := range yamlComment.FindAll(source, -1) {
		report("a comment", word.FindAllString(string(comment), -1))
	}
	return nil
}

func TestWordCheckerFindsReplacedWords(t *testing.T) {
	repository := fstest.MapFS{
		"pkg/a/glance.go":   {Data: []byte("package a\n\n// f is dear.\nfunc f(keyringOf int, secondLook bool) {}\n")},
		"pkg/a/a.go":        {Data: []byte("package a\n\n// deeds are no word, a clusterlens neither.\nvar glances, Glancing = 1, \"roster\"\n")},
		"pkg/a/a_test.go":   {Data: []byte("package a\n\nfunc TestTheRoster() { It(\"shows a \"+\"rival to users\") }\n")},
		"docs/a.md":         {Data: []byte("# A\n\n```mermaid\nflowchart LR\n  a --> lens[\"A\"]\n```\n\n```\ndir/\n├── a/  the oddity of a\n```\n")},
		"deploy/a.yaml":     {Data: []byte("# a tour of\nfilm: lens#film # the dear field\ntext: |\n  patience\n")},
		"deploy/a/help.tpl": {Data: []byte("{{/*\nThe reel of\n*/}}\n{{ .Values.film }}\n{{- /* the blows */ -}}\n")},
		"deploy/film.txt":   {Data: []byte("the film\n")},
	}
	expectFindings(t, checkWords(t, repository), []string{
		`pkg/a/glance.go: "glance" in the path: say the planner`,
		`pkg/a/glance.go: "dear" in a comment: say expensive`,
		`pkg/a/glance.go: "keyring" in the name keyringOf: say certificate source`,
		`pkg/a/glance.go: "secondLook" in the name secondLook: say deletion grace`,
		`pkg/a/a_test.go: "Roster" in the name TestTheRoster: say occupancy`,
		`pkg/a/a_test.go: "rival" in a string of a test: say second leader`,
		`docs/a.md: "lens" in the page: say adapter`,
		`docs/a.md: "oddity" in the page: say non-default result`,
		`deploy/a.yaml: "tour" in a comment: say walkthrough`,
		`deploy/a.yaml: "dear" in a comment: say expensive`,
		`deploy/a/help.tpl: "reel" in a comment: say buffer of a history`,
		`deploy/a/help.tpl: "blows" in a comment: say writes`,
	})
}
