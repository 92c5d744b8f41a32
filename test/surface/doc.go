// SPDX-License-Identifier: Apache-2.0

// Package surface freezes what users can rely on: commands and flags, JSON and YAML keys, condition types and reasons, Events, annotation and
// label keys, metrics with the values of their labels, trace spans, environment variables, HTTP paths, controllers and manifests. Each file
// in testdata lists one kind of surface, sorted, one entry a line; a test compares it with the program.
//
// Nothing is listed by hand where the program can be asked: flags come from the cobra tree, metrics from the Prometheus registry, keys from
// the Go types, and strings from a type-checked load of every package that is not a test. Program.Values follows a string from where
// it is used (the label of a metric, the Reason of a condition) back to the constants that it can be. A new constant that reaches such a
// place is found under whatever name; moving or renaming Go code changes no golden file. A "*" marks a value that is known only at run time.
//
// The tests of commands and JSON keys are in cmd/placement, because only package main sees them; their golden files are here.
package surface
