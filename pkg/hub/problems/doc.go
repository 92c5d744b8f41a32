// SPDX-License-Identifier: Apache-2.0

// Package problems decides which problems of objects are new, so that a controller sends one Event for each.
//
// A Memory has the last notes about each object. A process that starts has none, and would send the Events of all objects with a problem again
// after each restart and hand-over. The first look at an object therefore reports its problems only if the object, or what decides about it, was
// changed after the last renewal of the lease by the former leader: until then that leader has sent the Events (docs/spec/trust.md T16). Without
// a former leader every problem is new.
package problems
