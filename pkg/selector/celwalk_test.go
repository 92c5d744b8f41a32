// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"net/url"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

func adapted(value any) ref.Val { return types.DefaultTypeAdapter.NativeToValue(value) }

// The length of the text of a value, and what it costs to find it out: a unit for a value and for an entry of a map, and one for 16 bytes of a text.
func TestTheTextOfAValue(t *testing.T) {
	link, err := url.Parse("https://example.com/a/path?with=query#fragment")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		what         string
		value        ref.Val
		length, cost uint64
	}{
		{"a string", textOf(160), 160, 1 + 10},
		{"bytes", types.Bytes(textOf(160)), 640, 1 + 40},
		{"a double", types.Double(1), 512, 1},
		{"an integer", types.Int(1), 64, 1 + 4},
		{"no optional value", types.OptionalNone, 64, 1},
		{"an optional value", types.OptionalOf(textOf(160)), 160 + 64, 1 + 11},
		{"an empty list", listOf(0), 4, 1},
		{"a list", listOf(10), 4 + 10*(32+4), 1 + 10*3 + 22},
		{"an empty map", adapted(map[string]string{}), 4, 1},
		{"a map", adapted(map[string]string{"key": string(textOf(160)), "other": string(textOf(16))}), 4 + (3 + 4 + 160 + 4) + (5 + 4 + 16 + 4),
			1 + 2 + (1 + 0 + 1 + 10) + (1 + 0 + 1 + 1) + 204/16},
		{"a URL", apiservercel.URL{URL: link}, 64 + 3*uint64(len("example.com/a/pathwith=queryfragment")), 1 + (64+3*36)/16},
		{"no URL", apiservercel.URL{}, 64, 1 + 4},
	} {
		m := newMeter(expressionCost, nil)
		if length := m.text(tc.value, 0); length != tc.length || m.cost != tc.cost || m.bytes != 0 {
			t.Errorf("%s: length %d for %d units and %d bytes, want %d for %d", tc.what, length, m.cost, m.bytes, tc.length, tc.cost)
		}
	}
}

// A comparison costs a unit for each pair of values, and one for 128 bytes of the shorter text.
func TestWhatAComparisonCosts(t *testing.T) {
	entries := func(value string) ref.Val { return adapted(map[string]string{string(textOf(256)): value}) }
	texts := func(texts ...string) ref.Val { return adapted(texts) }
	for _, tc := range []struct {
		what string
		a, b ref.Val
		same ref.Val
		cost uint64
	}{
		{"strings", textOf(256), textOf(1280), types.False, 1 + 2},
		{"a string and a number", textOf(256), types.Int(1), types.False, 1},
		{"bytes", types.Bytes(textOf(256)), types.Bytes(textOf(256)), types.True, 1 + 2},
		{"numbers", types.Int(1), types.Double(1), types.True, 1},
		{"optional values", types.OptionalOf(textOf(256)), types.OptionalOf(textOf(256)), types.True, 1 + 1 + 2},
		{"optional values, one of which is absent", types.OptionalOf(textOf(256)), types.OptionalNone, types.False, 1},
		{"an optional value and another one", types.OptionalOf(textOf(256)), textOf(256), types.False, 1},
		{"lists", texts("a", "b"), texts("a", "b"), types.True, 1 + 2},
		{"lists that differ first", texts("a", "b"), texts("c", "b"), types.False, 1 + 1},
		{"lists of different lengths", texts("a", "b"), texts("a"), types.False, 1},
		{"a list and another value", texts("a"), types.Int(1), types.False, 1},
		{"maps", entries("a"), entries("a"), types.True, 1 + 1 + 2 + 1},
		{"maps with different values", entries("a"), entries("b"), types.False, 1 + 1 + 2 + 1},
		{"maps with different keys", entries("a"), adapted(map[string]string{"b": "a"}), types.False, 1 + 1 + 2},
		{"maps of different sizes", entries("a"), adapted(map[string]string{}), types.False, 1},
		{"a map and another value", entries("a"), types.Int(1), types.False, 1},
	} {
		m := newMeter(expressionCost, nil)
		if same := m.equal(tc.a, tc.b, 0); same != tc.same || m.cost != tc.cost {
			t.Errorf("%s: %v for %d units, want %v for %d", tc.what, same, m.cost, tc.same, tc.cost)
		}
	}

	nested := ref.Val(types.Int(1))
	for range maxDepth + 1 {
		nested = types.NewRefValList(types.DefaultTypeAdapter, []ref.Val{nested})
	}
	for what, walk := range map[string]func(m *meter){
		"the text":     func(m *meter) { m.text(nested, 0) },
		"a comparison": func(m *meter) { m.equal(nested, nested, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of a value that is nested too deeply has no end", what)
				}
			}()
			walk(newMeter(expressionCost, nil))
		}()
	}
}

// A search in a list compares up to the element that it finds, and a concatenation costs its elements.
func TestWhatListsCost(t *testing.T) {
	list, ok := adapted([]string{"a", "b", "c"}).(traits.Lister)
	if !ok {
		t.Fatal("no list")
	}
	for element, cost := range map[string]uint64{"a": 1, "c": 3, "d": 3} {
		m := newMeter(expressionCost, nil)
		if found := m.contains(list, types.String(element)); found != types.Bool(element != "d") || m.cost != cost {
			t.Errorf("%s: %v for %d units, want %d", element, found, m.cost, cost)
		}
	}

	empty, ok := listOf(0).(traits.Lister)
	if !ok {
		t.Fatal("no list")
	}
	for _, tc := range []struct {
		a, b               traits.Lister
		size, bytes, units uint64
	}{
		{list, list, 6, 6 * elementBytes, 6 + 6*elementBytes/64},
		{empty, list, 3, 0, 0},
		{list, empty, 3, 0, 0},
	} {
		m := newMeter(expressionCost, nil)
		both, ok := m.joined(tc.a, tc.b).(traits.Lister)
		if !ok || size(both) != tc.size || m.cost != tc.units || m.bytes != tc.bytes {
			t.Errorf("%d elements for %d units and %d bytes, want %d for %d and %d", size(both), m.cost, m.bytes, tc.size, tc.units, tc.bytes)
		}
		for i := range types.Int(tc.size) {
			if want := list.Get(i % 3); both.Get(i) != want {
				t.Errorf("element %d is %v, want %v", i, both.Get(i), want)
			}
		}
	}

	for key, want := range map[ref.Val][2]uint64{
		textOf(256): {2, 0}, types.Int(1): {0, 0}, types.OptionalNone: {1 + 1, 64},
	} {
		m := newMeter(expressionCost, nil)
		m.key(key)
		if m.cost != want[0] || m.bytes != want[1] {
			t.Errorf("the key %v: %d units and %d bytes, want %v", key.Type(), m.cost, m.bytes, want)
		}
	}
}

// What an expression costs before the calls that depend on their arguments: the part that is always evaluated.
func TestWhatAnExpressionWeighs(t *testing.T) {
	const name = `managedCluster.metadata.name`
	for source, want := range map[string]weight{
		name + ` == "a"`:                                              {cost: 2 + 3},
		`true`:                                                        {},
		name + ` == "a" && ` + name + ` == "b"`:                       {cost: 2 + 5},
		name + ` in ["a", "b"]`:                                       {cost: 2 + 3 + 1},
		`[` + name + `, "b"] == ["a"]`:                                {cost: 2 + (2 + 2 + 3) + 1, bytes: 96 + 2*48},
		`{"a": ` + name + `, "b": "c"} == {}`:                         {cost: 2 + (4 + 2*4 + 3) + 4, bytes: 2*384 + 2*128},
		`["a"].all(x, x == "a")`:                                      {cost: 8 + 1 + 1},
		`managedCluster.metadata.labels.all(x, x == "a")`:             {cost: 8 + 3 + 1},
		`managedCluster.metadata.labels.map(x, x).size() == 3`:        {cost: 2 + 2 + 8 + 3 + 1 + 1},
		`managedCluster.metadata.labels.exists_one(x, x == "region")`: {cost: 8 + 3 + 2 + 1},
	} {
		p, err := compile(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if p.weight != want {
			t.Errorf("%s weighs %d units and %d bytes, want %d and %d", source, p.weight.cost, p.weight.bytes, want.cost, want.bytes)
		}
	}
}

// What an evaluation costs, with what is evaluated for each element, and the way to a variable through nested comprehensions.
func TestWhatAnEvaluationCosts(t *testing.T) {
	for source, want := range map[string]struct {
		cost  uint64
		fails bool
	}{
		`[1, 2].all(x, x == 0)`: {cost: 19},
		`[1, 2].all(x, x > 0)`:  {cost: 28},
		`[1, 2].all(a, [1, 2].all(b, [1, 2].all(c, [1, 2].all(d, d > 0))))`:                   {cost: 482},
		`[1, 2].all(a, [1, 2].all(b, [1, 2].all(c, [1, 2].all(d, a > 0))))`:                   {cost: 482},
		`managedCluster.metadata.labels.map(x, x + x).size() == 2`:                            {cost: 46},
		`managedCluster.metadata.labels[managedCluster.metadata.name] == ""`:                  {cost: 18, fails: true},
		`managedCluster.metadata.labels["x"].matches("^a+$")`:                                 {cost: 9},
		`"b" in managedCluster.metadata.labels && managedCluster.metadata.labels.size() == 1`: {cost: 7},
		`"x" in managedCluster.metadata.labels && managedCluster.metadata.labels.size() == 1`: {cost: 14},
		`managedCluster.scores("none").size() == 0`:                                           {cost: 7, fails: true},
	} {
		p, err := compile(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		evaluation := &EvalContext{Now: now}
		_, err = p.run(labelled("c2", map[string]string{"x": "aaa", "y": "b"}), evaluation)
		if evaluation.Cost() != want.cost || (err != nil) != want.fails {
			t.Errorf("%s costs %d units and ends with the error %v, want %d units and an error: %v",
				source, evaluation.Cost(), err, want.cost, want.fails)
		}
	}
}
