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
	// mostDropped bounds the fields of one map or list that are left out one by one: beyond that the map or list is left out as a whole. The cost
	// of an object is then bounded however many of its fields somebody has spoilt.
	mostDropped = 1000
	// boundFrom is the depth from which mostDropped counts: spec and status, which have few fields, are at depth 1, what they hold at 2.
	boundFrom = 2
	// longestText bounds the bytes of a value and of a problem that a mark keeps, and mostTold the fields of which it keeps them.
	longestText = 200
	mostTold    = 16
)

// sieve leaves out of a JSON document what cannot be decoded.
type sieve struct {
	// probe decodes a document and fails when it cannot be decoded.
	probe   func(document []byte) error
	dropped unreadable.Fields
}

// place is where a value stands in a document.
type place struct {
	path  string
	depth int
	// before and after are the JSON that makes a document of nothing but the value.
	before, after string
}

// around is the document of nothing but the value.
func (p place) around(value []byte) []byte {
	document := make([]byte, 0, len(p.before)+len(value)+len(p.after))

	return append(append(append(document, p.before...), value...), p.after...)
}

// field is the place of a field of the object at p.
func (p place) field(name string, quoted []byte) place {
	return place{
		path: child(p.path, name), depth: p.depth + 1, before: p.before + "{" + string(quoted) + ":", after: "}" + p.after,
	}
}

// item is the place of an item of the list at p.
func (p place) item(index int) place {
	return place{path: fmt.Sprintf("%s[%d]", p.path, index), depth: p.depth + 1, before: p.before + "[", after: "]" + p.after}
}

// sift returns what can be decoded of a value, and false when nothing of it can. A value that fails is divided: each part is probed on its
// own, which tells the parts that fail because decoding a field depends on that field alone.
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

// divide sifts the parts of an object or a list and puts together what is left; false for a value that has no parts, or too many bad ones.
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
	return at.depth >= boundFrom && len(s.dropped)-before > mostDropped
}

// told are the dropped fields as a mark keeps them.
func (s *sieve) told() unreadable.Fields {
	for i := mostTold; i < len(s.dropped); i++ {
		s.dropped[i].Value, s.dropped[i].Problem = "", ""
	}

	return s.dropped
}

// identifier is what a path names without brackets.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// child is the path of a field of the object at path.
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
	if len(text) <= longestText {
		return text
	}

	return strings.ToValidUTF8(text[:longestText-len("...")], "") + "..."
}
