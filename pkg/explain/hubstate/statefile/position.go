// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// mergeKey is the YAML key that merges another mapping.
const mergeKey = "<<"

// position is that of an object in a document. The node is found when a caller needs its line.
type position struct {
	document *document
	// steps lead from the root of the document to the object.
	steps []string
}

// problem returns a Problem at the line of the field path, or of its nearest existing parent.
func (p position) problem(object, path, message string) Problem {
	if path != "" {
		message = path + ": " + message
	}
	return Problem{File: p.document.file, Line: p.line(path), Object: object, Message: message}
}

// place returns the file and the line of the object.
func (p position) place() string { return fmt.Sprintf("%s:%d", p.document.file, p.line("")) }

func (p position) line(path string) int {
	node, err := p.document.root()
	if err != nil { // kubectl takes the document, and the parser that knows lines does not.
		return p.document.line
	}
	for _, each := range p.steps {
		if _, value, _ := step(node, each); value != nil {
			node = value
		}
	}
	return p.document.lineOf(lineOf(node, path))
}

// child returns the position of the value of a key.
func (p position) child(key string) position {
	return position{document: p.document, steps: append(slices.Clip(p.steps), key)}
}

// item returns the position of the i-th element of a list.
func (p position) item(i int) position { return p.child("[" + strconv.Itoa(i) + "]") }

// lineOf returns the line of a field path such as spec.taints[0].key or metadata.labels[example.com/zone], or of its nearest existing
// parent.
func lineOf(node *yamlv3.Node, path string) int {
	line := node.Line
	for path != "" {
		key, value, rest := step(node, path)
		if value == nil {
			break
		}
		line, node, path = key.Line, value, rest
	}
	return line
}

// step resolves the first element of a path. Keys may contain dots, so the longest matching key wins. key is the node of the key; value is
// nil when the node has no such element.
func step(node *yamlv3.Node, path string) (key, value *yamlv3.Node, rest string) {
	node = resolve(node)
	bracketed, after, isBracketed := cutBrackets(path)
	switch node.Kind {
	case yamlv3.SequenceNode:
		i, err := strconv.Atoi(bracketed)
		if !isBracketed || err != nil || i < 0 || i >= len(node.Content) {
			return nil, nil, path
		}
		return node.Content[i], node.Content[i], after
	case yamlv3.MappingNode:
		for candidate, child := range mappingKeys(node) {
			left, fits := cutKey(path, candidate.Value)
			if isBracketed {
				left, fits = after, candidate.Value == bracketed
			}
			if fits && (value == nil || len(left) < len(rest)) {
				key, value, rest = candidate, child, left
			}
		}

		if value == nil {
			return stepMerged(node, path)
		}
	default: // A scalar has no elements.
	}

	return key, value, rest
}

// stepMerged resolves the element in the mappings that this one merges.
func stepMerged(node *yamlv3.Node, path string) (key, value *yamlv3.Node, rest string) {
	for candidate, child := range mappingKeys(node) {
		if candidate.Value != mergeKey {
			continue
		}
		sources := []*yamlv3.Node{child}
		if child := resolve(child); child.Kind == yamlv3.SequenceNode {
			sources = child.Content
		}

		for _, source := range sources {
			if key, value, rest := step(source, path); value != nil {
				return key, value, rest
			}
		}
	}

	return nil, nil, path
}

func resolve(node *yamlv3.Node) *yamlv3.Node {
	if node.Kind == yamlv3.AliasNode {
		return node.Alias
	}
	return node
}

// mappingKeys yields the keys of a mapping with their values.
func mappingKeys(node *yamlv3.Node) iter.Seq2[*yamlv3.Node, *yamlv3.Node] {
	return func(yield func(key, value *yamlv3.Node) bool) {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i], node.Content[i+1]) {
				return
			}
		}
	}
}

// cutBrackets splits "[a]rest".
func cutBrackets(path string) (inside, rest string, found bool) {
	if !strings.HasPrefix(path, "[") {
		return "", path, false
	}
	inside, rest, found = strings.Cut(path[1:], "]")
	return inside, strings.TrimPrefix(rest, "."), found
}

// cutKey removes a key from the front of a path, where it must end at a dot, at a bracket or with the path.
func cutKey(path, key string) (rest string, found bool) {
	rest, found = strings.CutPrefix(path, key)
	switch {
	case !found || rest == "":
		return "", found
	case rest[0] == '.':
		return rest[1:], true
	default:
		return rest, rest[0] == '['
	}
}
