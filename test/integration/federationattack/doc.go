// SPDX-License-Identifier: Apache-2.0

// Package federationattack runs the delivery of federated objects on a real API server while a small random world changes, requests and watches
// fail, and hubs are killed. The steps come in batches, from one settled state to the next. Of every batch it is demanded that
//
//   - the settled works are those that federation.Evaluate, from the objects of the API server alone, has nothing to do about,
//   - no work is deleted whose cluster keeps the object in every state of the world that the batch went through
//     (docs/spec/federated-selector.md F35, docs/architecture.md laws 5 and 6),
//   - no cluster ever has two works of one object, and a settled hub writes nothing.
//
// The second demand is not made of objects that follow a Placement, whose decisions the hub changes in its own time.
//
// ATTACK_DURATION says for how long batches are begun, and ATTACK_SEED repeats a run: steps and faults are the same, their timing nearly so.
package federationattack
