// SPDX-License-Identifier: Apache-2.0

// Package objects reads and writes single objects of the hub in the ways that every controller needs.
//
//   - Patch, PatchStatus, AddFinalizer and RemoveFinalizer send what differs between two states of an object as a merge patch. The API server
//     refuses it with a conflict if the object has changed since it was read, so that no change of others is lost or comes back. Nothing is sent
//     when nothing differs. ApplyStatus applies the fields of the status that a controller owns.
//   - Reader reads an object from the informer cache, and from the API server if it is not there. Confirmed, LiveMetadata, LiveObject and
//     Definition read from the API server only.
//   - MetadataCache is a cache of the metadata of objects, and Metadata an object of which caches and clients transfer the metadata only.
//   - Each calls a function with every object of a list, of which it reads one page after the other and keeps none.
//   - On and Handler make event handlers of functions that take typed objects, also for deletions whose event was missed.
package objects
