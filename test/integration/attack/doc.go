// SPDX-License-Identifier: Apache-2.0

// Package attack runs the hub, two replicas of it, against a real API server and attacks it: a random world changes step by step while
// random faults strike the connections, the clock, the leader, the API server and etcd. Every intermediate state of the decisions is judged.
//
// The tests change the world one request after the other, so every true state of the world is known. Steps come in batches, from one quiet
// state to the next. Of every batch and placement it is demanded that
//
//   - a cluster that the reference selects in every true state of the batch is in the decisions at every moment of it
//     (docs/spec/differences.md B1, B10),
//   - test/history finds no broken rule in any state,
//   - once the faults have ended, decisions and status are what the reference makes of the objects that the API server holds,
//   - a hub that has settled writes nothing, and its two engines have never disagreed.
//
// The first demand is not made of placements whose result depends on the decisions of others, or on the order in which clusters came.
//
// ATTACK_DURATION says for how long batches are begun, and ATTACK_SEED repeats a run: steps and faults are the same, their timing nearly so.
package attack
