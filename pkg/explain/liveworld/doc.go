// Package liveworld reads an explain.World from a hub.
//
// Read reads what some placements are decided by, and ReadAll what all are. They ask only for what the engine reads, by lists of at most
// 500 objects a request, and never write or watch; a Mirror does the same by watches, for who wants to see every change. The kinds are read
// one after the other, so a hub that changes meanwhile can show one kind as it was a moment before another; the controller sees a hub no
// differently.
//
// An API of placements that the hub does not serve has no decisions. One whose decisions may not be listed is named in World.Uncounted,
// unless placements of that very API are to be evaluated.
//
// Find, Written and WrittenUnsatisfied are for who may not read all that: they tell which placements there are, and what the hub has written
// about them.
//
// An error names what is missing and what to do next, all missing rights at once.
package liveworld
