// SPDX-License-Identifier: Apache-2.0

// Package cases reads documents of kind PlacementTest: what users expect of the decisions of a hub (docs/spec/placement-test.md).
//
// A Case names objects, a situation (Spec.When) and what holds in it (Spec.Expect). Read takes the Cases out of a file, and leaves the rest of
// the file, with its line numbers, to the reader of the objects of a hub. It is strict: unknown fields, wrong types and rules that a Case breaks
// are Problems with file, line and column. The JSON schema, by which fields and types are checked, is made from the Go types, so that there
// is one definition of the format.
//
// The package never opens a file and never reads a clock.
package cases
