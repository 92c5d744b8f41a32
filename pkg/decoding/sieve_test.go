// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/test/property"
)

// naiveSieve probes every part of a failing value on its own.
type naiveSieve struct {
	probe   func(document []byte) error
	dropped unreadable.Fields
}

func (s *naiveSieve) sift(at place, value []byte) (readable []byte, kept bool) {
	problem := s.probe(at.around(value))
	if problem == nil {
		return value, true
	}
	var (
		before = len(s.dropped)
		fields map[string]json.RawMessage
		items  []json.RawMessage
		left   any
	)

	if json.Unmarshal(value, &fields) == nil && fields != nil {
		left = s.fields(at, fields)
	} else if json.Unmarshal(value, &items) == nil && items != nil {
		left = s.items(at, items)
	}
	if text, err := json.Marshal(left); err == nil && left != nil && len(s.dropped) > before && s.probe(at.around(text)) == nil {
		return text, true
	}
	s.dropped = append(s.dropped[:before], unreadable.Field{Path: at.path, Value: cut(string(value)), Problem: cut(problem.Error())})
	return nil, false
}

func (s *naiveSieve) fields(at place, fields map[string]json.RawMessage) map[string]json.RawMessage {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if part, kept := s.sift(at.field(name, fmt.Appendf(nil, "%q", name)), fields[name]); kept {
			fields[name] = part
		} else {
			delete(fields, name)
		}
	}
	return fields
}

func (s *naiveSieve) items(at place, items []json.RawMessage) []json.RawMessage {
	left := []json.RawMessage{}
	for i, item := range items {
		if part, kept := s.sift(at.item(i), item); kept {
			left = append(left, part)
		}
	}
	return left
}

// probeSpoilt fails for a document that has a text that begins with "spoilt", and names the first one.
func probeSpoilt(document []byte) error {
	if _, after, found := bytes.Cut(document, []byte(`"spoilt`)); found {
		text, _, _ := bytes.Cut(after, []byte(`"`))
		return errors.New("cannot decode " + string(text))
	}
	return nil
}

// drawDocument draws a JSON value with readable and spoilt texts.
func drawDocument(t *rapid.T, depth int) any {
	kinds := []string{"text", "text", "spoilt", "object", "list"}
	if depth == 0 {
		kinds = kinds[:3]
	}

	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "object":
		object := map[string]any{}
		for i := range rapid.IntRange(0, 8).Draw(t, "fields") {
			object[fmt.Sprintf("f%d", i)] = drawDocument(t, depth-1)
		}
		return object
	case "list":
		list := []any{}
		for range rapid.IntRange(0, 8).Draw(t, "items") {
			list = append(list, drawDocument(t, depth-1))
		}
		return list
	case "spoilt":
		return "spoilt " + rapid.StringMatching("[a-c]").Draw(t, "text")
	default:
		return "readable"
	}
}

func TestBisectionIsTheNaiveSieve(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		status := map[string]any{}
		for i := range rapid.IntRange(1, 6).Draw(r, "fields") {
			status[fmt.Sprintf("s%d", i)] = drawDocument(r, 3)
		}
		data := encode(r, map[string]any{"kind": "K", "status": status})

		problem := probeSpoilt(data)
		if problem == nil {
			return
		}
		naive, bisecting := naiveSieve{probe: probeSpoilt}, sieve{probe: probeSpoilt}
		want, wantKept := naive.sift(place{}, data)
		got, gotKept := bisecting.reduce(place{}, data, problem)
		if bisecting.probes >= maxProbes {
			return
		}

		var one, other any
		if wantKept && (json.Unmarshal(want, &one) != nil || json.Unmarshal(got, &other) != nil) {
			r.Fatalf("%s and %s", want, got)
		}
		if diff := cmp.Diff(one, other); diff != "" || wantKept != gotKept {
			r.Fatalf("what can be read of %s (-naive +bisected):\n%s", data, diff)
		}
		if diff := cmp.Diff(naive.dropped, bisecting.dropped); diff != "" {
			r.Fatalf("what cannot be read of %s (-naive +bisected):\n%s", data, diff)
		}
	})
}

func TestProbesOfAnObjectAreBounded(t *testing.T) {
	many := func(spoilt, count int) string {
		fields := make([]string, count)
		for i := range fields {
			fields[i] = fmt.Sprintf(`"r%05d":"readable"`, i)
			if i%(count/spoilt) == 0 {
				fields[i] = fmt.Sprintf(`"r%05d":"spoilt"`, i)
			}
		}
		return "{" + strings.Join(fields, ",") + "}"
	}
	for _, tc := range []struct {
		reason     string
		status     string
		most, drop int
	}{
		{"one of 10,000 fields", `{"capacity":` + many(1, 10_000) + `}`, 40, 1},
		{"two of 10,000 fields", `{"capacity":` + many(2, 10_000) + `}`, 70, 2},
		{"all of 10,000 fields", `{"capacity":` + many(10_000, 10_000) + `,"other":"readable"}`, maxProbes + 10, 1},
		{"all of many maps", `{"a":` + many(5000, 5000) + `,"b":` + many(5000, 5000) + `,"c":{"x":"spoilt"}}`, maxProbes + 10, 3},
	} {
		data := []byte(`{"kind":"K","status":` + tc.status + `}`)
		s := sieve{probe: probeSpoilt}
		if readable, kept := s.reduce(place{}, data, probeSpoilt(data)); !kept || probeSpoilt(readable) != nil {
			t.Errorf("%s: kept is %t, and %.100s is left", tc.reason, kept, readable)
		}
		if s.probes > tc.most || len(s.dropped) != tc.drop {
			t.Errorf("%s: %d probes and %d dropped fields, want at most %d and %d", tc.reason, s.probes, len(s.dropped), tc.most, tc.drop)
		}
	}
}
