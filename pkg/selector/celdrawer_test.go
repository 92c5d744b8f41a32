// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
)

// drawer draws expressions from bytes: literals, nested lists and maps, fields of the cluster, macros with shared values, and calls of every
// function of the environment.
type drawer struct {
	data      []byte
	at        int
	overloads map[string][]overload
	variables []drawnVariable
}

type overload struct {
	function string
	member   bool
	args     []string
}

type drawnVariable struct{ name, kind string }

func newDrawer(data []byte) (*drawer, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	d := &drawer{data: data, overloads: map[string][]overload{}}

	functions := env.Functions()
	for _, name := range sortedKeys(functions) {
		for _, declared := range functions[name].OverloadDecls() {
			args := make([]string, 0, len(declared.ArgTypes()))
			for _, arg := range declared.ArgTypes() {
				args = append(args, kindOf(arg))
			}
			kind := kindOf(declared.ResultType())
			d.overloads[kind] = append(d.overloads[kind], overload{name, declared.IsMemberFunction(), args})
		}
	}

	return d, nil
}

func sortedKeys[V any](of map[string]V) []string {
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func kindOf(of *cel.Type) string {
	if of.Kind() == cel.TypeParamKind {
		return "dyn"
	}
	return of.TypeName()
}

// pick returns a number below n.
func (d *drawer) pick(n int) int {
	if d.at >= len(d.data) {
		return 0
	}
	d.at++
	return int(d.data[d.at-1]) % n
}

func pickOne[T any](d *drawer, of ...T) T { return of[d.pick(len(of))] }

// expression returns an expression of a kind.
func (d *drawer) expression(kind string, depth int) string {
	if kind == "dyn" {
		kind = pickOne(d, "bool", "int", "string", "list", "map", "list", "map", "double", "bytes", "optional_type", "uint", "null_type")
	}
	if depth <= 0 || d.at >= len(d.data) {
		return d.literal(kind, 0)
	}

	switch choice := d.pick(10); {
	case choice < 2:
		return d.literal(kind, depth)
	case choice < 3 && len(d.variables) > 0:
		v := d.variables[d.pick(len(d.variables))]
		if v.kind == kind {
			return v.name
		}
		return d.literal(kind, depth)
	case choice < 5:
		return d.macro(kind, depth)
	case choice < 6:
		return fmt.Sprintf("(%s ? %s : %s)", d.expression("bool", depth-1), d.expression(kind, depth-1), d.expression(kind, depth-1))
	default:
		if calls := d.overloads[kind]; len(calls) > 0 {
			return d.call(calls[d.pick(len(calls))], depth)
		}
		return d.literal(kind, depth)
	}
}

// macro returns a comprehension. It uses its variable more than once, so that values are shared and grow.
func (d *drawer) macro(kind string, depth int) string {
	name := fmt.Sprintf("v%d", len(d.variables))
	inner := pickOne(d, kind, "list", "string", "map")
	source := d.expression(inner, depth-1)

	d.variables = append(d.variables, drawnVariable{name, inner})
	defer func() { d.variables = d.variables[:len(d.variables)-1] }()
	switch kind {
	case "bool":
		return fmt.Sprintf("[%s, %s].%s(%s, %s)", source, d.expression(inner, depth-1), pickOne(d, "all", "exists", "exists_one"), name,
			d.expression("bool", depth-1))
	case "list":
		return pickOne(d,
			fmt.Sprintf("[%s].map(%s, %s)", source, name, d.expression("dyn", depth-1)),
			fmt.Sprintf("[%s, %s].filter(%s, %s)", source, source, name, d.expression("bool", depth-1)),
			fmt.Sprintf("[%s].map(%s, [%s, %s])[0]", source, name, name, name))
	case "optional_type":
		return fmt.Sprintf("optional.of(%s).optMap(%s, %s)", source, name, d.expression("dyn", depth-1))
	case "string":
		return fmt.Sprintf(`[%s].map(%s, "%%s%%s%%s".format([%s, %s, %s]))[0]`, source, name, name, name, name)
	default:
		return fmt.Sprintf("[%s].map(%s, %s)[0]", source, name, d.expression(kind, depth-1))
	}
}

func (d *drawer) call(of overload, depth int) string {
	args := make([]string, 0, len(of.args))
	for _, kind := range of.args {
		args = append(args, d.expression(kind, depth-1))
	}

	if symbol, ok := operators.FindReverse(of.function); ok && symbol != "" {
		if len(args) == 1 {
			return symbol + "(" + args[0] + ")"
		}
		if len(args) == 2 {
			return fmt.Sprintf("(%s %s %s)", args[0], symbol, args[1])
		}
	}

	switch {
	case of.function == operators.Index || of.function == operators.OptIndex:
		return fmt.Sprintf("dyn(%s)[dyn(%s)]", args[0], args[1])
	case strings.ContainsAny(of.function, "_@?"):
		return d.literal("bool", depth)
	case of.member:
		return fmt.Sprintf("(%s).%s(%s)", args[0], of.function, strings.Join(args[1:], ", "))
	default:
		return fmt.Sprintf("%s(%s)", of.function, strings.Join(args, ", "))
	}
}

var literals = map[string][]string{
	"bool":                      {"true", "false", `managedCluster.metadata.name == "c1"`},
	"int":                       {"0", "1", "-1", "100", "managedCluster.metadata.name.size()"},
	"uint":                      {"0u", "1u"},
	"double":                    {"0.5", "1e300"},
	"bytes":                     {`b""`, `b"abc"`},
	"null_type":                 {"null"},
	"type":                      {"int", "list"},
	"google.protobuf.Duration":  {`duration("1h")`},
	"google.protobuf.Timestamp": {`timestamp("2026-01-01T00:00:00Z")`},
	"string": {
		`""`, `"a"`, `"x,y,z"`, `"1.2.3"`, `"10.0.0.0/8"`, `"http://a/b?c=d&e=f"`, `"{\"a\": [1, [2], {}]}"`, `"[a-z]+x*"`, `"(x+)+y"`, `"%s %d"`,
		`"` + strings.Repeat("xy", 500) + `"`, "managedCluster.metadata.name", `managedCluster.metadata.labels["region"]`, `"Europe/Berlin"`,
	},
	"kubernetes.URL": {`url("http://a/b?c=d")`}, "net.IP": {`ip("10.0.0.1")`}, "net.CIDR": {`cidr("10.0.0.0/8")`},
	"kubernetes.Quantity": {`quantity("1Gi")`}, "kubernetes.Semver": {`semver("1.2.3")`}, "kubernetes.NamedFormat": {`format.dns1123Label()`},
}

func (d *drawer) literal(kind string, depth int) string {
	switch kind {
	case "list":
		return pickOne(d, "[]", "[1, 2, 3]", `["a", "b"]`, "managedCluster.status.clusterClaims",
			"["+d.element(depth)+", "+d.element(depth)+"]")
	case "map":
		return pickOne(d, "{}", `{"a": 1}`, "managedCluster.metadata.labels", "managedCluster",
			fmt.Sprintf(`{"a": %s, "b": %s}`, d.element(depth), d.element(depth)),
			fmt.Sprintf(`{dyn(%s): 1}`, d.element(depth)))
	case "optional_type":
		return "optional.of(" + d.element(depth) + ")"
	}

	if known := literals[kind]; len(known) > 0 {
		return known[d.pick(len(known))]
	}
	if calls := d.overloads[kind]; len(calls) > 0 && depth > 0 {
		return d.call(calls[0], depth)
	}
	return "dyn(1)"
}

func (d *drawer) element(depth int) string {
	if depth <= 0 {
		return "dyn(1)"
	}
	return "dyn(" + d.expression("dyn", depth-1) + ")"
}
