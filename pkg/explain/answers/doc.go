// SPDX-License-Identifier: Apache-2.0

// Package answers explains the objects of a hub to its users, as placement explain, diff, simulate and federated do: Explainer answers the questions
// of the endpoint of explanations with a text, and those of the dashboard with results.
//
// An Explainer whose Hub is limited shows only what the namespace of a question does (docs/spec/differences.md E1a), and Asked returns the rights
// that permit the answer. It checks no right by itself, and writes nothing.
package answers
