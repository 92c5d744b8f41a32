// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
)

const (
	// maxProbes bounds how often parts of an object are decoded. Beyond it the maps and lists that fail are omitted as a whole, from
	// minBoundedDepth on: spec and status, which have few fields, are at depth 1, and their fields at 2.
	maxProbes       = 500
	minBoundedDepth = 2
	// maxTextBytes bounds the bytes of a value and of a problem in a mark, and maxDescribed the number of fields whose value and problem a
	// mark has.
	maxTextBytes = 200
	maxDescribed = 16
)

// sieve omits the undecodable parts of a JSON document.
type sieve struct {
	// probe decodes a document and returns an error if it cannot.
	probe   func(document []byte) error
	dropped unreadable.Fields
	// probes is the number of documents that were probed.
	probes int
}

// try probes a document.
func (s *sieve) try(document []byte) error {
	s.probes++
	return s.probe(document)
}

// place is the position of a value in a document.
type place struct {
	path  string
	depth int
	// before and after are the JSON text around the value in a document that has only this value.
	before, after string
}

// around returns a document that has only the value.
func (p place) around(value []byte) []byte {
	document := make([]byte, 0, len(p.before)+len(value)+len(p.after))
	return append(append(append(document, p.before...), value...), p.after...)
}

// field returns the place of a field of the object at p.
func (p place) field(name string, quoted []byte) place {
	return place{
		path: child(p.path, name), depth: p.depth + 1, before: p.before + "{" + string(quoted) + ":", after: "}" + p.after,
	}
}

// item returns the place of an item of the list at p.
func (p place) item(index int) place {
	return place{path: fmt.Sprintf("%s[%d]", p.path, index), depth: p.depth + 1, before: p.before + "[", after: "]" + p.after}
}

// part is a field of an object or an item of a list.
type part struct {
	at place
	// name is that of a field, in quotes; nil for an item.
	name  []byte
	value []byte
	// kept reports that the value, or what is left of it, can be decoded.
	kept bool
}

// sift returns the decodable part of a value, and false if there is none. A value that fails is divided, and the failing ones of its parts
// are searched by bisection; this finds them because the decoding of a field depends on that field alone.
func (s *sieve) sift(at place, value []byte) (readable []byte, kept bool) {
	problem := s.try(at.around(value))
	if problem == nil {
		return value, true
	}
	return s.reduce(at, value, problem)
}

// reduce is sift for a value that fails with a problem.
func (s *sieve) reduce(at place, value []byte, problem error) (readable []byte, kept bool) {
	before := len(s.dropped)
	readable, divided := s.divide(at, value)
	if divided && len(s.dropped) > before && (at.path == "" || s.try(at.around(readable)) == nil) {
		return readable, true // The caller decodes what is left of the whole object.
	}
	s.dropped = append(s.dropped[:before], unreadable.Field{Path: at.path, Value: cut(string(value)), Problem: cut(problem.Error())})
	return nil, false
}

// divide sifts the parts of an object or a list and joins the remaining ones; false for a value without parts, or with too many bad ones.
func (s *sieve) divide(at place, value []byte) (readable []byte, divided bool) {
	if s.exhausted(at) {
		return nil, false
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err == nil && fields != nil {
		return s.divideObject(at, fields)
	}

	var items []json.RawMessage
	if err := json.Unmarshal(value, &items); err == nil && items != nil {
		return s.divideList(at, items)
	}
	return nil, false
}

func (s *sieve) divideObject(at place, fields map[string]json.RawMessage) (readable []byte, divided bool) {
	parts := make([]part, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, false
		}
		parts = append(parts, part{at: at.field(name, quoted), name: quoted, value: fields[name]})
	}

	if !s.search(at, parts, true) {
		return nil, false
	}
	return joined(parts, true), true
}

func (s *sieve) divideList(at place, items []json.RawMessage) (readable []byte, divided bool) {
	parts := make([]part, len(items))
	for i, item := range items {
		parts[i] = part{at: at.item(i), value: item}
	}
	if !s.search(at, parts, true) {
		return nil, false
	}
	return joined(parts, false), true
}

// search sifts the parts of the value at a place, of which failing says that one is known to fail. It returns false when too many documents
// were probed.
func (s *sieve) search(at place, parts []part, failing bool) bool {
	if s.exhausted(at) {
		return false
	}
	if len(parts) == 0 {
		return true
	}
	if len(parts) == 1 {
		parts[0].value, parts[0].kept = s.sift(parts[0].at, parts[0].value)
		return true
	}

	if !failing && s.try(at.around(joined(keptAll(parts), parts[0].name != nil))) == nil {
		return true
	}
	half := len(parts) / 2
	dropped := len(s.dropped)
	if !s.search(at, parts[:half], false) {
		return false
	}

	// Where nothing failed in one half, something fails in the other one.
	return s.search(at, parts[half:], len(s.dropped) == dropped)
}

// keptAll marks parts as kept.
func keptAll(parts []part) []part {
	for i := range parts {
		parts[i].kept = true
	}
	return parts
}

// joined returns the object or list of the parts that are kept.
func joined(parts []part, object bool) []byte {
	brackets := "[]"
	if object {
		brackets = "{}"
	}
	text := []byte{brackets[0]}

	for i := range parts {
		if !parts[i].kept {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		if object {
			text = append(append(text, parts[i].name...), ':')
		}
		text = append(text, parts[i].value...)
	}

	return append(text, brackets[1])
}

// exhausted reports whether the values at a place are not divided any more.
func (s *sieve) exhausted(at place) bool { return at.depth >= minBoundedDepth && s.probes >= maxProbes }

// marked returns the dropped fields for the mark.
func (s *sieve) marked() unreadable.Fields {
	for i := maxDescribed; i < len(s.dropped); i++ {
		s.dropped[i].Value, s.dropped[i].Problem = "", ""
	}
	return s.dropped
}

// identifier matches the names that a path has without brackets.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// child returns the path of a field of the object at path.
func child(path, name string) string {
	switch {
	case !identifier.MatchString(name):
		return path + "[" + name + "]"
	case path == "":
		return name
	default:
		return path + "." + name
	}
}

func cut(text string) string {
	if len(text) <= maxTextBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxTextBytes-len("...")], "") + "..."
}
