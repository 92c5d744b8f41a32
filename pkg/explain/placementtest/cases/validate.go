// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// tagMerge is the tag of the key that merges other mappings.
const tagMerge = "!!merge"

// validator checks the nodes of a document by a schema.
type validator struct {
	at       func(node *yamlv3.Node, path, message string) Problem
	problems []Problem
}

func (v *validator) rejectf(node *yamlv3.Node, path, format string, arguments ...any) {
	v.problems = append(v.problems, v.at(node, path, fmt.Sprintf(format, arguments...)))
}

// check checks a node. The path is that of the node, empty for the root.
func (v *validator) check(node *yamlv3.Node, schema *Schema, path string) {
	node = resolve(node)
	if found := typeOf(node); found != schema.Type {
		v.rejectf(node, path, "is %s, and has to be %s", described(found, node), article(schema.Type))
		return
	}
	switch schema.Type {
	case typeObject:
		v.checkObject(node, schema, path, map[string]int{})
	case typeArray:
		for i, item := range node.Content {
			v.check(item, schema.Items, path+"["+strconv.Itoa(i)+"]")
		}
	case typeInteger:
		number, err := strconv.ParseInt(node.Value, 0, 64)
		switch {
		case err != nil:
			v.rejectf(node, path, "%s is no whole number that fits in 64 bits", node.Value)
		case schema.Minimum != nil && number < int64(*schema.Minimum):
			v.rejectf(node, path, "is %d, and has to be at least %d", number, *schema.Minimum)
		}
	case typeString:
		if len(schema.Enum) > 0 && !slices.Contains(schema.Enum, node.Value) {
			v.rejectf(node, path, "is %q, and has to be one of %s%s", node.Value, strings.Join(schema.Enum, ", "),
				didYouMean(node.Value, schema.Enum))
		}
	}
}

// checkObject checks the keys of a mapping, and what it merges. known has the lines of the keys so far.
func (v *validator) checkObject(node *yamlv3.Node, schema *Schema, path string, known map[string]int) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Tag == tagMerge {
			v.checkMerged(value, schema, path)
			continue
		}
		below := child(path, key.Value)
		if line, again := known[key.Value]; again {
			v.rejectf(key, below, "was given on line %d already; keep one of the two", line)
			continue
		}
		known[key.Value] = v.at(key, "", "").Line
		switch property := schema.Properties[key.Value]; {
		case property != nil:
			v.check(value, property, below)
		case schema.Additional == false:
			names := slices.Sorted(maps.Keys(schema.Properties))
			v.rejectf(key, below, "there is no such field%s", suggestion(key.Value, names))
		default:
			if values, is := schema.Additional.(*Schema); is {
				v.check(value, values, below)
			}
		}
	}
	for _, name := range schema.Required {
		if _, has := known[name]; !has && !merges(node) {
			v.rejectf(node, child(path, name), "is missing; add it")
		}
	}
}

// checkMerged checks the mapping, or mappings, that another merges.
func (v *validator) checkMerged(node *yamlv3.Node, schema *Schema, path string) {
	node = resolve(node)
	sources := []*yamlv3.Node{node}
	if node.Kind == yamlv3.SequenceNode {
		sources = node.Content
	}
	partial := *schema
	partial.Required = nil
	for _, source := range sources {
		v.check(source, &partial, path)
	}
}

// merges reports whether a mapping merges others, which may have what it lacks.
func merges(node *yamlv3.Node) bool {
	return slices.ContainsFunc(node.Content, func(child *yamlv3.Node) bool { return child.Tag == tagMerge })
}

func resolve(node *yamlv3.Node) *yamlv3.Node {
	if node.Kind == yamlv3.AliasNode {
		return node.Alias
	}
	return node
}

// typeOf returns the type of a node in JSON schemas; empty for null and other types.
func typeOf(node *yamlv3.Node) string {
	switch {
	case node.Kind == yamlv3.MappingNode:
		return typeObject
	case node.Kind == yamlv3.SequenceNode:
		return typeArray
	case node.Tag == "!!str":
		return typeString
	case node.Tag == "!!int":
		return typeInteger
	case node.Tag == "!!bool":
		return typeBoolean
	default:
		return ""
	}
}

// article returns a type for a sentence.
func article(of string) string {
	switch of {
	case typeObject:
		return "an object"
	case typeArray:
		return "a list"
	case typeInteger:
		return "a whole number"
	case typeBoolean:
		return "true or false"
	default:
		return "text"
	}
}

// described returns what a node is for a sentence.
func described(of string, node *yamlv3.Node) string {
	switch {
	case node.Tag == "!!null":
		return "empty"
	case of == "" || of == typeInteger || of == typeBoolean:
		return node.Value
	case of == typeString:
		return fmt.Sprintf("the text %q", node.Value)
	default:
		return article(of)
	}
}

// child returns the path of a field.
func child(path, key string) string {
	switch {
	case strings.ContainsAny(key, "./[]"):
		return path + "[" + key + "]"
	case path == "":
		return key
	default:
		return path + "." + key
	}
}

// suggestion returns the similar names of an unknown one, or else all of them.
func suggestion(name string, names []string) string {
	if near := didYouMean(name, names); near != "" {
		return near
	}
	return "; there are " + strings.Join(names, ", ")
}
