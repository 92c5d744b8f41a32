// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
)

// Case is a Document with its place in a file.
type Case struct {
	Document

	// File is the name of the file, and Line the line in it at which the document begins, from 1.
	File string
	Line int

	node   *yamlv3.Node
	offset int // is added to the lines of nodes.
	// changes are those of spec.when.changed that are no files.
	changes []whatif.Change
}

// Problem is a mistake in a file.
type Problem struct {
	File         string
	Line, Column int
	// Path is the path of the field; empty for the whole document.
	Path, Message string
}

// String is "cases.yaml:12:5: spec.expect.selekted: there is no such field; did you mean selected?".
func (p Problem) String() string {
	text := fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Column)
	if p.Path != "" {
		text += p.Path + ": "
	}
	return text + p.Message
}

// InputError has all mistakes of the files.
type InputError struct{ Problems []Problem }

// Error has a line for each mistake.
func (e *InputError) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0].String()
	}
	lines := []string{fmt.Sprintf("the cases have %d mistakes:", len(e.Problems))}
	for _, problem := range e.Problems {
		lines = append(lines, "  "+problem.String())
	}
	return strings.Join(lines, "\n")
}

// Reader reads Cases from files.
type Reader struct {
	// Cases are those that were read, in the order of files and lines. Each is valid if Err returns nil.
	Cases []*Case

	problems []Problem
	schema   *Schema
	names    map[string]*Case
}

// NewReader returns a Reader.
func NewReader() *Reader { return &Reader{schema: NewSchema(), names: map[string]*Case{}} }

// Err returns an *InputError with all mistakes so far; nil without any.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &InputError{Problems: r.problems}
}

// Read takes the Cases out of a file. It returns the content with empty lines in place of them, so that the lines of the rest keep their
// numbers; objects reports whether there is a rest.
func (r *Reader) Read(file string, content []byte) (rest []byte, objects bool) {
	for _, part := range split(content) {
		if !isCase(part.text) {
			rest = append(rest, part.separator...)
			rest = append(rest, part.text...)
			objects = objects || hasContent(part.text)
			continue
		}
		// A separator is kept, so that the documents around the Case stay two.
		rest = append(append(rest, part.separator...), bytes.Repeat([]byte("\n"), bytes.Count(part.text, []byte("\n")))...)
		if read := r.decode(file, part); read != nil {
			r.Cases = append(r.Cases, read)
		}
	}
	return rest, objects
}

// part is a document of a file, which begins behind a separator.
type part struct {
	separator, text []byte
	line            int // of the text, from 1
}

// split splits a file at the lines that begin with "---".
func split(content []byte) []part {
	parts, number := []part{{line: 1}}, 0
	for line := range bytes.Lines(content) {
		number++
		if after, found := bytes.CutPrefix(line, []byte("---")); found && (len(after) == 0 || bytes.ContainsAny(after[:1], " \t\r\n")) {
			parts = append(parts, part{separator: line[:len("---")], text: bytes.Clone(after), line: number})
			continue
		}
		last := &parts[len(parts)-1]
		last.text = append(last.text, line...)
	}
	return parts
}

// ofCase matches the kind of a document, in YAML and in JSON.
var ofCase = regexp.MustCompile(`(?m)^(\s*[{,]?\s*"?|.*,\s*"?)kind"?\s*:\s*["']?` + Kind + `\b`)

// isCase reports whether a document is a PlacementTest, also one with a mistake.
func isCase(text []byte) bool {
	if !ofCase.Match(text) {
		return false
	}
	var root struct {
		Kind string `yaml:"kind"`
	}
	if err := yamlv3.Unmarshal(text, &root); err != nil && root.Kind == "" {
		return bytes.Contains(text, []byte("\nkind: "+Kind)) || bytes.HasPrefix(text, []byte("kind: "+Kind))
	}
	return root.Kind == Kind
}

// hasContent reports whether a document has more than comments.
func hasContent(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("...")) {
			return true
		}
	}
	return false
}

// decode reads a document; nil if it has mistakes.
func (r *Reader) decode(file string, from part) *Case {
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(from.text, &root); err != nil {
		r.problems = append(r.problems, syntaxProblem(file, from.line, err))
		return nil
	}
	read := &Case{File: file, Line: from.line, node: root.Content[0], offset: from.line - 1}
	read.Line = read.node.Line + read.offset
	v := &validator{at: read.problem}
	v.check(read.node, r.schema, "")
	if len(v.problems) == 0 {
		if err := read.convert(); err != nil {
			v.rejectf(read.node, "", "%v", err)
		}
	}
	if len(v.problems) == 0 {
		r.checkName(v, read)
		read.checkRules(v)
	}
	slices.SortStableFunc(v.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Path, b.Path))
	})
	r.problems = append(r.problems, v.problems...)
	if len(v.problems) > 0 {
		return nil
	}
	return read
}

// convert decodes the node, which is valid by the schema.
func (c *Case) convert() error {
	var plain any
	if err := c.node.Decode(&plain); err != nil {
		return fmt.Errorf("decoding the YAML: %w", err)
	}
	encoded, err := json.Marshal(plain)
	if err != nil {
		return fmt.Errorf("converting the YAML: %w", err)
	}
	if err := json.Unmarshal(encoded, &c.Document); err != nil {
		return fmt.Errorf("decoding the fields: %w", err)
	}
	return nil
}

// checkName rejects a name that another Case has.
func (r *Reader) checkName(v *validator, read *Case) {
	name := read.Metadata.Name
	at := read.find("metadata.name")
	if name == "" {
		v.rejectf(at, "metadata.name", "is empty; name the case")
		return
	}
	if other, again := r.names[name]; again {
		v.rejectf(at, "metadata.name", "%s is the name of the case at %s already; choose another name", name, other.Place())
		return
	}
	r.names[name] = read
}

// Place is "cases.yaml:12".
func (c *Case) Place() string { return c.File + ":" + strconv.Itoa(c.Line) }

// Changes returns an element for each entry of spec.when.changed. An entry that names files has nil.
func (c *Case) Changes() []whatif.Change { return c.changes }

func (c *Case) problem(node *yamlv3.Node, path, message string) Problem {
	return Problem{File: c.File, Line: node.Line + c.offset, Column: node.Column, Path: path, Message: message}
}

// find returns the node of the key of a field such as spec.when.changed[0].label, or of its nearest existing parent.
func (c *Case) find(path string) *yamlv3.Node {
	at, node := c.node, c.node
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		node = resolve(node)
		key, value := lookup(node, step)
		if value == nil {
			break
		}
		at, node = key, value
	}
	return at
}

// lookup returns the key and the value of a field of a mapping, or an item of a list as both.
func lookup(node *yamlv3.Node, step string) (key, value *yamlv3.Node) {
	if number, err := strconv.Atoi(step); err == nil && node.Kind == yamlv3.SequenceNode && number < len(node.Content) {
		return node.Content[number], node.Content[number]
	}
	if node.Kind != yamlv3.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == step {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

var lineOfError = regexp.MustCompile(`line (\d+): `)

// syntaxProblem returns the Problem of an error of the parser, whose line counts from the start of the document.
func syntaxProblem(file string, first int, err error) Problem {
	problem := Problem{File: file, Line: first, Column: 1, Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	if found := lineOfError.FindStringSubmatch(problem.Message); found != nil {
		if line, convertErr := strconv.Atoi(found[1]); convertErr == nil {
			problem.Line, problem.Message = first+line-1, strings.Replace(problem.Message, found[0], "", 1)
		}
	}
	problem.Message = "not valid YAML: " + problem.Message + "; check the indentation, quotes and brackets of this line and those around it"
	return problem
}

// didYouMean returns "; did you mean a or b?", or nothing if no name is similar.
func didYouMean(name string, names []string) string {
	near := whatif.Nearest(name, names)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// LineOf is the line of a field, or of its nearest existing parent.
func (c *Case) LineOf(path string) int { return c.find(path).Line + c.offset }
