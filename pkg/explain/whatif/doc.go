// SPDX-License-Identifier: Apache-2.0

// Package whatif applies hypothetical changes of a hub to an explain.State: a Change returns another State. "What if this cluster had that
// label" is an evaluation of the State that Label returns.
//
// A Change copies on write: it does not modify the given State and its objects, and shares the objects that do not differ, so that pointers
// can be compared. It is as strict as a hub: a cluster, set, binding or Placement that does not exist, and a value that the API server
// would refuse, are errors that say what to do. A change without an effect is no error.
//
// Reactions of other controllers are applied where they affect Placements: taints get the time at which they are added, and a cluster that
// is added without a set, or loses the label of its set, is in the set default. The availability of clusters stays as given, and
// no taint unavailable or unreachable is added; State.Controllers says whether one counts. Bindings that follow from RBAC count as bindings.
//
// The package never reads a clock, a file or an API server.
package whatif
