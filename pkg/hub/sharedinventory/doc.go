// SPDX-License-Identifier: Apache-2.0

// Package sharedinventory has the one inventory.Inventory of a hub, which all controllers that ask for clusters share.
//
// A controller calls Handle before the manager starts, with the subscribers that are its own, and Listen when its source starts. The first
// call of Listen registers the event handlers of the inventory's kinds, whichever controller comes first; every call returns after the
// initial lists of these kinds and of the controller's own were handled. Before that, the inventory is incomplete, and a controller
// evaluates nothing: an incomplete inventory would remove clusters.
//
// A Subscriber is what the controllers of placements and of federated objects have in common: the queue of their keys, their own writes that the
// watch has not shown yet, and the Source that runs their event handlers on every replica and fills the queue on the leader.
//
// Beside the inventory, Shared has what belongs to the view of a hub and exists once in a process: the compiler of selectors, the versions
// that the event handlers have processed, the Checker that proves them fresh, and the objects with fields that could not be decoded.
package sharedinventory
