// Package film records every state that the PlacementDecisions of a namespace go through, in the order in which an API server shows them
// to consumers, and says where a rule of safe writing is broken (docs/spec/differences.md B1, B2, B3, B5).
//
// A Film holds the whole state after every single event of one gapless watch. Steps are judged afterwards, from the settled states before
// and after them: which clusters had to be there all the time is known only then. What is wrong is returned as sentences, so that any
// test framework can show it.
package film
