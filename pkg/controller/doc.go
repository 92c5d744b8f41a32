// Package controller connects the hub to an API server: informers feed the inventory, the inventory says which placements a change
// concerns, and a reconciler for each of them asks the engine and has the answer written. There is no scheduling logic here.
//
// The controllers of this package are placement and placement-v1alpha1: PlacementDecisions and the status of Placements, of the two APIs
// that there are. They are one in fact: they share the informers, the inventory and the queue. The decisions of v1beta1 can be written a
// second time, as references to ClusterProfiles. The others have rooms of their own: sets says who may place where, fleet follows the
// clusters as a whole. All of them work their queues as work says, and Setup wires those that are switched on. Package comparer checks
// the answers while the hub runs, and eventwriter tells users of them when there is nothing better to do. A View shows what is known to those
// who only ask: on a leader, on a standby, or with no controller at all (Observe).
//
// Promises: the initial lists are in the inventory before the first placement is evaluated, also on a standby, which keeps its caches
// warm; a placement is evaluated by one worker at a time; what was just written is seen by the next evaluation even while the cache
// lags behind, so that nothing is written twice; a conflict is retried quietly, any other error is returned, counted and retried; a
// placement that nothing changed for sends no request; many changes at once cost few evaluations of each placement, and delay neither a
// change of a placement itself nor one that comes alone.
package controller
