// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/test/expect"
)

// flagsOfOthers are flags of other programs that messages name.
var flagsOfOthers = map[string]bool{"bump-revision": true, "show-managed-fields": true}

var flagInText = regexp.MustCompile(`(?:^|[^-\w])--([a-z][a-z0-9-]*[a-z0-9])`)

// Every flag that a message of a command, or of what it prints, names is a flag of a command.
func TestHintsNameFlagsThatExist(t *testing.T) {
	var (
		started bool
		known   = map[string]bool{}
		visit   func(*cobra.Command)
	)
	visit = func(command *cobra.Command) {
		command.InitDefaultHelpFlag()
		command.Flags().VisitAll(func(flag *pflag.Flag) { known[flag.Name] = true })
		wantOwnFlags(t, command)
		for _, child := range command.Commands() {
			visit(child)
		}
	}
	visit(newRootCommand(&started, func() {}))

	named := 0
	for _, root := range []string{".", "../../pkg/explain"} {
		expect.NoError(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, literal := range stringsOf(t, path) {
				for _, match := range flagInText.FindAllStringSubmatch(literal, -1) {
					named++
					if !known[match[1]] && !flagsOfOthers[match[1]] {
						t.Errorf("%s: %q names --%s, which is a flag of no command", path, literal, match[1])
					}
				}
			}
			return nil
		}))
	}
	if named == 0 {
		t.Error("no message names a flag")
	}
}

// wantOwnFlags wants the examples of a command to name its own flags alone.
func wantOwnFlags(t *testing.T, command *cobra.Command) {
	t.Helper()
	for line := range strings.Lines(command.Example) {
		if !strings.Contains(line, command.CommandPath()+" ") {
			continue
		}
		own, _, _ := strings.Cut(line, " | ") // What follows is another program.
		for _, match := range flagInText.FindAllStringSubmatch(own, -1) {
			if command.Flags().Lookup(match[1]) == nil {
				t.Errorf("%s: the example %q names --%s, which it does not have", command.CommandPath(), line, match[1])
			}
		}
	}
}

// stringsOf returns the string literals of a file.
func stringsOf(t *testing.T, path string) (literals []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	expect.NoError(t, err)
	ast.Inspect(file, func(node ast.Node) bool {
		if literal, is := node.(*ast.BasicLit); is && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			expect.NoError(t, err)
			literals = append(literals, text)
		}
		return true
	})
	return literals
}
