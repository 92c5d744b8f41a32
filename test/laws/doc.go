// SPDX-License-Identifier: Apache-2.0

// Package laws has the tests of the source of this repository, as opposed to its behaviour.
//
//   - No pure package reaches a client, and nothing that ships reaches a test, over any number of imports (imports_test.go).
//   - Packages are described, and no name is a catch-all (shape_test.go).
//   - Words that have been replaced do not return, in names, comments, texts of tests, pages and YAML files (words_test.go).
//   - docs/architecture.md shows the directories of the repository, and its flowchart shows packages (tree_test.go).
//   - What leaves the surface of the last release stands in CHANGELOG.md as an action that is required (released_test.go).
//   - Property tests have a budget and a seed that is printed (properties_test.go).
//   - Cited rules and pages exist in the tree (citations_test.go, rules_test.go).
//   - docs/README.md links to every page of docs, and README.md to docs/README.md (index_test.go).
//   - docs/security.md and docs/access.md have every right and every verb of the manifests (security_test.go, verbs_test.go).
//   - Webhook configurations do not mix failure policies, and webhooks reach no controller (failurepolicies_test.go).
//   - A system is its packages, manifests, sample, page and one line (addingasystem_test.go, with the one in testdata).
//   - Each alert and condition type has a runbook, with a section for each reason (runbooks_test.go).
//   - The tree has no large file and no built binary (weight_test.go).
//
// What a linter can check is in .golangci.yml: direct imports (depguard), clocks and sleeps (forbidigo), the length of files (revive).
//
// Each law is a checker that takes its input as an argument and returns its findings, one per line. One test runs it on the repository and
// expects no finding; another runs it on a small violation of every clause and expects exactly that finding, so that a checker which finds
// nothing fails.
//
// To change a law, first write down the reason where docs/architecture.md states the law, then change its checker here.
package laws
