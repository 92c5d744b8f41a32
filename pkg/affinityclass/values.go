// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The Secret of a Tenant, and its only key.
const (
	ValuesSecret = "cozystack-values"
	ValuesKey    = "values.yaml"
)

// ReasonUnparsableValues is the reason of the condition ValuesWritten when the Secret has content that cannot be edited.
const ReasonUnparsableValues = "UnparsableValues"

// ErrUnparsable says that values are not a YAML mapping, or that _namespace is none, so that they are left alone.
var ErrUnparsable = errors.New("not a YAML mapping")

// The keys that the hub sets in the values.
const (
	namespaceKey = "_namespace"
	defaultKey   = "defaultAffinityClass"
	allowedKey   = "allowedAffinityClasses"
)

// setting is a key below _namespace and the value that it has to have; nil for no such key.
type setting struct {
	key   string
	value any
}

// settingsOf returns the settings in a stable order: docs/spec/affinity-class.md 1.2.
func settingsOf(effective Effective) []setting {
	settings := []setting{{key: defaultKey}, {key: allowedKey}}
	if effective.Default != "" {
		settings[0].value = effective.Default
	}
	if effective.Allowed.Restricted {
		names := make([]any, len(effective.Allowed.Names))
		for i, name := range effective.Allowed.Names {
			names[i] = name
		}
		settings[1].value = names
	}

	return settings
}

// SetValues returns the content of the Secret of a Tenant with its effective settings. Every other key keeps its value, and the text is
// returned as it is when the two keys are right. Lines of other keys stay byte for byte, unless _namespace is written in flow style, which
// makes the whole text be written anew. The error is ErrUnparsable with a reason.
func SetValues(text string, effective Effective) (string, error) {
	values, err := parseValues(text)
	if err != nil {
		return "", err
	}
	namespace := map[string]any{}
	if value, found := values[namespaceKey]; found {
		var isMapping bool
		if namespace, isMapping = value.(map[string]any); !isMapping {
			return "", fmt.Errorf("%s: %w", namespaceKey, ErrUnparsable)
		}
	}
	settings, right := settingsOf(effective), true
	for _, s := range settings {
		value, found := namespace[s.key]
		right = right && found == (s.value != nil) && (!found || reflect.DeepEqual(value, s.value))
	}
	if right {
		return text, nil
	}
	for _, s := range settings {
		delete(namespace, s.key)
		if s.value != nil {
			namespace[s.key] = s.value
		}
	}
	values[namespaceKey] = namespace
	for _, edit := range []func(string, []setting) (string, error){editLines, editNodes} {
		if edited, err := edit(text, settings); err == nil {
			if written, err := parseValues(edited); err == nil && reflect.DeepEqual(written, values) {
				return edited, nil
			}
		}
	}

	return "", fmt.Errorf("the keys cannot be set: %w", ErrUnparsable)
}

// parseValues decodes one YAML document; an empty one is an empty mapping.
func parseValues(text string) (map[string]any, error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var value any
	if err := decoder.Decode(&value); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: %w", ErrUnparsable, err)
	}
	var second any
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one document: %w", ErrUnparsable)
	}
	if value == nil {
		return map[string]any{}, nil
	}
	values, isMapping := value.(map[string]any)
	if !isMapping {
		return nil, ErrUnparsable
	}

	return values, nil
}

// rootOf returns the node of the mapping of a document; nil if the document is empty.
func rootOf(text string) (*yaml.Node, *yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnparsable, err)
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return &document, nil, nil
	}
	return &document, document.Content[0], nil
}

// entry returns the index of a key in the content of a mapping; -1 if it is not there.
func entry(mapping *yaml.Node, key string) int {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i
		}
	}
	return -1
}

var errNotByLine = errors.New("the text cannot be edited by line")

// editLines sets the keys by replacing, removing and inserting whole lines.
func editLines(text string, settings []setting) (string, error) {
	_, root, err := rootOf(text)
	if err != nil {
		return "", err
	}
	if root == nil || entry(root, namespaceKey) < 0 {
		indent := ""
		if root != nil {
			indent = strings.Repeat(" ", root.Content[0].Column-1)
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return text + indent + namespaceKey + ":\n" + rendered(indent+"  ", settings), nil
	}
	at := entry(root, namespaceKey)
	key, namespace := root.Content[at], root.Content[at+1]
	if root.Style&yaml.FlowStyle != 0 || namespace.Kind != yaml.MappingNode || namespace.Style&yaml.FlowStyle != 0 || len(namespace.Content) == 0 {
		return "", errNotByLine
	}
	lines := strings.SplitAfter(text, "\n")
	for _, s := range settings {
		if i := entry(namespace, s.key); i >= 0 {
			for line := namespace.Content[i].Line; line <= lastLine(namespace.Content[i+1]); line++ {
				lines[line-1] = ""
			}
		}
	}
	lines[key.Line-1] += rendered(strings.Repeat(" ", namespace.Content[0].Column-1), settings)

	return strings.Join(lines, ""), nil
}

// lastLine returns the last line that a node begins on, itself or below. A node that ends on a later line, such as a block of text, makes
// the edited text wrong, which SetValues notices.
func lastLine(node *yaml.Node) int {
	last := node.Line
	for _, child := range node.Content {
		last = max(last, lastLine(child))
	}
	return last
}

// rendered returns the lines of the keys that have a value. The values are written as JSON, which is YAML too.
func rendered(indent string, settings []setting) string {
	var lines strings.Builder
	for _, s := range settings {
		if s.value != nil {
			value, err := json.Marshal(s.value)
			if err != nil {
				panic(fmt.Sprintf("encode strings: %v", err)) // Strings can always be encoded.
			}
			fmt.Fprintf(&lines, "%s%s: %s\n", indent, s.key, value)
		}
	}
	return lines.String()
}

// editNodes sets the keys in the tree of nodes and writes all of it anew, with comments and in its order.
func editNodes(text string, settings []setting) (string, error) {
	document, root, err := rootOf(text)
	if err != nil {
		return "", err
	}
	if root == nil {
		return "", errNotByLine
	}
	at := entry(root, namespaceKey)
	if at < 0 {
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: namespaceKey}, &yaml.Node{Kind: yaml.MappingNode})
		at = len(root.Content) - 2
	}
	namespace := root.Content[at+1]
	for _, s := range settings {
		if i := entry(namespace, s.key); i >= 0 {
			namespace.Content = append(namespace.Content[:i], namespace.Content[i+2:]...)
		}
		if s.value == nil {
			continue
		}
		value := &yaml.Node{}
		if err := value.Encode(s.value); err != nil {
			return "", fmt.Errorf("encode %s: %w", s.key, err)
		}
		namespace.Content = append(namespace.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: s.key}, value)
	}
	var written bytes.Buffer
	encoder := yaml.NewEncoder(&written)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		return "", fmt.Errorf("encode: %w", err)
	}

	return written.String(), nil
}
