// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"unicode"

	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
)

// suites is the root of a JUnit file, in the form that CI systems read.
type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Suites   []*suite `xml:"testsuite"`
}

// suite has the cases of a file.
type suite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	File    string    `xml:"file,attr"`
	Line    int       `xml:"line,attr"`
	Failure *junitWhy `xml:"failure"`
	Error   *junitWhy `xml:"error"`
	Skipped *junitWhy `xml:"skipped"`
	Output  string    `xml:"system-out,omitempty"`
}

type junitWhy struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func printJUnit(text *bytes.Buffer, results *evaluate.Results) error {
	root := suites{Tests: results.Summary.Cases, Failures: results.Summary.Failed, Errors: results.Summary.Errors}
	byFile := map[string]*suite{}
	for i := range results.Cases {
		each := &results.Cases[i]
		in := byFile[each.File]
		if in == nil {
			in = &suite{Name: printable(each.File)}
			byFile[each.File], root.Suites = in, append(root.Suites, in)
		}
		in.add(each)
	}
	text.WriteString(xml.Header)
	encoder := xml.NewEncoder(text)
	encoder.Indent("", "  ")
	if err := encoder.Encode(root); err != nil {
		return fmt.Errorf("encoding the results as JUnit XML: %w", err)
	}
	text.WriteByte('\n')
	return nil
}

func (s *suite) add(each *evaluate.Result) {
	entry := junitCase{
		Class: s.Name, Name: printable(each.Name), File: s.Name, Line: each.Line, Output: printable(strings.TrimSpace(evaluated(each))),
	}
	why := &junitWhy{Message: printable(each.Error), Text: printable(strings.Join(details(each), "\n"))}
	if each.Failure != nil {
		why.Message = printable(each.Failure.Object + ": " + each.Failure.Message)
	}
	s.Tests++
	switch each.Status {
	case evaluate.Failed:
		entry.Failure = why
		s.Failures++
	case evaluate.Errored:
		entry.Error = why
		s.Errors++
	case evaluate.Interrupted:
		entry.Skipped = &junitWhy{Message: "interrupted"}
		s.Skipped++
	case evaluate.Passed:
	}
	s.Cases = append(s.Cases, entry)
}

// printable returns a text without what XML cannot have.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
}
