// Package laws keeps the laws of this repository: tests over the source itself, not over what it does.
//
//   - Imports flow one way, from facts to cmd (order_test.go).
//   - The core is pure: no client, no logger, no clock, no randomness, no files, no network (purity_test.go).
//   - Files are short, packages are described, and every thing has a name (shape_test.go).
//   - Nobody sleeps on a real clock (waiting_test.go).
//   - The tree that README.md shows is the tree that is there (readme_test.go).
//   - Rules and pages that are cited are in the tree (citations_test.go, rules_test.go).
//   - No large file and no built binary is in the tree (weight_test.go).
//
// Each law is a checker that takes its input as an argument and returns what breaks the law, one finding a line. One
// test runs it over the repository and expects nothing; another runs it over a small violation of every clause and
// expects exactly that finding, so no checker can go blind unnoticed.
//
// A law is changed by writing down why where the law is written, in docs/architecture.md, and then changing its checker
// here.
package laws
