// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

func TestReceiversAbbreviateTheirTypes(t *testing.T) {
	expectLaw(t, checkReceivers(t, os.DirFS(root(t))))
}

// checkReceivers finds receivers that begin with no letter that begins a word of their type, and types of which the methods have several.
func checkReceivers(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var findings []string
	named := map[string]string{} // type -> its first receiver
	for _, file := range goFiles(t, repository) {
		if strings.HasPrefix(path.Base(file), "zz_generated.") {
			continue
		}
		parsed := parseGo(t, repository, file)
		for _, declaration := range parsed.Decls {
			receiver, typeName := receiverOf(declaration)
			if receiver == "" || receiver == "_" {
				continue
			}
			if !beginsWord(receiver, typeName) {
				findings = append(findings, fmt.Sprintf("%s: receiver %s of %s; take an initial of the type, such as %s", file, receiver, typeName,
					strings.ToLower(typeName[:1])))
			}
			key := path.Dir(file) + "." + typeName
			if first, found := named[key]; found && first != receiver {
				findings = append(findings, fmt.Sprintf("%s: receiver %s of %s, which is %s elsewhere", file, receiver, typeName, first))
			}
			named[key] = receiver
		}
	}
	return findings
}

// receiverOf returns the names of the receiver of a method and of its type; empty for other declarations.
func receiverOf(declaration ast.Decl) (receiver, typeName string) {
	method, is := declaration.(*ast.FuncDecl)
	if !is || method.Recv == nil || len(method.Recv.List[0].Names) == 0 {
		return "", ""
	}
	expression := method.Recv.List[0].Type
	for {
		switch of := expression.(type) {
		case *ast.StarExpr:
			expression = of.X
		case *ast.IndexExpr:
			expression = of.X
		case *ast.IndexListExpr:
			expression = of.X
		case *ast.Ident:
			return method.Recv.List[0].Names[0].Name, of.Name
		default:
			return "", ""
		}
	}
}

// beginsWord reports whether a name begins with the letter of a word of a type.
func beginsWord(name, typeName string) bool {
	for i, letter := range typeName {
		if (i == 0 || unicode.IsUpper(letter)) && unicode.ToLower(letter) == rune(name[0]) {
			return true
		}
	}
	return false
}

func TestReceiverCheckerFindsForeignLetters(t *testing.T) {
	source := "package a\ntype podList struct{}\nfunc (l *podList) A() {}\nfunc (p podList) B() {}\nfunc (x podList) C() {}\nfunc (podList) D() {}\n"
	findings := checkReceivers(t, fstest.MapFS{"pkg/a/a.go": {Data: []byte(source)}})
	if len(findings) != 3 {
		t.Errorf("findings %q, want that B and C differ from A and B, and that x is foreign", findings)
	}
}
