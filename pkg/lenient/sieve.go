package lenient

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/unreadable"
)

const (
	// maxDropped bounds the fields of one map or list that are omitted one by one; beyond it the whole map or list is omitted. This bounds
	// the cost of an object with many undecodable fields.
	maxDropped = 1000
	// minBoundedDepth is the depth from which on maxDropped applies: spec and status, which have few fields, are at depth 1, their fields
	// at 2.
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

// sift returns the decodable part of a value, and false if there is none. A value that fails is divided and each part is probed on its own;
// this finds the failing parts because the decoding of a field depends on that field alone.
func (s *sieve) sift(at place, value []byte) (readable []byte, kept bool) {
	problem := s.probe(at.around(value))
	if problem == nil {
		return value, true
	}

	before := len(s.dropped)

	readable, divided := s.divide(at, value)
	if divided && len(s.dropped) > before && s.probe(at.around(readable)) == nil {
		return readable, true
	}

	s.dropped = append(s.dropped[:before], unreadable.Field{Path: at.path, Value: cut(string(value)), Problem: cut(problem.Error())})

	return nil, false
}

// divide sifts the parts of an object or a list and joins the remaining ones; false for a value without parts, or with too many bad ones.
func (s *sieve) divide(at place, value []byte) (readable []byte, divided bool) {
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
	before := len(s.dropped)

	for _, name := range slices.Sorted(maps.Keys(fields)) {
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, false
		}

		part, kept := s.sift(at.field(name, quoted), fields[name])
		if kept {
			fields[name] = part
		} else {
			delete(fields, name)
		}

		if s.exceeded(at, before) {
			return nil, false
		}
	}

	readable, err := json.Marshal(fields)

	return readable, err == nil
}

func (s *sieve) divideList(at place, items []json.RawMessage) (readable []byte, divided bool) {
	before, left := len(s.dropped), make([]json.RawMessage, 0, len(items))

	for i, item := range items {
		if part, kept := s.sift(at.item(i), item); kept {
			left = append(left, part)
		}

		if s.exceeded(at, before) {
			return nil, false
		}
	}

	readable, err := json.Marshal(left)

	return readable, err == nil
}

func (s *sieve) exceeded(at place, before int) bool {
	return at.depth >= minBoundedDepth && len(s.dropped)-before > maxDropped
}

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
