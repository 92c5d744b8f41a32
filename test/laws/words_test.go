// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// replacedWords are words that the code used in a meaning of its own, and what says the same in the words of Kubernetes. A word with an
// ordinary meaning in this repository is not among them. forbidigo sees only uses of names, so this law reads declarations and comments.
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
}

var word = regexp.MustCompile(`[A-Za-z]+`)

// camelCase matches the words of a name: an acronym, or letters up to the next capital.
var camelCase = regexp.MustCompile(`[A-Z]+(?:[^A-Za-z]|$)|[A-Z]*[a-z]*`)

func TestReplacedWordsDoNotReturn(t *testing.T) {
	expectLaw(t, checkWords(t, os.DirFS(root(t))))
}

// checkWords finds replaced words in the names and comments of Go files, and in the names of files.
func checkWords(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var findings []string
	for _, file := range goFiles(t, repository) {
		if within(file, "test/laws") {
			continue // the list itself
		}
		report := func(where string, words []string) {
			for _, w := range words {
				if instead, replaced := replacedWords[strings.ToLower(w)]; replaced {
					findings = append(findings, fmt.Sprintf("%s: %q in %s: say %s", file, w, where, instead))
				}
			}
		}
		report("the path", word.FindAllString(file, -1))
		source, err := fs.ReadFile(repository, file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if ident, ok := n.(*ast.Ident); ok && !names[ident.Name] {
				names[ident.Name] = true
				report("the name "+ident.Name, append(camelCase.FindAllString(ident.Name, -1), ident.Name))
			}
			return true
		})
		for _, group := range parsed.Comments {
			report("a comment", word.FindAllString(group.Text(), -1))
		}
	}
	slices.Sort(findings)
	return slices.Compact(findings)
}

func TestWordCheckerFindsReplacedWords(t *testing.T) {
	repository := fstest.MapFS{
		"pkg/a/glance.go": {Data: []byte("package a\n\n// f is dear.\nfunc f(keyringOf int, secondLook bool) {}\n")},
		"pkg/a/a.go":      {Data: []byte("package a\n\n// deeds are not the word, a clusterlens neither.\nvar glances, Glancing = 1, \"roster\"\n")},
	}
	expectFindings(t, checkWords(t, repository), []string{
		`pkg/a/glance.go: "glance" in the path: say the planner`,
		`pkg/a/glance.go: "dear" in a comment: say expensive`,
		`pkg/a/glance.go: "keyring" in the name keyringOf: say certificate source`,
		`pkg/a/glance.go: "secondLook" in the name secondLook: say deletion grace`,
	})
}
