// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	yamlv2 "go.yaml.in/yaml/v2"
	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"
	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// document is a YAML document of a file.
type document struct {
	file string
	// line is the line of the file, from 1, at which text begins.
	line int
	text []byte

	// nodes is the root node. It is nil until the first call that needs a line.
	nodes *yamlv3.Node
}

// splitDocuments splits a file at its "---" and "..." lines, which YAML allows nowhere inside a document. The rest of a "---" line belongs
// to the next document. The YAMLReader of k8s.io/apimachinery rejects both "..." and such a rest.
func splitDocuments(file string, content []byte) []*document {
	var documents []*document
	current := &document{file: file, line: 1}
	number := 0
	for line := range bytes.Lines(content) {
		number++
		rest, separates := cutSeparator(line)
		if !separates {
			current.text = append(current.text, line...)
			continue
		}
		documents = append(documents, current)
		current = &document{file: file, line: number, text: rest}
	}

	return append(documents, current)
}

func cutSeparator(line []byte) (rest []byte, separates bool) {
	for _, marker := range [][]byte{[]byte("---"), []byte("...")} {
		rest, found := bytes.CutPrefix(line, marker)
		if found && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n")) {
			return bytes.Clone(rest), true
		}
	}
	return nil, false
}

// parse returns the JSON value that kubectl would send, with YAML 1.1 rules for words such as "on"; nil for an empty document.
func (d *document) parse() (value any, problems []Problem) {
	isJSON := stdjson.Valid(d.text)
	if value, ok := d.parseOnce(isJSON); ok {
		return value, nil
	}
	converted := d.text
	if !isJSON {
		var err error
		if converted, err = yaml.YAMLToJSON(d.text); err != nil {
			return nil, []Problem{d.syntaxProblem(err)}
		}
	}
	if err := json.Unmarshal(converted, &value); err != nil {
		return nil, []Problem{d.syntaxProblem(err)}
	}
	if value == nil {
		return nil, nil
	}
	root, err := d.root()
	if err != nil {
		return nil, []Problem{d.syntaxProblem(err)}
	}
	if problems := d.duplicateKeys(root, nil); len(problems) > 0 {
		return nil, problems
	}
	return value, nil
}

// parseOnce returns the value of a document that has nothing to report; false if parse has to look closer. It makes no nodes and no other JSON,
// which take most of the time of parse.
func (d *document) parseOnce(isJSON bool) (value any, ok bool) {
	if isJSON {
		strict, err := strictjson.UnmarshalStrict(d.text, &value, strictjson.DisallowDuplicateFields)
		return value, err == nil && len(strict) == 0
	}
	var items yamlv2.MapSlice // It loses mappings that are merged.
	if bytes.Contains(d.text, []byte(mergeKey)) || yamlv2.Unmarshal(d.text, &items) != nil || items == nil {
		return nil, false
	}
	return plain(items)
}

// plain converts what the YAML parser returns; false for what JSON spells otherwise or lacks.
func plain(parsed any) (value any, ok bool) {
	switch parsed := parsed.(type) {
	case yamlv2.MapSlice:
		fields := make(map[string]any, len(parsed))
		for _, item := range parsed {
			key, isText := item.Key.(string)
			if _, again := fields[key]; again || !isText {
				return nil, false
			}
			if fields[key], ok = plain(item.Value); !ok {
				return nil, false
			}
		}
		return fields, true
	case []any:
		for i := range parsed {
			if parsed[i], ok = plain(parsed[i]); !ok {
				return nil, false
			}
		}
		return parsed, true
	case int:
		return int64(parsed), true
	case string:
		return parsed, utf8.ValidString(parsed)
	case int64, bool, nil:
		return parsed, true
	default:
		return nil, false
	}
}

// root returns the root node, which has line numbers.
func (d *document) root() (*yamlv3.Node, error) {
	if d.nodes != nil {
		return d.nodes, nil
	}
	text := d.text
	if stdjson.Valid(text) {
		text = withoutJSONEscapes(text)
	}
	var parsed yamlv3.Node
	if err := yamlv3.Unmarshal(text, &parsed); err != nil {
		return nil, err //nolint:wrapcheck // parse makes a Problem of it.
	}
	d.nodes = parsed.Content[0]
	return d.nodes, nil
}

// escape matches a backslash sequence; a surrogate pair is one match.
var escape = regexp.MustCompile(`\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|.)`)

// withoutJSONEscapes replaces JSON escapes that YAML lacks. The text is used for line numbers only.
func withoutJSONEscapes(text []byte) []byte {
	return escape.ReplaceAllFunc(text, func(found []byte) []byte {
		if len(found) == len(`\/`) && found[1] != '/' {
			return found
		}
		return []byte("/")
	})
}

var lineOfError = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s*)?line (\d+): `)

// syntaxProblem returns the Problem of a parser error, whose line counts from the start of the document.
func (d *document) syntaxProblem(err error) Problem {
	text, line := err.Error(), 1
	if found := lineOfError.FindStringSubmatch(text); found != nil {
		number, convertErr := strconv.Atoi(found[1])
		if convertErr == nil { // A number that is none stays in the text.
			text, line = strings.TrimPrefix(text, found[0]), number
		}
	}
	return Problem{
		File: d.file, Line: d.lineOf(line),
		Message: "not valid YAML: " + strings.TrimPrefix(text, "yaml: ") +
			"; check the indentation, quotes and brackets of this line and those around it",
	}
}

// lineOf converts a line of the document to a line of the file.
func (d *document) lineOf(line int) int { return d.line + line - 1 }

// duplicateKeys reports keys that a mapping has twice; a parser would silently drop the first.
func (d *document) duplicateKeys(node *yamlv3.Node, problems []Problem) []Problem {
	if node.Kind == yamlv3.MappingNode {
		lines := make(map[string]int, len(node.Content)/2)
		for key := range mappingKeys(node) {
			if first, again := lines[key.Value]; again {
				problems = append(problems, Problem{
					File: d.file, Line: d.lineOf(key.Line),
					Message: fmt.Sprintf("key %q was given on line %d already: keep one of the two", key.Value, d.lineOf(first)),
				})
			}
			lines[key.Value] = key.Line
		}
	}

	for _, child := range node.Content {
		problems = d.duplicateKeys(child, problems)
	}
	return problems
}
