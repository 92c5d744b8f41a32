// SPDX-License-Identifier: Apache-2.0

// Package leftfinalizers reports objects with finalizers of systems that are off: nothing removes these, so that the objects cannot be deleted.
//
// An admin finds the systems in the log of the leader, and a user finds in an event of an object that is being deleted what it waits for and who
// can help. The hub needs no more than to list the metadata of these objects; without that right, or the definitions, it reports nothing.
package leftfinalizers
