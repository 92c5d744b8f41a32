// SPDX-License-Identifier: Apache-2.0

// Package access has the rule of who gets an explanation from the hub (docs/spec/differences.md E1a).
//
// Check is the rule of who may ask: the user has the verbs that the question needs on each object that it is about, and on each kind that the answer
// shows, as the API server decides.
// The hub evaluates with its own rights, so the package of each result has Limit functions, which remove from the result what the namespace of the
// object does not show: clusters out of the scope of the namespace, sets that are not bound to it, objects of other namespaces, and the names of
// nodes. A page that shows explanations uses both as the endpoint does.
//
// The package reads no object and keeps no state. It never names an object in a refusal that the question has not named.
package access
