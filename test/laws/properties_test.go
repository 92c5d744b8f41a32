// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"go/ast"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	rapidPackage    = "pgregory.net/rapid"
	propertyPackage = "test/property"
)

// Properties have a budget, a fixed seed and a fresh one.
func TestPropertiesHaveABudget(t *testing.T) {
	expectLaw(t, checkProperties(t, os.DirFS(root(t))))
}

// checkProperties finds uses of rapid.Check and rapid.MakeCheck outside of test/property.
func checkProperties(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var findings []string
	for _, file := range goFiles(t, repository) {
		if within(file, propertyPackage) {
			continue
		}
		if !strings.Contains(readFile(t, repository, file), rapidPackage) {
			continue
		}
		parsed := parseGo(t, repository, file)
		name := nameOf(parsed, rapidPackage)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok && (selector.Sel.Name == "Check" || selector.Sel.Name == "MakeCheck") {
				if x, ok := selector.X.(*ast.Ident); ok && x.Name == name {
					findings = append(findings, file+": rapid."+selector.Sel.Name+" without a budget; call Check of "+propertyPackage)
				}
			}
			return true
		})
	}
	return findings
}

func TestPropertyCheckerFindsCallsOfRapid(t *testing.T) {
	source := &fstest.MapFile{Data: []byte("package a\nimport random \"" + rapidPackage + "\"\n" +
		"func TestA(t *testing.T) { random.Check(t, holds); t.Run(\"b\", random.MakeCheck(holds)); property.Check(t, holds) }\n")}
	repository := fstest.MapFS{"pkg/a/a_test.go": source, "test/property/a.go": source, "vendor/a/a_test.go": source}
	expectFindings(t, checkProperties(t, repository), []string{
		"pkg/a/a_test.go: rapid.Check without a budget; call Check of test/property",
		"pkg/a/a_test.go: rapid.MakeCheck without a budget; call Check of test/property",
	})
}
