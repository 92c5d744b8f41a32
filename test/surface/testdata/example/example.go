// SPDX-License-Identifier: Apache-2.0

// Package example has strings that reach their use by every way that a surface.Program follows.
package example

import (
	"cmp"
	"os"
	"strconv"
)

type kind string

const (
	kindA kind = "a"
	kindB kind = "b"
)

type record struct{ name, other string }

type stage uint8

var names = [...]string{"first", "second"}

func (s stage) String() string { return names[s] }

// Use is called with what is followed.
func Use(string) {}

func pair() (string, string) { return "pair-0", "pair-1" }

func parameter(name string) { Use(name) }

func loop(left string, again bool) string {
	if again {
		return loop(left, false)
	}

	return left
}

func generic[T any](name string, _ T) { Use(name) }

// All calls Use in every way.
func All(given kind, choose bool) {
	Use("literal")
	parameter("parameter")
	generic("generic", 1)
	generic[int]("instance", 1)

	first, second := pair()
	Use(first)
	Use("sum-" + second)

	r := &record{name: "field"}
	r.other = "assigned"
	Use(r.name)
	Use(r.other)

	for key, value := range map[string]string{"map-key": "map-value"} {
		Use(key)
		Use(value)
	}

	for _, name := range []string{"element"} {
		Use(name)
	}

	for _, name := range append(make([]string, 0, 1), "appended") {
		Use(name)
	}

	Use(stage(1).String())
	Use(string(given))
	Use(strconv.FormatBool(choose))
	Use(cmp.Or(os.Args[0], "default"))
	Use(loop("loop", true))

	func(inner string) { Use(inner) }("not followed")
}

var _ = []kind{kindA, kindB}
