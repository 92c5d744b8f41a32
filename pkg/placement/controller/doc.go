// SPDX-License-Identifier: Apache-2.0

// Package controller has the controllers placement and placement-v1alpha1, which write PlacementDecisions and the status of Placements of the two
// APIs. Informers feed the inventory, the inventory says which placements a change concerns, and a reconciler for each of them asks the
// engine and has the answer written. The two are one controller in fact: they share the informers, the inventory and the queue. The
// decisions of v1beta1 can be written a second time, as references to ClusterProfiles. A View shows what is known to those who only ask: on a
// leader, on a standby, or with no controller at all (Observe).
//
// Promises: the initial lists are in the inventory before the first placement is evaluated, also on a standby, which keeps its caches
// warm; a placement is evaluated by one worker at a time; what was just written is seen by the next evaluation even while the cache
// lags behind, so that nothing is written twice; a conflict is retried quietly, any other error is returned, counted and retried; a
// placement that nothing changed for sends no request; many changes at once cost few evaluations of each placement, and delay neither a
// change of a placement itself nor one that comes alone.
//
// A reconcile runs from reconciler.go through evaluate.go (which clusters, and which of them may leave) and apply.go (the requests) to
// report.go, which sends events. changes.go compares the pages before and after a reconcile, for the events, the history and the metrics. A reconcile
// shares only state.go with the event handlers.
package controller
